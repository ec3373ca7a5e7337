import { isDeepStrictEqual } from 'node:util';
import { parseFields } from '@svc/contract';
import {
  type DeploymentDocument,
  documentSchemas,
  NEW_UPDATES,
  planLimits,
  workloadDefaults,
  workloadMembers,
} from '@svc/contract/fleet';
import { formatYaml } from '@svc/documents';
import { Problem } from '@svc/http';
import { z } from 'zod';
import { presentEnv } from '../deployments/env.ts';
import { type DeploymentRow, deployments } from '../deployments/rows.ts';
import { policyOf } from '../deployments/updates/policy.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { readRows } from '../resources/kind.ts';
import { type StoredSpec, secretVariablesOf, storedSpec, withoutSealed } from '../resources/workloads.ts';
import { portionsOf, type Sized } from './portions.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

interface Selection {
  readonly set?: string | undefined;
  readonly name?: string | undefined;
}

interface Exported {
  readonly text: string;
  readonly left_out: { kind: 'deployment'; name: string; reason: string }[];
}

/** The maximum number of bytes that an export reads. */
const MAX_READ = 40 * 2 ** 20;

/**
 * Documents of what exists, in the order of the names. Their plan is unchanged. @throws 413 for more
 * than a plan can have
 */
export async function exportDocuments(reader: Reader, selection: Selection): Promise<Exported> {
  const ids = await selectedIds(reader, selection);
  const texts: string[] = [];
  const leftOut: Exported['left_out'] = [];
  let size = 0;
  for (const portion of portionsOf(ids)) {
    const rows = new Map((await readRows(reader, deployments, portion)).map((row) => [row.id, row]));
    const details = await readDetails(reader, portion);
    for (const id of portion) {
      const row = rows.get(id);
      const detail = details.get(id);
      if (!row || !detail) continue;
      const document = documentOf(row, detail);
      if (document === undefined) {
        leftOut.push({ kind: 'deployment', name: row.name, reason: 'It has values that a file can no longer set.' });
        continue;
      }
      const text = formatYaml(document);
      size += text.length;
      if (size > planLimits.text) throw tooLarge(`The documents have more than ${planLimits.text} characters.`);
      texts.push(text);
    }
  }
  return { text: texts.join('---\n'), left_out: leftOut };
}

async function selectedIds(reader: Reader, { set, name }: Selection): Promise<Sized[]> {
  const ofSet =
    set === undefined
      ? Prisma.sql`true`
      : Prisma.sql`EXISTS (SELECT FROM set_objects s WHERE s.kind = 'deployment' AND s.object_id = d.id AND s.set_name = ${set})`;
  const ofName = name === undefined ? Prisma.sql`true` : Prisma.sql`d.name = ${name}`;
  const rows = await reader.$queryRaw<Sized[]>`
    SELECT d.id, d.env_bytes + v.spec_bytes AS bytes FROM deployments d
    JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
    WHERE NOT d.deleting AND d.application_id IS NULL AND ${ofSet} AND ${ofName}
    ORDER BY d.name COLLATE "C" LIMIT ${planLimits.documents + 1}`;
  if (rows.length > planLimits.documents) throw tooLarge(`There are more than ${planLimits.documents} documents.`);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  if (bytes > MAX_READ) throw tooLarge(`The deployments have more than ${MAX_READ} bytes of configuration.`);
  return rows;
}

const tooLarge = (reason: string) =>
  new Problem('payload_too_large', `${reason} Select those of a set or with a name.`);

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
