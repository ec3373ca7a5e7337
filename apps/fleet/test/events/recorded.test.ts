// Each change of a state for the worse has one event and one line in the log, and so has its end,
// whichever replica finds it.
import { createServer } from 'node:http';
import type { Log } from '@svc/http';
import { recordFailure, recordRecovery } from '../../src/catalog/sync-state.ts';
import type { Observation } from '../../src/engines/observation.ts';
import { logEvents, pruneEvents, type RecordedEvent } from '../../src/events/record.ts';
import { checkTarget } from '../../src/reconciler/checks/checks.ts';
import { readDesired } from '../../src/reconciler/desired.ts';
import { claimDue } from '../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../src/reconciler/timings.ts';
import { writeFailed, writeObserved } from '../../src/reconciler/write.ts';
import { listenFor } from '../changes/client.ts';
import { startDeploymentWorld } from '../deployments/world.ts';
import { anEngine, endAll, serve } from '../engines/servers.ts';

const deploymentWorld = await startDeploymentWorld();
const { client, world } = deploymentWorld;
const { database, sealer } = world;

beforeEach(async () => {
  await client.event.deleteMany();
  lines.length = 0;
});
afterEach(endAll);

/** The lines that both replicas wrote, as `<level> <reason> <name>`. */
const lines: string[] = [];
const log = {
  warn: ({ reason, name }: RecordedEvent) => lines.push(`warn ${reason} ${name}`),
  info: ({ reason, name }: RecordedEvent) => lines.push(`info ${reason} ${name}`),
} as unknown as Log;

/** The events from the API, the oldest first, as `<severity> <reason> <name>`. */
async function events(path = 'events?sort=at'): Promise<string[]> {
  const { status, body } = await deploymentWorld.viewer.get(`/api/v1/${path}`);
  expect(status).toBe(200);
  return body.events.map((event: RecordedEvent) => `${event.severity} ${event.reason} ${event.name}`);
}

const checkOf = (kind: 'host' | 'cluster', id: string) => async () => {
  const { hosts, clusters } = world.services.engineRuntime;
  const context = { database, hosts, clusters, log, timings };
  if (kind === 'host') {
    const row = await client.host.findUniqueOrThrow({ where: { id } });
    return checkTarget(context, { kind, row });
  }
  const row = await client.cluster.findUniqueOrThrow({ where: { id } });
  return checkTarget(context, { kind, row });
};

/** An address at which nothing listens. */
async function aClosedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

test('a host that two replicas find unreachable, and then reachable, has two events and two lines', async () => {
  const host = await deploymentWorld.aHost({ endpoint: `tcp://${await aClosedAddress()}` });
  const check = checkOf('host', host.id);
  await Promise.all([check(), check()]);
  await check();
  expect(lines).toEqual([`warn Unreachable ${host.name}`]);
  expect(await events()).toEqual([`warning Unreachable ${host.name}`]);
  expect(await events('events?resolved=false')).toHaveLength(1);

  const endpoint = await serve(
    anEngine((req, res) => {
      const { pathname } = new URL(req.url ?? '', 'http://engine');
      const answers: Record<string, unknown> = {
        '/v1.47/version': { Version: '27.0.0', Arch: 'amd64' },
        '/v1.47/info': { NCPU: 8, MemTotal: 2 ** 35, ID: 'AAAA', ServerVersion: '27.0.0' },
        '/v1.47/containers/json': [],
        '/v1.47/volumes': { Volumes: [] },
      };
      res.end(JSON.stringify(answers[pathname]));
    }),
  );
  await client.host.update({ where: { id: host.id }, data: { endpoint } });
  await Promise.all([check(), check()]);
  await check();
  const both = [`Unreachable ${host.name}`, `Recovered ${host.name}`];
  expect(lines).toEqual([`warn ${both[0]}`, `info ${both[1]}`]);
  expect(await events()).toEqual([`warning ${both[0]}`, `normal ${both[1]}`]);
  expect(await events(`hosts/${host.id}/events?sort=at`)).toEqual(await events());
  expect(await events('events?resolved=false')).toEqual([]);
});

test('a cluster that becomes unreachable has one event', async () => {
  const { id, name } = await deploymentWorld.aCluster();
  const check = checkOf('cluster', id); // its stored credentials cannot be opened
  await check().catch(() => undefined);
  await check().catch(() => undefined);
  expect(await events(`clusters/${id}/events`)).toEqual([`warning Unreachable ${name}`]);
  expect(lines.filter((line) => line.includes(name))).toEqual([`warn Unreachable ${name}`]);
});

const observation = (given: Partial<Observation>): Observation => ({
  phase: 'running',
  reason: null,
  message: 'It is as it is.',
  next: 'settled',
  actions: [],
  instances: [],
  endpoints: [],
  volumes: [],
  ...given,
});

const PROCESS = { instance: 'web-0', id: 'c1', body: 'b1', startedAt: 0, restarts: 0 };

/** A service whose process has ended. */
const CRASHED = {
  phase: 'degraded',
  reason: 'CrashLoop',
  next: 'retry',
  instances: [{ name: 'web-0', phase: 'crashed', message: 'has crashed', restarts: 0 }],
  processes: [{ ...PROCESS, failure: { exitCode: 3, reason: 'CrashLoop', startedAt: 0 }, restart: { by: 'fleet' } }],
} as const satisfies Partial<Observation>;

/** The next attempt of a crash loop. */
const attemptAt = (startedAt: number): Partial<Observation> => ({
  phase: 'starting',
  next: 'soon',
  instances: [{ name: 'web-0', phase: 'starting', message: 'has just started', restarts: 0 }],
  processes: [{ ...PROCESS, startedAt, stableInMs: 100_000 }],
});

/** A deployment, and passes that observe or fail as given. */
async function aDeployment() {
  await deploymentWorld.aHost();
  const { id, name } = await deploymentWorld.deployed();
  const pass = async (given: Partial<Observation> | { readonly failure: string }) => {
    await client.deployment.update({ where: { id }, data: { due_at: new Date(0) } });
    const [claim] = await claimDue(database, { lease: timings.lease, limit: 1 }, new AbortController().signal);
    if (!claim) throw new Error('nothing is due');
    const desired = await readDesired(database, sealer, claim);
    if (!desired) throw new Error('the lease was lost');
    claim.release();
    const failed = { failure: { reason: 'failure' in given ? given.failure : '', message: 'It failed.' }, timings };
    if ('failure' in given) return logEvents(log, await writeFailed(database, claim, failed));
    return logEvents(log, await writeObserved(database, claim, { ...desired, observed: observation(given), timings }));
  };
  return { id, name, pass };
}

test.each([
  ['a crash loop', [CRASHED, attemptAt(1)], 'CrashLoop'],
  [
    'an image that cannot be pulled',
    [{ phase: 'retrying', reason: 'ImagePullFailed', next: 'retry' }],
    'ImagePullFailed',
  ],
  ['instances that are not up', [{ phase: 'degraded' }], 'Degraded'],
  ['a failure', [{ phase: 'failed', reason: 'InvalidSpec' }], 'InvalidSpec'],
  ['a request that fails', [{ failure: 'NameConflict' }], 'NameConflict'],
] as const)('%s that repeats has one event, and one more when the deployment runs', async (_, faults, reason) => {
  const { name, pass } = await aDeployment();
  await pass({ phase: 'starting', next: 'soon' });
  expect(await events()).toEqual([]);
  for (const fault of [...faults, ...faults, ...faults]) await pass(fault);
  expect(lines).toEqual([`warn ${reason} ${name}`]);
  await pass({ phase: 'running' });
  await pass({ phase: 'running' });
  expect(lines).toEqual([`warn ${reason} ${name}`, `info Recovered ${name}`]);
  expect(await events()).toEqual([`warning ${reason} ${name}`, `normal Recovered ${name}`]);
  await pass({ phase: 'failed', reason: 'JobFailed' });
  expect(await events('events?resolved=false')).toEqual([`warning JobFailed ${name}`]);
});

test('a crash loop is one state in the API, from its first failure until the process is stable', async () => {
  const { id, name, pass } = await aDeployment();
  const { viewer } = deploymentWorld;
  const shown = async () => (await viewer.get(`/api/v1/deployments/${id}`)).body.deployment;
  await pass({ phase: 'starting', next: 'soon' });
  expect((await shown()).crash_loop).toBeNull();
  await pass(CRASHED);
  const failed = await shown();
  const loop = { instance: 'web-0', exit_code: 3, reason: 'CrashLoop', since: expect.any(String) };
  const failed_start_at = new Date(0).toISOString();
  expect(failed).toMatchObject({ phase: 'degraded', reason: 'CrashLoop' });
  expect(failed.crash_loop).toEqual({ ...loop, attempt: 1, next_try_at: expect.any(String), failed_start_at });
  await pass(attemptAt(1));
  const attempt = await shown();
  expect(attempt).toMatchObject({ phase: 'degraded', reason: 'CrashLoop', instances: [{ restarts: 1 }] });
  expect(attempt.crash_loop).toEqual({ ...failed.crash_loop, attempt: 2, next_try_at: null });
  const listed = await viewer.get('/api/v1/deployments?view=summary&phase=degraded&sort=-problem');
  expect(listed.body.deployments).toMatchObject([{ id, crash_loop: attempt.crash_loop }]);
  await pass({ failure: 'EngineError' });
  expect(await shown()).toMatchObject({ phase: 'degraded', crash_loop: attempt.crash_loop });
  // The representation can be sent back as it was read.
  const changed = await deploymentWorld.operator.put(`/api/v1/deployments/${id}`, await shown());
  expect(changed).toMatchObject({ status: 200, body: { deployment: { crash_loop: attempt.crash_loop } } });
  await pass({
    ...attemptAt(1),
    phase: 'running',
    next: 'settled',
    processes: [{ ...PROCESS, startedAt: 1, stableInMs: 0 }],
  });
  expect(await shown()).toMatchObject({
    phase: 'running',
    reason: null,
    crash_loop: null,
    instances: [{ restarts: 1 }],
  });
  const happened = await client.deploymentEvent.findMany({
    where: { deployment_id: id, kind: 'event' },
    orderBy: { id: 'asc' },
  });
  expect(happened.map(({ reason }) => reason)).toEqual(['starting', 'CrashLoop', 'running']);
  expect(await events()).toContain(`normal Recovered ${name}`);
});

test('a deployment with two problems has an event for each, and one when it recovers', async () => {
  const { name, pass } = await aDeployment();
  for (const reason of ['CrashLoop', 'OOMKilled', 'CrashLoop'] as const) await pass({ phase: 'degraded', reason });
  await pass({ phase: 'stopped' });
  const expected = [`warning CrashLoop ${name}`, `warning OOMKilled ${name}`, `normal Recovered ${name}`];
  expect(await events()).toEqual(expected);
  const [recovered] = await client.event.findMany({ where: { severity: 'normal' } });
  expect(recovered?.message).toMatch(/^It recovered after \d+ s: CrashLoop, OOMKilled\.$/);
});

test('a pass that has lost its lease records no event', async () => {
  const { id } = await aDeployment();
  const [claim] = await claimDue(database, { lease: timings.lease, limit: 1 }, new AbortController().signal);
  const desired = claim && (await readDesired(database, sealer, claim));
  if (!claim || !desired) throw new Error('the deployment was not claimed');
  claim.release();
  await client.deployment.update({ where: { id }, data: { lease_owner: id } });
  const observed = observation({ phase: 'failed', reason: 'InvalidSpec' });
  expect(await writeObserved(database, claim, { ...desired, observed, timings })).toEqual([]);
  expect(await client.event.count()).toBe(0);
});

test('the mirror that becomes stale has one event, and one more after the next sync', async () => {
  const owner = crypto.randomUUID();
  await client.$executeRaw`UPDATE catalog_sync SET lease_owner = ${owner}::uuid, stale_since = NULL`;
  const failure = { kind: 'unreachable', reason: 'The hub does not respond.', retryAfter: 0 } as const;
  for (let count = 0; count < 3; count += 1) logEvents(log, (await recordFailure(database, owner, failure)).recorded);
  logEvents(log, await recordRecovery(database));
  expect(lines).toEqual(['warn MirrorStale catalog']);
  await client.$executeRaw`UPDATE catalog_sync SET stale_since = NULL`;
  const replicas = await Promise.all([recordRecovery(database), recordRecovery(database)]);
  for (const recorded of replicas) logEvents(log, recorded);
  expect(lines).toEqual(['warn MirrorStale catalog', 'info Recovered catalog']);
  const { body } = await deploymentWorld.viewer.get('/api/v1/events?kind=catalog&severity=warning&reason=MirrorStale');
  expect(body.events).toMatchObject([{ object_id: null, message: failure.reason, resolved_at: expect.any(String) }]);
});

test('the problems of a deleted deployment are resolved without a recovery', async () => {
  const { id, pass } = await aDeployment();
  await pass({ phase: 'failed', reason: 'InvalidSpec' });
  await client.deployment.delete({ where: { id } });
  expect(await events('events?resolved=false')).toEqual([]);
  expect(await client.event.count()).toBe(1);
});

test('events are filtered by object, time, severity and reason, and paged by time', async () => {
  const one = await deploymentWorld.aHost();
  const other = await deploymentWorld.aHost();
  const eventOf = (host: typeof one, reason: string, minute: number) => ({
    id: crypto.randomUUID(),
    kind: 'hosts',
    object_id: host.id,
    name: host.name,
    severity: 'warning',
    reason,
    message: '',
    at: new Date(Date.UTC(2026, 0, 1, 0, minute)),
  });
  await client.event.createMany({ data: [eventOf(one, 'A', 1), eventOf(one, 'B', 2), eventOf(other, 'A', 3)] });
  const a = (host: typeof one) => `warning A ${host.name}`;
  const b = `warning B ${one.name}`;
  expect(await events('events')).toEqual([a(other), b, a(one)]);
  expect(await events('events?limit=1&page=2')).toEqual([b]);
  expect(await events(`events?id=${one.id}`)).toEqual([b, a(one)]);
  expect(await events('events?reason=B,C')).toEqual([b]);
  expect(await events('events?since=2026-01-01T00:02:00Z')).toEqual([a(other), b]);
  expect(await events('events?kind=clusters')).toEqual([]);
  expect(await events('events?severity=normal')).toEqual([]);
  expect(await events(`hosts/${other.id}/events`)).toEqual([a(other)]);
  expect((await deploymentWorld.viewer.get(`/api/v1/hosts/${crypto.randomUUID()}/events`)).status).toBe(404);
});

test('an event is delivered by the stream of changes, again when it is resolved', async () => {
  const fleet = await listenFor(world.aReplica().app);
  const watch = await fleet.watch((await world.aToken()).secret, 'kinds=events');
  const { pass } = await aDeployment();
  await pass({ phase: 'failed', reason: 'InvalidSpec' });
  await pass({ phase: 'running' });
  const [warning, normal] = await client.event.findMany({ orderBy: { seq: 'asc' } });
  await watch.ofObject(normal?.id ?? '');
  const resolved = watch.changes.findLast(({ data }) => data?.id === warning?.id);
  expect(resolved?.data?.object).toMatchObject({ reason: 'InvalidSpec', resolved_at: expect.any(String) });
  watch.end();
  await fleet.close();
});

test('deployments are listed by the reachability of their target', async () => {
  const host = await deploymentWorld.aHost();
  const { id } = await deploymentWorld.deployed();
  const found = async (reachability: string) =>
    (await deploymentWorld.viewer.get(`/api/v1/deployments?reachability=${reachability}`)).body.deployments.map(
      (deployment: { id: string }) => deployment.id,
    );
  expect(await found('online,unknown')).toEqual([id]);
  await client.host.update({ where: { id: host.id }, data: { reachability: 'unreachable' } });
  expect(await found('unreachable')).toEqual([id]);
  expect(await found('online')).toEqual([]);
});

test('events beyond the bounds are deleted, but no warning that lasts', async () => {
  const host = await deploymentWorld.aHost();
  const old = { at: new Date(Date.now() - 91 * 86_400_000) };
  const anEvent = (given: object) => ({
    id: crypto.randomUUID(),
    kind: 'hosts',
    object_id: host.id,
    name: host.name,
    severity: 'normal',
    reason: 'Recovered',
    message: '',
    ...given,
  });
  const lasting = { severity: 'warning', reason: 'Unreachable' };
  const data = [anEvent(old), anEvent({ ...old, ...lasting }), ...Array.from({ length: 5 }, () => anEvent({}))];
  await client.event.createMany({ data });
  const never = new AbortController().signal;
  expect(await pruneEvents(database, never)).toBe(1);
  expect(await pruneEvents(database, never, { maxRows: 3 })).toBe(2);
  expect(await events('events?reason=Unreachable')).toHaveLength(1);
});

test('events beyond the bounds are deleted also if a whole batch of older warnings lasts', async () => {
  const at = new Date(Date.now() - 91 * 86_400_000);
  const anEvent = (severity: 'normal' | 'warning') => ({
    id: crypto.randomUUID(),
    at,
    kind: 'hosts',
    object_id: crypto.randomUUID(),
    name: 'machine',
    severity,
    reason: 'Unreachable',
    message: '',
  });
  await client.event.deleteMany();
  await client.event.createMany({ data: (['warning', 'warning', 'warning', 'normal'] as const).map(anEvent) });
  expect(await pruneEvents(database, new AbortController().signal, { batch: 2 })).toBe(1);
  expect(await client.event.count()).toBe(3);
});
