// Concurrent changes of deployments wait for their turn, and are answered.
import { holding } from '@svc/testing/faults';
import { startDeploymentWorld } from './world.ts';

const CLIENTS = 64;
const REQUESTS = 100;
const PLACEMENT_LOCK = "SELECT pg_advisory_xact_lock(hashtext('placement'))";

const fleet = await startDeploymentWorld();

test(`${CLIENTS} concurrent clients create deployments without a 5xx, and other requests are answered meanwhile`, async () => {
  await fleet.aHost({ cpus: 1000, gib: 4000 });
  const workload = await fleet.aWorkload();
  const names = Array.from({ length: REQUESTS }, (_, number) => `concurrent-${number}`).values();
  const statuses: number[] = [];
  const create = async () => {
    for (const name of names) {
      const { status } = await fleet.operator.post('/api/v1/deployments', { name, workload_id: workload.id });
      statuses.push(status);
    }
  };
  const creating = Promise.all(Array.from({ length: CLIENTS }, create));
  const reads: number[] = [];
  while (statuses.length < REQUESTS / 2) reads.push((await fleet.operator.get('/api/v1/workloads')).status);
  await creating;
  expect(statuses).toEqual(Array.from({ length: REQUESTS }, () => 201));
  expect(new Set(reads)).toEqual(new Set([200]));
});

test('more requests of a caller than can wait are rejected with the bound, and store nothing', async () => {
  await fleet.aHost({ cpus: 1000, gib: 4000 });
  const workload = await fleet.aWorkload();
  const all = await holding(fleet.world.databaseUrl, PLACEMENT_LOCK, async () => {
    const creating = Array.from({ length: 400 }, (_, number) =>
      fleet.operator.post('/api/v1/deployments', { name: `queued-${number}`, workload_id: workload.id }),
    );
    // On a busy machine, the wait of others for the lock ends before.
    const overloaded = creating.map(async (request) => {
      const answer = await request;
      if (answer.body.code !== 'overloaded') throw new Error(answer.text);
      return answer;
    });
    return { first: await Promise.any(overloaded), creating };
  });
  expect(all.first.status).toBe(503);
  expect(all.first.body.detail).toContain(
    'At most 256 requests that change deployments of a caller wait at the same time.',
  );
  expect(all.first.headers['retry-after']).toBeDefined();
  const answers = await Promise.all(all.creating);
  const created = answers.filter(({ status }) => status === 201).length;
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 503]));
  expect(await fleet.client.deployment.count()).toBe(created);
});
