import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/client.ts';
import type { ClusterFacts } from '../engines/kubernetes/check.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { showAmount } from '../resources/quantities.ts';
import type { Place } from './places.ts';
import { noteThere } from './reachability.ts';

/** Keeps what a cluster says of itself, and its nodes, if it is still the server that was asked. */
export async function keepCluster(
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
