// The candidates of placements in memory equal the database, whatever changes, and a reading contains only what changed.
import { byDepth, eventually } from '@svc/testing';
import { v7 as uuidv7 } from 'uuid';
import { type Candidates, createCandidates } from '../../../src/deployments/candidates.ts';
import type { Prisma } from '../../../src/generated/prisma/client.ts';
import { acquirePlacementLock } from '../../../src/resources/placement-lock.ts';
import { randomFrom } from '../../random.ts';
import { GIB, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;

type Reader = Parameters<Candidates['read']>[0];

/** Sorted by id. */
async function read(candidates: Candidates, reader: Reader = client) {
  const all = await candidates.read(reader);
  return all.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * Candidates that have read everything, and the number of targets of each later reading of them.
 */
async function aReader() {
  const candidates = createCandidates();
  const counts: number[] = [];
  const counting = {
    $queryRaw: async (...statement: Parameters<typeof client.$queryRaw>) => {
      const rows = await client.$queryRaw<{ targets: unknown[] }[]>(...statement);
      counts.push(rows[0]?.targets.length ?? 0);
      return rows;
    },
  } as Reader; // the only method that is used
  await read(candidates, counting);
  counts.length = 0;
  return { read: () => read(candidates, counting), counts };
}

async function aDeploymentOn(target: { host_id: string } | { cluster_id: string }, cpu_millis = 1000) {
  const workload = await fleet.aWorkload();
  const id = uuidv7();
  const common = {
    id,
    name: fleet.aName('direct'),
    created_by: 'test',
    workload_id: workload.id,
    revision: 1,
    replicas: 1,
  };
  return client.deployment.create({ data: { ...common, ...target, cpu_millis, memory_bytes: GIB, gpu_count: 1 } });
}

test('a reading contains only the targets that changed since the last one', async () => {
  const aHost = () => fleet.aHost({ gpuCount: 2 });
  const one = await aHost();
  const two = await aHost();
  const three = await aHost();
  await Promise.all(Array.from({ length: 20 }, aHost));
  const cluster = await fleet.aCluster();
  const { read: readAgain, counts } = await aReader();
  const countOf = async () => {
    const all = await readAgain();
    return { all, count: counts.at(-1) };
  };
  // A transaction of another test in progress causes what changed since its beginning to be read
  // again.
  await eventually('no change is read', async () => (await countOf()).count === 0);
  await client.host.update({ where: { id: one.id }, data: { last_seen_at: new Date(), check_at: new Date() } });
  expect((await countOf()).count).toBe(0);
  const { id } = await aDeploymentOn({ host_id: two.id });
  expect((await countOf()).count).toBe(1);
  await eventually('no change is read', async () => (await countOf()).count === 0);
  await client.deployment.update({ where: { id }, data: { phase: 'running', due_at: new Date() } });
  expect((await countOf()).count).toBe(0);
  const data = { host_id: three.id, gpu_id: 'gpu-0', deployment_id: id, ordinal: 0 };
  await client.allocatedGpu.create({ data });
  await client.cluster.update({ where: { id: cluster.id }, data: { reachability: 'unreachable' } });
  const { all, count } = await countOf();
  expect(count).toBe(2);
  expect(all).toEqual(await read(createCandidates()));
  const allocatedOn = (target: { id: string }) => all.find((candidate) => candidate.id === target.id)?.allocated;
  expect(allocatedOn(two)).toMatchObject({ cpu_millis: 1000, memory_bytes: GIB });
  expect(allocatedOn(three)).toMatchObject({ gpus: ['gpu-0'] });
});

test('another version of the engine of a host is read', async () => {
  const { id } = await fleet.aHost();
  const { read: readAgain } = await aReader();
  await client.host.update({ where: { id }, data: { engine_version: '5.3.2' } });
  expect((await readAgain()).find((candidate) => candidate.id === id)).toMatchObject({ engine_version: '5.3.2' });
});

test('a target that was deleted is no candidate, also if another one was created', async () => {
  const one = await fleet.aHost();
  await fleet.aCluster();
  const { read: readAgain } = await aReader();
  await client.host.delete({ where: { id: one.id } });
  const another = await fleet.aHost();
  const ids = (await readAgain()).map(({ id }) => id);
  expect(ids).toHaveLength(2);
  expect(ids).toContain(another.id);
  await client.$executeRaw`TRUNCATE hosts, clusters CASCADE`;
  expect(await readAgain()).toEqual([]);
});

test('registrations of the same engine share what is allocated, and the first one is used', async () => {
  const identity = 'the-engine';
  const first = await fleet.aHost({ identity });
  const second = await fleet.aHost({ identity });
  const { read: readAgain } = await aReader();
  await aDeploymentOn({ host_id: second.id });
  const byId = new Map((await readAgain()).map((candidate) => [candidate.id, candidate]));
  expect(byId.get(first.id)).toMatchObject({ allocated: { cpu_millis: 1000 }, duplicate_of: undefined });
  expect(byId.get(second.id)).toMatchObject({ allocated: { cpu_millis: 1000 }, duplicate_of: first.name });
  await client.host.update({ where: { id: first.id }, data: { identity: null } });
  const separate = new Map((await readAgain()).map((candidate) => [candidate.id, candidate]));
  expect(separate.get(first.id)).toMatchObject({ allocated: { cpu_millis: 0 } });
  expect(separate.get(second.id)).toMatchObject({ allocated: { cpu_millis: 1000 }, duplicate_of: undefined });
});

test('a change whose transaction began before the last reading and ended after it is read', async () => {
  const host = await fleet.aHost();
  const other = await fleet.aHost();
  const { read: readAgain } = await aReader();
  const deployment = await aDeploymentOn({ host_id: host.id });
  await client.$transaction(async (transaction) => {
    await transaction.deployment.update({ where: { id: deployment.id }, data: { cpu_millis: 7000 } });
    await client.host.update({ where: { id: other.id }, data: { schedulable: false } });
    const during = await readAgain();
    expect(during.find(({ id }) => id === host.id)?.allocated).toMatchObject({ cpu_millis: 1000 });
  });
  const after = await readAgain();
  expect(after.find(({ id }) => id === host.id)?.allocated).toMatchObject({ cpu_millis: 7000 });
});

test('a transaction reads what it changed itself, and nothing of it stays in memory if it is rolled back', async () => {
  const { id } = await fleet.aHost();
  const candidates = createCandidates();
  await read(candidates);
  const changed = client.$transaction(async (transaction) => {
    await transaction.host.update({ where: { id }, data: { schedulable: false } });
    expect(await read(candidates, transaction)).toMatchObject([{ id, schedulable: false }]);
    throw new RolledBack();
  });
  await expect(changed).rejects.toThrow(RolledBack);
  expect(await read(candidates)).toMatchObject([{ id, schedulable: true }]);
});

test('concurrent readings, changes and rollbacks lead to the candidates of the database', async () => {
  const random = randomFrom(Number(process.env.TEST_SEED ?? 1));
  const hosts = await Promise.all(Array.from({ length: 6 }, () => fleet.aHost({ gpuCount: 2 })));
  const cluster = await fleet.aCluster();
  const deployments = await Promise.all(
    Array.from({ length: 8 }, () => aDeploymentOn({ host_id: random.oneOf(hosts).id })),
  );
  const candidates = createCandidates();
  const changes: readonly ((transaction: Prisma.TransactionClient) => Promise<unknown>)[] = [
    (t) =>
      t.deployment.update({ where: { id: random.oneOf(deployments).id }, data: { cpu_millis: random.below(9000) } }),
    (t) =>
      t.deployment.update({
        where: { id: random.oneOf(deployments).id },
        data: random.isOneIn(2)
          ? { host_id: random.oneOf(hosts).id, cluster_id: null }
          : { host_id: null, cluster_id: cluster.id },
      }),
    (t) =>
      t.host.update({ where: { id: random.oneOf(hosts).id }, data: { labels: { at: String(random.below(100)) } } }),
    (t) => t.host.update({ where: { id: random.oneOf(hosts).id }, data: { identity: random.oneOf(['a', 'b', null]) } }),
    (t) => t.cluster.update({ where: { id: cluster.id }, data: { gpu_count: random.below(9) } }),
  ];
  const change = async () => {
    const rollsBack = random.isOneIn(4);
    const work = client.$transaction(async (transaction) => {
      await acquirePlacementLock(transaction);
      await random.oneOf(changes)(transaction);
      if (rollsBack) throw new RolledBack();
    });
    await work.catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
  };
  for (let round = 0; round < byDepth({ short: 15, full: 60, long: 600 }); round += 1) {
    await Promise.all([change(), candidates.read(client), change(), candidates.read(client), change()]);
    expect(await read(candidates)).toEqual(await read(createCandidates()));
  }
  const sums = await client.$queryRaw`
    SELECT count(*)::int AS wrong FROM placement_targets t
    LEFT JOIN (SELECT coalesce(host_id, cluster_id) AS id, sum(cpu_millis) AS cpu, sum(memory_bytes) AS memory, sum(gpu_count) AS gpus
               FROM deployments GROUP BY 1) d ON d.id = t.target_id
    WHERE (t.cpu_millis, t.memory_bytes, t.gpu_count) IS DISTINCT FROM (coalesce(d.cpu, 0), coalesce(d.memory, 0), coalesce(d.gpus, 0))
      AND t.target_id IN (SELECT id FROM hosts UNION ALL SELECT id FROM clusters)`;
  expect(sums).toEqual([{ wrong: 0 }]);
});

class RolledBack extends Error {}
