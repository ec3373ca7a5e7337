import { nearestName } from '@svc/contract';
import type { ObjectDocument, Target } from '@svc/contract/fleet';
import type { Refusal } from '../deployments/refusals.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** The tables of what documents refer to by name. */
const REFERRED = {
  template: Prisma.sql`SELECT slug AS name, id::text AS id FROM catalog_templates`,
  application: Prisma.sql`SELECT slug AS name, id::text AS id FROM catalog_applications`,
  workload: Prisma.sql`SELECT name, id::text AS id FROM workloads`,
  host: Prisma.sql`SELECT name, id::text AS id FROM hosts`,
  cluster: Prisma.sql`SELECT name, id::text AS id FROM clusters`,
  volume: Prisma.sql`SELECT name, id::text AS id FROM volumes`,
} as const;
type Referred = keyof typeof REFERRED;

/** The number of names among which the nearest one is searched. */
const MAX_KNOWN = 2000;

/** The ids of what documents refer to, and for names that do not exist, those that do. */
export interface Names {
  readonly idOf: (kind: Referred, name: string) => string | undefined;
  readonly known: (kind: Referred) => readonly string[];
}

/** Resolves the names to which documents refer. */
export async function readNames(
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  documents: readonly ObjectDocument[],
): Promise<Names> {
  const found = new Map<Referred, Map<string, string>>();
  const known = new Map<Referred, string[]>();
  for (const [kind, names] of referredBy(documents)) {
    const rows = await reader.$queryRaw<{ name: string; id: string }[]>`
      SELECT name, id FROM (${REFERRED[kind]}) r WHERE name = ANY(${[...names]}::text[])`;
    const ids = new Map(rows.map(({ name, id }) => [name, id]));
    found.set(kind, ids);
    if (ids.size === names.size) continue;
    const all = await reader.$queryRaw<{ name: string }[]>`
      SELECT name FROM (${REFERRED[kind]}) r ORDER BY name COLLATE "C" LIMIT ${MAX_KNOWN}`;
    known.set(
      kind,
      all.map(({ name }) => name),
    );
  }
  return {
    idOf: (kind, name) => found.get(kind)?.get(name),
    known: (kind) => known.get(kind) ?? [],
  };
}

function referredBy(documents: readonly ObjectDocument[]): Map<Referred, Set<string>> {
  const wanted = new Map<Referred, Set<string>>();
  for (const { kind, name } of documents.flatMap(referencesIn))
    wanted.set(kind, (wanted.get(kind) ?? new Set()).add(name));
  return wanted;
}

interface Reference {
  readonly kind: Referred;
  readonly name: string;
  readonly path: string;
}

function referencesIn(document: ObjectDocument): Reference[] {
  const one = (kind: Referred, path: string, name: string | undefined): Reference[] =>
    name === undefined ? [] : [{ kind, name, path }];
  const { target, volumes = {} } = document;
  return [
    ...(document.kind === 'application'
      ? one('application', 'application', document.application)
      : [...one('template', 'template', document.template), ...one('workload', 'workload', document.workload)]),
    ...one('host', 'target.host', target?.host),
    ...one('cluster', 'target.cluster', target?.cluster),
    ...Object.entries(volumes).flatMap(([mount, { volume }]) => one('volume', `volumes.${mount}.volume`, volume)),
  ];
}

/** A refusal for each name that does not exist, with the nearest one that does. */
export const unknownNames = (
  document: ObjectDocument,
  names: Names,
  except: readonly Referred[] = [],
): readonly Refusal[] =>
  referencesIn(document).flatMap(({ kind, name, path }): Refusal[] => {
    if (except.includes(kind) || names.idOf(kind, name) !== undefined) return [];
    const nearest = nearestName(name, names.known(kind));
    const suggestion = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    const code = kind === 'volume' ? 'unknown_volume' : 'deployment_refused';
    return [{ code, path, message: `names the ${kind} ${name}, which does not exist${suggestion}` }];
  });

/** The target that a document names; null: none. Its names exist. */
export function targetNamed({ target }: Pick<ObjectDocument, 'target'>, names: Names): Target | null {
  const kind = target?.host === undefined ? 'cluster' : 'host';
  const id = names.idOf(kind, target?.host ?? target?.cluster ?? '');
  return id === undefined ? null : { kind, id };
}

/** The volumes that a document requests for mounts. Its names exist. */
export const volumesNamed = ({ volumes = {} }: Pick<ObjectDocument, 'volumes'>, names: Names) =>
  Object.fromEntries(
    Object.entries(volumes).map(([mount, { size, volume }]) => [
      mount,
      volume === undefined ? { size } : { storage_id: names.idOf('volume', volume) },
    ]),
  );

interface Placed {
  readonly host_id: string | null;
  readonly cluster_id: string | null;
  readonly target_name: string | null;
}

/** Why an object cannot have the target that its document names; undefined if it has it, or the document names none. */
export function problemOfTarget(
  { kind, target }: Pick<ObjectDocument, 'kind' | 'target'>,
  { host_id, cluster_id, target_name }: Placed,
  names: Names,
): string | undefined {
  if (!target) return undefined;
  const { host, cluster } = target;
  const isSame =
    host === undefined
      ? cluster_id !== null && names.idOf('cluster', cluster ?? '') === cluster_id
      : names.idOf('host', host) === host_id;
  if (isSame) return undefined;
  const present = target_name === null ? 'no target yet' : `the target ${target_name}, and keeps it`;
  return `cannot be changed: the ${kind} has ${present}`;
}
