// The state of a rollout in the database: workers observe a simulated engine, and their writes decide about the rollout.

import { createCandidates } from '../../../src/deployments/candidates.ts';
import { readDesired } from '../../../src/reconciler/desired.ts';
import type { Claim } from '../../../src/reconciler/queue.ts';
import { returnToGood } from '../../../src/reconciler/rollout/restore.ts';
import { aTemplate } from '../../a-template.ts';
import { type Body, startDeploymentWorld } from '../world.ts';
import { observed, passesOf } from './passes.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const { database, sealer } = world;
const { claimOf, pass } = passesOf(fleet);

const updates = { ready_seconds: 0, deadline_seconds: 60 };
const workload = { env_schema: [{ name: 'MODE' }], ports: [{ containerPort: 80 }] };

const missing = observed(
  { phase: 'retrying', reason: 'ImageNotFound', message: 'The image does not exist.', next: 'settled' },
  { ready: false, phase: 'missing', current: false },
);

/** A pass of a deployment whose rollout has failed. */
async function returned(id: string, claimed?: Claim): Promise<void> {
  const claim = claimed ?? (await claimOf(id));
  const desired = await readDesired(database, sealer, claim);
  if (!desired) return;
  const defaultLimits = { memory_bytes: null, processes: null };
  await returnToGood({ database, sealer, candidates: createCandidates(), defaultLimits }, claim, desired.row);
}

const rollout = async (id: string) => (await fleet.deployment(id)).rollout;
const outcomes = async (id: string) =>
  (await fleet.revisions(id)).map(({ generation, outcome }: Body) => `${generation} ${outcome}`).reverse();

/** A deployment whose first generation is good. */
async function aGoodOne(given: Body = {}) {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload, env: { MODE: 'old' }, updates, ...given });
  await pass(id, observed());
  await pass(id, observed());
  expect(await rollout(id)).toMatchObject({ generation: 1, state: 'succeeded', good_generation: 1 });
  return id;
}

/** The same after a change that does not work. */
async function aFailedOne(given: Body = {}) {
  const id = await aGoodOne(given);
  expect((await fleet.change(id, { env: { MODE: 'new' } })).status).toBe(200);
  await pass(id, missing);
  return id;
}

test('a rollout succeeds when all instances have been ready for the required time', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload, updates: { ready_seconds: 3600, deadline_seconds: 7200 } });
  await pass(id, observed());
  await pass(id, observed());
  expect(await rollout(id)).toMatchObject({ state: 'progressing', updated: 1, ready: 1, good_generation: null });
  await fleet.change(id, { updates: { ready_seconds: 0 } });
  await pass(id, observed());
  expect(await rollout(id)).toMatchObject({ state: 'succeeded', good_generation: 1, deadline_at: null });
  expect(await outcomes(id)).toEqual(['1 good']);
});

test('a rollout that only waits until its instances are proven has no pass before', async () => {
  const id = await aGoodOne();
  await fleet.change(id, { updates: { ready_seconds: 30 } });
  await fleet.change(id, { env: { MODE: 'new' } });
  const instance = { phase: 'running', message: 'is running', restarts: 0, current: true, ready: true } as const;
  const instances = [
    { ...instance, name: 'web-0', ordinal: 0, current: false },
    { ...instance, name: 'web-1', ordinal: 1 },
  ];
  const secondsLeft = async () =>
    (await client.deployment.findUniqueOrThrow({ where: { id } })).due_at.getTime() / 1000 - Date.now() / 1000;
  const changing = { phase: 'starting', next: 'soon' } as const;
  await pass(id, observed({ ...changing, instances }));
  expect(await secondsLeft()).toBeGreaterThan(20);
  await pass(id, observed({ ...changing, instances, reason: 'EngineError' }));
  expect(await secondsLeft()).toBeLessThan(2);
  await pass(id, observed({ ...changing, instances }));
  await fleet.change(id, { updates: { ready_seconds: 0 } });
  expect(await secondsLeft()).toBeLessThan(2); // another policy applies at once
  await pass(id, observed({ ...changing, instances }));
  expect(await secondsLeft()).toBeLessThan(2); // the instances are proven, and the next pass continues
  await pass(id, observed({ ...changing, instances: instances.map((one) => ({ ...one, ready: one.ordinal === 0 })) }));
  expect(await secondsLeft()).toBeLessThan(2);
});

test('a rollout without a required time continues at once when its extra instance and the others are ready', async () => {
  const id = await aGoodOne();
  await fleet.change(id, { env: { MODE: 'new' } });
  const instance = { phase: 'running', message: 'is running', restarts: 0, current: true, ready: true } as const;
  const instances = [0, 1].map((ordinal) => ({ ...instance, name: `web-${ordinal}`, ordinal }));
  await pass(id, observed({ instances }));
  const { due_at } = await client.deployment.findUniqueOrThrow({ where: { id } });
  expect(due_at.getTime() - Date.now()).toBeLessThan(2000);
});

test('a rollout that fails returns to the good generation, once', async () => {
  const id = await aFailedOne();
  expect(await rollout(id)).toMatchObject({
    state: 'returning',
    reason: 'ImageNotFound',
    message: 'Generation 2 has failed: The image does not exist. The fleet returns to generation 1.',
  });
  await returned(id);
  expect(await fleet.deployment(id)).toMatchObject({
    generation: 3,
    env: { MODE: 'old' },
    rollout: { generation: 3, state: 'progressing', failed_generation: 2 },
  });
  expect((await fleet.events(id)).slice(0, 2)).toMatchObject([
    { reason: 'RolledBack', message: 'returned to generation 1: generation 2 has failed (ImageNotFound).' },
    { reason: 'rollback', actor: 'fleet' },
  ]);
  await pass(id, observed());
  await pass(id, observed());
  expect(await rollout(id)).toMatchObject({ state: 'rolled_back', good_generation: 3, failed_generation: 2 });
  expect(await outcomes(id)).toEqual(['1 good', '2 failed', '3 good']);
});

test('a return that fails ends, and is not repeated', async () => {
  const id = await aFailedOne();
  await returned(id);
  await pass(id, missing);
  expect(await rollout(id)).toMatchObject({ state: 'failed', failed_generation: 2 });
  const events = await fleet.events(id);
  await pass(id, missing);
  expect(await fleet.deployment(id)).toMatchObject({ generation: 3, rollout: { state: 'failed' } });
  expect(await fleet.events(id)).toHaveLength(events.length);
});

test('a return restores the form of the instances of the good generation', async () => {
  const id = await aGoodOne();
  const form = { defaults_version: 3, default_processes: 77, restarted_at: new Date('2026-01-01T00:00:00.000Z') };
  await client.deployment.update({ where: { id }, data: form });
  const { default_memory_bytes } = await client.deployment.findUniqueOrThrow({ where: { id } });
  const rendered = { ...form, default_memory_bytes: default_memory_bytes?.toString() ?? null, pod_settings: null };
  await client.deploymentRevision.updateMany({ where: { deployment_id: id }, data: { rendered } });
  const before = await fleet.manifest(id);
  await fleet.change(id, { env: { MODE: 'new' } });
  await pass(id, missing);
  await returned(id);
  const digests = (manifest: { body?: { Labels: Body } }[]) => manifest.map(({ body }) => body?.Labels['fleet/body']);
  expect(digests(await fleet.manifest(id))).toEqual(digests(before));
});

test.each<[string, Body, string]>([
  [
    'its policy is to stop',
    { updates: { ...updates, on_failure: 'stop' } },
    'The deployment is configured to stop after a failure.',
  ],
])('a rollout that fails is held if %s, until it is resumed', async (_title, given, message) => {
  const id = await aFailedOne(given);
  expect(await rollout(id)).toMatchObject({ state: 'held', message: expect.stringContaining(message) });
  await pass(id, missing);
  expect(await rollout(id)).toMatchObject({ state: 'held' });
  expect((await fleet.ask(id, 'rollout/resume')).body.deployment.rollout).toMatchObject({
    state: 'progressing',
    reason: null,
  });
  expect(await outcomes(id)).toEqual(['1 good', '2 null']);
  await pass(id, observed());
  await pass(id, observed());
  expect(await rollout(id)).toMatchObject({ state: 'succeeded', good_generation: 2 });
});

test('a failed restart is held, because the good generation has the same configuration', async () => {
  const id = await aGoodOne();
  await fleet.ask(id, 'restart');
  await pass(id, missing);
  expect(await rollout(id)).toMatchObject({
    state: 'held',
    message: expect.stringContaining('has the same configuration'),
  });
  expect(await fleet.ask(id, 'rollout/abort')).toMatchObject({ status: 409, body: { code: 'nothing_to_restore' } });
});

test('a rollout of instances that have written to a volume is held, and returns on request', async () => {
  const mounts = { ...workload, volume_mounts: [{ name: 'data', mountPath: '/data' }] };
  const id = await aGoodOne({ workload: mounts });
  await fleet.change(id, { env: { MODE: 'new' } });
  const processes = [{ instance: 'web-0', id: 'c1', body: 'b1', startedAt: 1000, restarts: 0 }];
  await pass(id, observed({ phase: 'starting', next: 'soon', processes }, { phase: 'starting', ready: false }));
  await pass(id, { ...missing, instances: observed({}, { phase: 'crashed', ready: false }).instances });
  expect(await rollout(id)).toMatchObject({
    state: 'held',
    message: expect.stringContaining('It has already run with its volumes'),
  });
  const aborted = await fleet.ask(id, 'rollout/abort');
  expect(aborted.body.deployment).toMatchObject({
    env: { MODE: 'old' },
    rollout: { failed_generation: 2, state: 'progressing' },
  });
});

test('a rollout in progress is aborted, and one that has ended is not', async () => {
  const id = await aGoodOne();
  expect(await fleet.ask(id, 'rollout/abort')).toMatchObject({ status: 409, body: { code: 'no_rollout' } });
  expect(await fleet.ask(id, 'rollout/resume')).toMatchObject({ status: 409, body: { code: 'no_rollout' } });
  await fleet.change(id, { env: { MODE: 'new' } });
  expect((await fleet.ask(id, 'rollout/abort')).body.deployment).toMatchObject({ generation: 3, env: { MODE: 'old' } });
  expect(await outcomes(id)).toEqual(['1 good', '2 failed', '3 null']);
});

test('a newer generation supersedes a rollout', async () => {
  const id = await aGoodOne();
  await fleet.change(id, { env: { MODE: 'new' } });
  await pass(id, observed({ phase: 'starting' }, { ready: false, phase: 'starting' }));
  await fleet.change(id, { env: { MODE: 'newer' } });
  await pass(id, observed({ phase: 'starting' }, { ready: false, phase: 'starting' }));
  expect(await outcomes(id)).toEqual(['1 good', '2 superseded', '3 null']);
  expect(await rollout(id)).toMatchObject({ generation: 3, state: 'progressing', good_generation: 1 });
});

test('the deadline counts only time between passes, and at most a minute for each', async () => {
  const id = await aGoodOne();
  await fleet.change(id, { env: { MODE: 'new' } });
  const starting = observed({ phase: 'starting', next: 'soon' }, { ready: false, phase: 'starting' });
  await pass(id, starting);
  const longAgo = new Date(Date.now() - 3_600_000);
  await client.deployment.update({ where: { id }, data: { rollout_observed_at: longAgo, rollout_elapsed_ms: 0 } });
  await fleet.change(id, { updates: { deadline_seconds: 61 } });
  await pass(id, starting);
  expect(await rollout(id)).toMatchObject({ state: 'progressing' });
  await client.deployment.update({ where: { id }, data: { rollout_observed_at: longAgo } });
  await pass(id, starting);
  expect(await rollout(id)).toMatchObject({ state: 'returning', reason: 'DeadlineExceeded' });
});

test('a worker that has lost its lease, and one whose generation is superseded, make no return', async () => {
  const id = await aFailedOne();
  const claim = await claimOf(id);
  await client.deployment.update({ where: { id }, data: { lease_owner: '019a0000-0000-7000-8000-000000000001' } });
  const desired = await readDesired(database, sealer, { ...claim });
  expect(desired?.row.rollout?.state).toBe('returning');
  await returned(id, claim);
  expect((await fleet.deployment(id)).generation).toBe(2);
  const second = await claimOf(id);
  await fleet.change(id, { env: { MODE: 'newer' } });
  await returned(id, second);
  expect(await fleet.deployment(id)).toMatchObject({ generation: 3, env: { MODE: 'newer' } });
});

test('a return that is refused is held', async () => {
  const id = await aGoodOne();
  await fleet.aSecret('password', { PASSWORD: 'hidden' });
  await client.deploymentRevision.updateMany({
    where: { deployment_id: id },
    data: { env: { MODE: { secret: 'gone' } } },
  });
  await fleet.change(id, { env: { MODE: 'new' } });
  await pass(id, missing);
  await returned(id);
  expect(await rollout(id)).toMatchObject({ state: 'held', message: expect.stringContaining('which does not exist') });
});

test('an upgrade to a configuration that has failed requires force', async () => {
  const free = {
    volume_mounts: [],
    node_selector: {},
    required_network_types: [],
    registry_credentials: null,
    secret_refs: [],
    env_schema: [],
  };
  const first = aTemplate({ slug: 'tool', ...free });
  const other = aTemplate({ slug: 'other' });
  await fleet.aHost();
  await fleet.publish(first, other);
  const { id } = await fleet.deployed({ template: 'tool', updates });
  await pass(id, observed());
  await pass(id, observed());
  await fleet.publish({ ...first, image_tag: '19' }, other);
  const plan = async () => (await fleet.plan({ deployment_id: id, upgrade: true })).body;
  const upgrade = async (body: Body = {}) => fleet.ask(id, 'upgrade', { expected: (await plan()).digest, ...body });
  expect((await upgrade()).status).toBe(200);
  await pass(id, missing);
  await returned(id);
  expect((await plan()).held).toMatchObject({ generation: 2, reason: 'ImageNotFound' });
  expect(await upgrade()).toMatchObject({ status: 409, body: { code: 'update_held' } });
  expect((await upgrade({ force: true })).body.deployment).toMatchObject({ generation: 4, revision: 2 });
});

test('a deployment from before this version has no rollout until it is changed, and stops after a failure', async () => {
  const id = await aGoodOne();
  await client.$executeRaw`UPDATE deployments SET rollout = NULL, updates = '{}', good_generation = NULL WHERE id = ${id}::uuid`;
  await pass(id, observed());
  expect(await fleet.deployment(id)).toMatchObject({
    rollout: null,
    updates: { order: 'stop_first', ready_seconds: 10, deadline_seconds: 1800, on_failure: 'stop' },
  });
  await fleet.change(id, { env: { MODE: 'new' } });
  await pass(id, missing);
  expect(await rollout(id)).toMatchObject({ state: 'held', good_generation: 1 });
});

test('the policy of updates is checked', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ workload });
  const answer = await fleet.change(id, { updates: { ready_seconds: 3600 } });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'updates.deadline_seconds' }] } });
  expect((await fleet.change(id, { updates: { order: 'start_first' } })).body.deployment).toMatchObject({
    generation: 1,
    updates: { order: 'start_first', ready_seconds: 10, deadline_seconds: 1800, on_failure: 'auto' },
  });
});
