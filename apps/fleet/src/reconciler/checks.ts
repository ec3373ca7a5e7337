import { inRounds, type Rounds } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/client.ts';
import { check as checkHost } from '../engines/docker/check.ts';
import { EngineFailure, Transient, Unreachable } from '../engines/errors.ts';
import { type ClusterFacts, check as checkCluster } from '../engines/kubernetes/check.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { showAmount } from '../quantities.ts';
import { claimPlaces, noteAway, noteThere } from './reachability.ts';
import type { Place, Tools } from './targets.ts';
import { clearDeparted } from './tombstones.ts';

/** Keeps what a cluster says of itself, and its nodes, if it is still the server that was asked. */
async function keepCluster(
  { client }: Database,
  place: Extract<Place, { kind: 'cluster' }>,
  { version, nodes, storage_classes, conditions }: ClusterFacts,
): Promise<void> {
  const isKnown = conditions.some(({ type, status }) => type === 'NodesKnown' && status === 'True');
  const usable = nodes.filter(({ ready, schedulable }) => ready && schedulable);
  const allocatable = isKnown ? sumOf(usable.map((node) => node.allocatable)) : NOT_KNOWN;
  const capacity = isKnown ? showAmount(sumOf(nodes.map((node) => node.capacity))) : null;
  const facts = Prisma.sql`kubernetes_version = ${version}, cpu_millis = ${allocatable.cpu_millis},
    memory_bytes = ${allocatable.memory_bytes}, gpu_count = ${allocatable.gpu_count},
    capacity = ${capacity && JSON.stringify(capacity)}::jsonb, conditions = ${JSON.stringify(conditions)}::jsonb,
    storage_classes = ${JSON.stringify(storage_classes)}::jsonb`;
  await client.$transaction(async (transaction) => {
    if (await noteThere(transaction, place, facts)) await keepNodes(transaction, place.row.id, nodes);
  });
}

const NOT_KNOWN = { cpu_millis: null, memory_bytes: null, gpu_count: null };

const sumOf = (amounts: readonly ClusterFacts['nodes'][number]['allocatable'][]) => ({
  cpu_millis: BigInt(amounts.reduce((sum, { cpu_millis }) => sum + cpu_millis, 0)),
  memory_bytes: BigInt(amounts.reduce((sum, { memory_bytes }) => sum + memory_bytes, 0)),
  gpu_count: amounts.reduce((sum, { gpu_count }) => sum + gpu_count, 0),
});

/** A node that is the same is not written. */
async function keepNodes(
  transaction: Pick<Prisma.TransactionClient, '$executeRaw'>,
  clusterId: string,
  nodes: ClusterFacts['nodes'],
): Promise<void> {
  const given = nodes.map(({ allocatable, taints, ...node }) => ({
    ...node,
    ...allocatable,
    id: uuidv7(),
    taints: taints.map(({ key, value = '', effect }) => ({ key, value, effect })),
  }));
  await transaction.$executeRaw`
    DELETE FROM nodes WHERE cluster_id = ${clusterId}::uuid AND name <> ALL (${nodes.map(({ name }) => name)}::text[])`;
  await transaction.$executeRaw`
    INSERT INTO nodes AS present
      (id, cluster_id, name, labels, taints, schedulable, ready, version, arch, cpu_millis, memory_bytes, gpu_count)
    SELECT id, ${clusterId}::uuid, name, labels, taints, schedulable, ready, version, arch, cpu_millis, memory_bytes, gpu_count
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (id uuid, name text, labels jsonb, taints jsonb,
      schedulable boolean, ready boolean, version text, arch text, cpu_millis bigint, memory_bytes bigint, gpu_count int)
    ON CONFLICT (cluster_id, name) DO UPDATE SET updated_at = now(), labels = excluded.labels, taints = excluded.taints,
      schedulable = excluded.schedulable, ready = excluded.ready, version = excluded.version, arch = excluded.arch,
      cpu_millis = excluded.cpu_millis, memory_bytes = excluded.memory_bytes, gpu_count = excluded.gpu_count
    WHERE (present.labels, present.taints, present.schedulable, present.ready, present.version, present.arch,
           present.cpu_millis, present.memory_bytes, present.gpu_count)
      IS DISTINCT FROM (excluded.labels, excluded.taints, excluded.schedulable, excluded.ready, excluded.version,
           excluded.arch, excluded.cpu_millis, excluded.memory_bytes, excluded.gpu_count)`;
}

/** How many are asked at once by one process: one that does not answer holds up no other. */
const AT_ONCE = 32;

/** Checks each host and cluster at its interval until stopped. Replicas share the work. */
export function keepChecking(tools: Tools): Rounds {
  const { database, log, timings } = tools;
  const underWay = new Set<Promise<void>>();
  const ask = (place: Place) => {
    const asked = checkPlace(tools, place)
      .catch((error) => log.warn({ err: error, [place.kind]: place.row.name }, 'what it says could not be kept'))
      .finally(() => underWay.delete(asked));
    underWay.add(asked);
  };
  const rounds = inRounds(0, async () => {
    try {
      const due = { most: AT_ONCE - underWay.size, interval: timings.check };
      for (const place of await claimPlaces(database, due)) ask(place);
    } catch (error) {
      log.warn({ err: error }, 'hosts and clusters could not be checked');
    }
    return timings.checkIdle;
  });
  return {
    stop: async () => {
      await rounds.stop();
      await Promise.all(underWay);
    },
  };
}

/** Asks a place now, and keeps what it says. */
export async function checkPlace(tools: Tools, place: Place): Promise<void> {
  const { database, log, timings } = tools;
  const since = Date.now();
  try {
    await askAndKeep(tools, place);
  } catch (error) {
    const isTold = error instanceof EngineFailure;
    if (!isTold) log.warn({ err: error, [place.kind]: place.row.name }, 'it could not be checked');
    const message = isTold ? error.message : 'It could not be checked: the fleet’s log says why.';
    await noteAway(database, place, { message, since, timings });
    return;
  }
  await clearDeparted(tools, place);
}

async function askAndKeep({ database, hosts, clusters }: Tools, place: Place): Promise<void> {
  if (place.kind === 'cluster') {
    const facts = await unlessHalfTold(checkCluster(await clusters.of(place.row)));
    if (facts) return keepCluster(database, place, facts);
    await noteThere(database.client, place, Prisma.sql`conditions = conditions`);
    return;
  }
  const { engine_version, arch, cpu_millis, memory_bytes } = await checkHost(await hosts.of(place.row));
  const facts = Prisma.sql`engine_version = ${engine_version}, arch = ${arch}, cpu_millis = ${cpu_millis}, memory_bytes = ${memory_bytes}`;
  await noteThere(database.client, place, facts);
}

/** What a cluster says; undefined where it answers, and one of its answers is that something went wrong in it just now. */
async function unlessHalfTold<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof Transient && !(error instanceof Unreachable)) return undefined;
    throw error;
  }
}
