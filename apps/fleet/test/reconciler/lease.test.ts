// A worker writes its observation only while it holds the lease of the deployment.
import { randomUUID } from 'node:crypto';
import type { Observation } from '../../src/engines/observation.ts';
import { readDesired } from '../../src/reconciler/desired.ts';
import { type Claim, claimDue } from '../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../src/reconciler/timings.ts';
import { releaseLease, writeFailed, writeObserved } from '../../src/reconciler/write.ts';
import { startDeploymentWorld } from '../deployments/world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const { database, sealer } = world;

const RUNNING: Observation = {
  phase: 'running',
  reason: null,
  message: '1 of 1 up.',
  instances: [],
  endpoints: [],
  volumes: [],
  actions: ['created web-0'],
  next: 'settled',
};
const FAILURE = { reason: 'EngineError', message: 'The engine rejected a request (500).' };

const stored = (id: string) => client.deployment.findUnique({ where: { id } });
const events = (id: string): Promise<number> => client.deploymentEvent.count({ where: { deployment_id: id } });

/** A deployment that a worker has claimed, and what the worker read. */
async function claimed() {
  await fleet.aHost();
  const { id } = await fleet.deployed();
  const [claim] = await claimDue(database, { lease: timings.lease, limit: 1 }, new AbortController().signal);
  if (!claim || claim.id !== id) throw new Error('the deployment was not claimed');
  claim.release(); // no heartbeat: the test controls the lease
  const desired = await readDesired(database, sealer, claim);
  if (!desired) throw new Error('the deployment is gone');
  return { claim, desired };
}

const giveTo = (owner: string, { id }: Claim) =>
  client.deployment.update({ where: { id }, data: { lease_owner: owner } });

type Write = (given: Awaited<ReturnType<typeof claimed>>) => Promise<unknown>;
const writeRunning: Write = ({ claim, desired }) =>
  writeObserved(database, claim, { ...desired, observed: RUNNING, timings });
const writeFailure: Write = ({ claim }) => writeFailed(database, claim, { failure: FAILURE, timings });

test('a deployment that changed while it was claimed is read again', async () => {
  const { claim, desired } = await claimed();
  const changed = { ...claim, row: undefined };
  expect(await readDesired(database, sealer, changed)).toMatchObject({
    row: { ...desired.row, now: expect.any(Date) },
    assignment: desired.assignment,
  });
  await client.deployment.update({ where: { id: claim.id }, data: { generation: { increment: 1 } } });
  expect(await readDesired(database, sealer, changed)).toBeUndefined();
});

test('the holder of the lease writes an observation and releases the lease', async () => {
  const given = await claimed();
  const { id, generation } = given.claim;
  const before = await events(id);
  await writeRunning(given);
  const written = { phase: 'running', message: RUNNING.message, observed_generation: generation, lease_owner: null };
  expect(await stored(id)).toMatchObject(written);
  expect(await events(id)).toBeGreaterThan(before);
});

test('the holder of the lease writes a failure and releases the lease', async () => {
  const given = await claimed();
  await writeFailure(given);
  expect(await stored(given.claim.id)).toMatchObject({ ...FAILURE, phase: 'retrying', failures: 1, lease_owner: null });
});

test.each([
  ['write an observation', writeRunning],
  ['write a failure', writeFailure],
  ['release the lease', ({ claim }: { claim: Claim }) => releaseLease(client, claim, 60)],
])('a worker whose lease another worker holds does not %s', async (_, write) => {
  const given = await claimed();
  const { id } = given.claim;
  await giveTo(randomUUID(), given.claim);
  const before = { row: await stored(id), events: await events(id) };
  await write(given);
  expect({ row: await stored(id), events: await events(id) }).toEqual(before);
});

test.each([
  ['an observation', writeRunning],
  ['a failure', writeFailure],
])('a worker whose lease has expired does not write %s', async (_, write) => {
  const given = await claimed();
  const { id } = given.claim;
  await client.$executeRaw`UPDATE deployments SET lease_until = now() - interval '1 s' WHERE id = ${id}::uuid`;
  const before = { row: await stored(id), events: await events(id) };
  await write(given);
  const row = { ...before.row, lease_owner: null, lease_until: null, due_at: expect.any(Date) };
  expect({ row: await stored(id), events: await events(id) }).toEqual({ ...before, row });
});

test('only the holder of the lease removes a deleted deployment', async () => {
  const { claim, desired } = await claimed();
  await fleet.remove(claim.id);
  const gone = { ...desired, observed: { ...RUNNING, phase: 'gone' as const }, timings };
  await giveTo(randomUUID(), claim);
  await writeObserved(database, claim, gone);
  expect(await stored(claim.id)).toMatchObject({ deleting: true });
  await giveTo(claim.owner, claim);
  await writeObserved(database, claim, gone);
  expect(await stored(claim.id)).toBeNull();
});
