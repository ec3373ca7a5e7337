import { readOccupied } from '../engines/docker/managed.ts';
import { readNetwork } from '../engines/docker/objects/networks.ts';
import type { ManagedObject } from '../engines/managed.ts';
import { isCommonNetworkName } from '../render/labels.ts';
import type { OrphanDocument } from '../resources/orphans.ts';
import { type ReconcilerContext, TARGET_TABLES, type TargetRow } from './targets.ts';

/** Maximum number of orphans that are stored per target. */
const MAX_ORPHANS = 1000;
/** Maximum number of containers whose ports and addresses are read in a check. */
const MAX_CONTAINERS = 1000;
const MAX_OBJECTS = 20;

/**
 * Stores which managed objects on a target belong to no deployment or volume of the database. They
 * exist after a backup was restored, after a target was abandoned, and if two fleets use one
 * engine. They are reported, never changed.
 */
export async function recordOrphans(
  context: ReconcilerContext,
  target: TargetRow,
  managed: readonly ManagedObject[],
): Promise<void> {
  // Rows are read after the objects: a row is stored before its objects exist.
  const orphans = await withoutRow(context, target, managed);
  const ids = [...orphans.values()].flat().flatMap(({ containerId }) => (containerId === '' ? [] : [containerId]));
  const occupied = await occupiedBy(context, target, ids.slice(0, MAX_CONTAINERS));
  await store(context, target, orphansOf(orphans, occupied));
}

type ById = ReadonlyMap<string, readonly ManagedObject[]>;

/**
 * The objects of deployments and volumes that have no row. Rows of other targets count, because the
 * same engine can be registered twice. A restored row can lack what the engine shows: that the
 * engine has received the deployment, or on which target a stopped deployment or a volume is. It is
 * stored now, so that changes and deletions take effect there.
 */
async function withoutRow(
  { database: { client } }: ReconcilerContext,
  { kind, row }: TargetRow,
  managed: readonly ManagedObject[],
): Promise<ById> {
  const ids = [...new Set(managed.map(({ id }) => id))];
  const { column } = TARGET_TABLES[kind];
  const known = await client.$queryRaw<{ id: string }[]>`
    WITH deployed AS (
      UPDATE deployments SET ${column} = ${row.id}::uuid, sent_to_engine = true, due_at = now()
      WHERE id = ANY (${ids}::uuid[]) AND (${column} = ${row.id}::uuid OR num_nonnulls(host_id, cluster_id) = 0)
        AND NOT sent_to_engine),
    stored AS (
      UPDATE volumes SET ${column} = ${row.id}::uuid, sent_to_engine = true, phase = 'bound'
      WHERE id = ANY (${ids}::uuid[]) AND num_nonnulls(host_id, cluster_id) = 0 AND phase = 'pending')
    SELECT id FROM deployments WHERE id = ANY (${ids}::uuid[])
    UNION ALL SELECT id FROM volumes WHERE id = ANY (${ids}::uuid[])`;
  const knownIds = new Set(known.map(({ id }) => id));
  const orphans = new Map<string, ManagedObject[]>();
  for (const object of managed) {
    if (knownIds.has(object.id)) continue;
    const others = orphans.get(object.id);
    if (others) others.push(object);
    else if (orphans.size < MAX_ORPHANS) orphans.set(object.id, [object]);
  }
  return orphans;
}

/** What a container occupies, as the document of an orphan states it. */
type Occupied = Pick<OrphanDocument, 'ports' | 'addresses'>;

async function occupiedBy({ hosts }: ReconcilerContext, target: TargetRow, containerIds: readonly string[]) {
  const occupied = new Map<string, Occupied>();
  if (target.kind !== 'host' || containerIds.length === 0) return occupied;
  const client = await hosts.of(target.row);
  const networks = new Map<string, Awaited<ReturnType<typeof readNetwork>>>();
  for (const id of containerIds) {
    const { ports, addresses } = await readOccupied(client, id);
    const ofCommon = addresses.filter(({ network }) => isCommonNetworkName(network));
    for (const { network } of ofCommon)
      if (!networks.has(network)) networks.set(network, await readNetwork(client, network));
    const known = ofCommon.flatMap(({ ordinal, address, network }) => {
      const found = networks.get(network);
      return found ? [{ ordinal, address, network_id: found.id, subnet: found.subnet }] : [];
    });
    occupied.set(id, { ports: [...ports], addresses: known });
  }
  return occupied;
}

interface Orphan {
  readonly id: string;
  readonly kind: ManagedObject['kind'];
  readonly document: OrphanDocument;
}

const orphansOf = (orphans: ById, occupied: ReadonlyMap<string, Occupied>): Orphan[] =>
  [...orphans].flatMap(([id, objects]) => {
    const latest = objects.reduce((a, b) => (b.generation > a.generation ? b : a));
    const { source } = objects.find((object) => object.source && object.generation === latest.generation) ?? latest;
    const document: OrphanDocument = {
      name: latest.name,
      generation: latest.generation,
      workload_id: source?.workload_id ?? null,
      revision: source?.revision ?? null,
      variables: [...(source?.variables ?? [])],
      replicas: Math.max(...objects.map(({ replicas }) => replicas)),
      objects: objects.slice(0, MAX_OBJECTS).map(({ object }) => object),
      object_count: objects.length,
      ports: objects.flatMap(({ containerId }) => occupied.get(containerId)?.ports ?? []),
      addresses: objects.flatMap(({ containerId }) => occupied.get(containerId)?.addresses ?? []),
      volume: latest.volume ?? null,
    };
    return [{ id, kind: latest.kind, document }];
  });

async function store(
  { database: { client } }: ReconcilerContext,
  { kind, row }: TargetRow,
  orphans: readonly Orphan[],
): Promise<void> {
  const { column } = TARGET_TABLES[kind];
  await client.$transaction([
    client.$executeRaw`
      DELETE FROM orphans WHERE target_id = ${row.id}::uuid AND id <> ALL (${orphans.map(({ id }) => id)}::uuid[])`,
    client.$executeRaw`
      INSERT INTO orphans AS existing (target_id, ${column}, id, kind, document)
      SELECT t.id, t.id, o.id, o.kind, o.document
      FROM ${TARGET_TABLES[kind].table} t, jsonb_to_recordset(${JSON.stringify(orphans)}::jsonb) AS o (id uuid, kind text, document jsonb)
      WHERE t.id = ${row.id}::uuid
      ON CONFLICT (target_id, id) DO UPDATE SET document = excluded.document
      WHERE existing.document IS DISTINCT FROM excluded.document`,
  ]);
}
