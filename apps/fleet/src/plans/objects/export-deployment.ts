import { isDeepStrictEqual } from 'node:util';
import { parseFields } from '@svc/contract';
import {
  type DeploymentDocument,
  documentSchemas,
  NEW_UPDATES,
  workloadDefaults,
  workloadMembers,
} from '@svc/contract/fleet';
import { z } from 'zod';
import { presentEnv } from '../../deployments/env.ts';
import { type DeploymentRow, deployments } from '../../deployments/rows.ts';
import { policyOf } from '../../deployments/updates/policy.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readRows } from '../../resources/kind.ts';
import { type StoredSpec, secretVariablesOf, storedSpec, withoutSealed } from '../../resources/workloads.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The documents of deployments by their ids; undefined for one that no document describes. */
export async function documentsOfDeployments(
  reader: Reader,
  ids: readonly string[],
): Promise<Map<string, DeploymentDocument | undefined>> {
  const rows = await readRows(reader, deployments, ids);
  const details = await readDetails(reader, ids);
  return new Map(
    rows.flatMap((row) => {
      const detail = details.get(row.id);
      return detail ? [[row.id, documentOf(row, detail)] as const] : [];
    }),
  );
}

const detailRow = z.object({
  id: z.string(),
  spec: storedSpec,
  is_changed: z.boolean(),
  latest: z.int(),
  volumes: z.record(z.string(), z.object({ name: z.string(), is_own: z.boolean() })),
});
type Detail = z.output<typeof detailRow>;

/** What a document states beside the row of a deployment: its specification, and the names of its volumes. */
async function readDetails(reader: Reader, ids: readonly string[]): Promise<Map<string, Detail>> {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT d.id, v.spec, v.overrides <> '{}' AS is_changed, w.revision AS latest,
      (SELECT coalesce(jsonb_object_agg(a.mount, jsonb_build_object('name', o.name,
          'is_own', coalesce(o.deployment_id = d.id AND o.reclaim = 'delete', false))), '{}')
       FROM attachments a JOIN volumes o ON o.id = a.volume_id WHERE a.deployment_id = d.id) AS volumes
    FROM deployments d JOIN workloads w ON w.id = d.workload_id
    JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
    WHERE d.id = ANY(${ids}::uuid[])`;
  return new Map(rows.map((row) => detailRow.parse(row)).map((row) => [row.id, row]));
}

/** The document of a deployment; undefined if none is valid. */
function documentOf(row: DeploymentRow, detail: Detail): DeploymentDocument | undefined {
  for (const source of sourcesOf(row, detail)) {
    const document = JSON.parse(JSON.stringify({ ...membersOf(row, detail, source) }));
    if (parseFields(documentSchemas.deployment, document).success) return document;
  }
  return undefined;
}

type Source = Pick<DeploymentDocument, 'template' | 'workload' | 'spec' | 'revision'>;

/** How a document can state what a deployment runs, the best way first. */
function sourcesOf(
  { name, workload_name, template_slug, revision }: DeploymentRow,
  { spec, is_changed, latest }: Detail,
): Source[] {
  const isOwn = workload_name === name;
  const isPlain = !spec.env.some(({ sealed }) => sealed !== undefined);
  const hasSecretText = spec.env.some(
    (variable) => variable.value !== '' && secretVariablesOf(spec).includes(variable.name),
  );
  return [
    ...(isOwn && template_slug !== null && !is_changed ? [{ template: template_slug }] : []),
    ...(isOwn && template_slug === null && isPlain && !hasSecretText ? [{ spec: describedMembers(spec) }] : []),
    { workload: workload_name, ...(revision !== latest && { revision }) },
  ];
}

/** The members of a specification that do not have their default. */
function describedMembers(stored: StoredSpec): NonNullable<DeploymentDocument['spec']> {
  const spec = withoutSealed(stored);
  const changed = workloadMembers.filter((member) => !isDeepStrictEqual(spec[member], workloadDefaults[member]));
  // Object.fromEntries loses which member has which value.
  return Object.fromEntries(changed.map((member) => [member, spec[member]])) as NonNullable<DeploymentDocument['spec']>;
}

function membersOf(row: DeploymentRow, { spec, volumes }: Detail, source: Source) {
  const { labels, replicas, autoscaling, scaled_by, host_ports, desired_state, pull } = row;
  const env = presentEnv(row.env, row.secret_variables);
  const policy = policyOf(row);
  const updates = Object.entries(policy).filter(
    ([member, value]) => !isDeepStrictEqual(value, Object(NEW_UPDATES)[member]),
  );
  const mounts = spec.volume_mounts.flatMap(({ name }) => {
    const [present, volume] = [row.volumes[name], volumes[name]];
    return present && volume ? [[name, volume.is_own ? { size: present.size } : { volume: volume.name }] as const] : [];
  });
  return {
    kind: 'deployment' as const,
    name: row.name,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...source,
    ...(row.target_name !== null && {
      target: row.host_id === null ? { cluster: row.target_name } : { host: row.target_name },
    }),
    ...(replicas !== 1 && { replicas }),
    ...(autoscaling !== null && { autoscaling }),
    ...(scaled_by !== 'fleet' && { scaled_by }),
    ...(Object.keys(host_ports).length > 0 && { host_ports }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(mounts.length > 0 && { volumes: Object.fromEntries(mounts) }),
    ...(desired_state !== 'running' && { desired_state }),
    ...(pull !== 'auto' && { pull }),
    ...(updates.length > 0 && { updates: Object.fromEntries(updates) }),
  };
}
