import { isDeepStrictEqual } from 'node:util';
import { type ApplicationSpec, parseFields, partDefaults } from '@svc/contract';
import { type ApplicationDocument, documentSchemas, NEW_UPDATES } from '@svc/contract/fleet';
import { readContent } from '../../applications/before.ts';
import { readPartRows } from '../../applications/parts.ts';
import { type ApplicationRow, applications } from '../../applications/rows.ts';
import { policyOfApplication } from '../../applications/updates/policy.ts';
import type { DeploymentRow } from '../../deployments/rows.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readRows } from '../../resources/kind.ts';

type Transaction = Prisma.TransactionClient;

/** The documents of applications by their ids; undefined for one that no document describes. */
export async function documentsOfApplications(
  transaction: Transaction,
  ids: readonly string[],
): Promise<Map<string, ApplicationDocument | undefined>> {
  const documents = new Map<string, ApplicationDocument | undefined>();
  for (const row of await readRows(transaction, applications, ids))
    documents.set(row.id, await documentOf(transaction, row));
  return documents;
}

async function documentOf(transaction: Transaction, row: ApplicationRow): Promise<ApplicationDocument | undefined> {
  const { spec, replicas } = await readContent(transaction, row.id, row.generation);
  const parts = await readPartRows(transaction, row);
  const volumes = await volumesOf(transaction, parts, spec);
  for (const source of sourcesOf(row, spec)) {
    const document = JSON.parse(JSON.stringify({ ...membersOf(row, { replicas, parts, volumes, source }) }));
    if (parseFields(documentSchemas.application, document).success) return document;
  }
  return undefined;
}

type Source = Record<string, unknown>;

/** How a document can state what an application consists of, the shortest way first. */
const sourcesOf = ({ catalog_slug }: ApplicationRow, spec: ApplicationSpec): Source[] =>
  catalog_slug !== null ? [{ application: catalog_slug }] : [{ spec: described(spec) }, { spec }];

/** The members of a specification that do not have their default. */
const described = ({ inputs, generated, parts }: ApplicationSpec) => ({
  ...(inputs.length > 0 && { inputs: inputs.map(describedInput) }),
  ...(generated.length > 0 && { generated: generated.map((each) => changed(each, { length: 32, format: 'text' })) }),
  parts: parts.map((part) => changed(part, partDefaults)),
});

/** An input without `required`, if it follows from its default. */
const describedInput = (input: ApplicationSpec['inputs'][number]) =>
  changed(input, { label: '', type: 'text', choices: [], required: input.default === null, default: null });

const changed = (given: object, defaults: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([member, value]) => !Object.hasOwn(defaults, member) || !isDeepStrictEqual(value, defaults[member]),
    ),
  );

/** The volumes of mounts: the size of one that was created for the application, otherwise its name. */
async function volumesOf(
  transaction: Transaction,
  parts: readonly DeploymentRow[],
  spec: ApplicationSpec,
): Promise<Record<string, { readonly size: string } | { readonly volume: string }>> {
  const ids = parts.map(({ id }) => id);
  if (ids.length === 0) return {};
  const owned = await transaction.$queryRaw<{ id: string; name: string; is_own: boolean }[]>`
    SELECT DISTINCT o.id, o.name, coalesce(o.deployment_id = ANY (${ids}::uuid[]) AND o.reclaim = 'delete', false) AS is_own
    FROM attachments a JOIN volumes o ON o.id = a.volume_id WHERE a.deployment_id = ANY (${ids}::uuid[])`;
  const byId = new Map(owned.map((volume) => [volume.id, volume]));
  return Object.fromEntries(
    spec.parts.flatMap((part) => {
      const present = parts.find((row) => row.part === part.name)?.volumes ?? {};
      return part.volume_mounts.flatMap(({ name }) => {
        const mounted = Object.hasOwn(present, name) ? present[name] : undefined;
        const volume = mounted && byId.get(mounted.storage_id);
        if (!mounted || !volume) return [];
        return [[`${part.name}/${name}`, volume.is_own ? { size: mounted.size } : { volume: volume.name }] as const];
      });
    }),
  );
}

interface Described {
  readonly replicas: Readonly<Record<string, number>>;
  readonly parts: readonly DeploymentRow[];
  readonly volumes: Readonly<Record<string, object>>;
  readonly source: Source;
}

function membersOf(row: ApplicationRow, { replicas, parts, volumes, source }: Described) {
  const { labels, inputs, overrides, uses, desired_state, on_failure } = row;
  const placed = parts.find(({ target_name }) => target_name !== null);
  const several = Object.entries(replicas).filter(([, count]) => count !== 1);
  const policy = policyOfApplication(row);
  const defaults: Readonly<Record<string, unknown>> = { ...NEW_UPDATES, from: 'manual' };
  const updates = Object.entries(policy).filter(([member, value]) => !isDeepStrictEqual(value, defaults[member]));
  const isEmpty = (given: object) => Object.keys(given).length === 0;
  return {
    kind: 'application' as const,
    name: row.name,
    ...(!isEmpty(labels) && { labels }),
    ...source,
    ...(placed && { target: placed.host_id === null ? { cluster: placed.target_name } : { host: placed.target_name } }),
    ...(!isEmpty(inputs) && { inputs }),
    ...(several.length > 0 && { replicas: Object.fromEntries(several) }),
    ...(!isEmpty(overrides) && { overrides }),
    ...(!isEmpty(uses) && { use: uses }),
    ...(!isEmpty(volumes) && { volumes }),
    ...(desired_state !== 'running' && { desired_state }),
    ...(on_failure !== 'auto' && { on_failure }),
    ...(updates.length > 0 && { updates: Object.fromEntries(updates) }),
  };
}
