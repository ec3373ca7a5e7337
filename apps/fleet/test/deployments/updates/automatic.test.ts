// Passes of the search for automatic updates; workers observe a simulated engine.
import type { Template } from '@svc/contract';
import { readDesired } from '../../../src/reconciler/desired.ts';
import { returnToGood } from '../../../src/reconciler/rollout/restore.ts';
import { updateAutomatically } from '../../../src/reconciler/updates/automatic.ts';
import { aPlainTemplate, namesIn, withTemplate } from '../templates/advised.ts';
import { type Body, reasonsOf, startDeploymentWorld } from '../world.ts';
import { observed, passesOf, workerContextOf } from './passes.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const { publish, withdraw, reset, deployed } = withTemplate(
  fleet,
  aPlainTemplate({ ports: [{ containerPort: 80, protocol: 'TCP' }] }),
);
const { claimOf, pass } = passesOf(fleet);

beforeEach(async () => {
  reset();
  await fleet.aHost();
  await publish();
});

const context = { ...workerContextOf(fleet), updateConcurrency: 2 };
const search = () => updateAutomatically(context, new AbortController().signal);

const automatic = { from: 'template', ready_seconds: 0 };

/** A deployment that runs, and is updated automatically. */
async function running(given: Body = {}): Promise<string> {
  const { id } = await deployed({ updates: automatic, ...given });
  await pass(id, observed());
  await pass(id, observed());
  return id;
}
const publishNext = (changes: Partial<Template> = {}) => publish({ version: '1.1.0', image_tag: '19', ...changes });
const generationOf = async (id: string) => (await fleet.deployment(id)).generation;
const entriesOf = (id: string) =>
  client.auditEntry.findMany({ where: { actor: 'fleet', path: `/api/v1/deployments/${id}/upgrade` } });
const heldOf = async (id: string) => (await fleet.deployment(id)).update?.held;

test('a deployment is updated automatically only if its policy says so', async () => {
  const manual = await running({ updates: { ready_seconds: 0 } });
  const id = await running({ name: 'tool' });
  await search();
  expect(await generationOf(id)).toBe(1);
  await publishNext();
  await search();
  expect(await fleet.deployment(manual)).toMatchObject({ generation: 1, updates: { from: 'manual', window: null } });
  expect(await fleet.deployment(id)).toMatchObject({ generation: 2, template_state: 'current', update: null });
  const [event] = await fleet.events(id);
  expect(event).toMatchObject({
    reason: 'upgrade',
    actor: 'fleet',
    message: 'updated to the present template automatically',
  });
  expect(await entriesOf(id)).toMatchObject([{ method: 'POST', status: 200, object_name: 'tool' }]);
  await search();
  expect(await generationOf(id)).toBe(2);
});

test('no more automatic rollouts are in progress than the concurrency allows, with two replicas', async () => {
  const ids = [await running(), await running(), await running()];
  await publishNext();
  await Promise.all([search(), search()]);
  await search();
  const generations = async () => (await Promise.all(ids.map(generationOf))).toSorted();
  expect(await generations()).toEqual([1, 2, 2]);
  const [begun = ''] = (await client.deployment.findMany({ where: { generation: 2 } })).map(({ id }) => id);
  await pass(begun, observed());
  await pass(begun, observed());
  await Promise.all([search(), search()]);
  expect(await generations()).toEqual([2, 2, 2]);
});

const beyond: [string, Partial<Template>, string][] = [
  ['another image name', { image_name: 'library/other' }, 'OtherImageName'],
  ['another registry', { registry_url: 'registry.example.com' }, 'OtherImageName'],
  ['another secret', { secret_refs: [{ name: 'password', env: 'PASSWORD' }] }, 'NewSecret'],
  ['another pull secret', { registry_credentials: 'pull-secret' }, 'NewSecret'],
  [
    'another port',
    {
      ports: [
        { containerPort: 80, protocol: 'TCP' },
        { containerPort: 22, protocol: 'TCP' },
      ],
    },
    'NewPort',
  ],
  ['another protocol', { ports: [{ containerPort: 80, protocol: 'UDP' }] }, 'NewPort'],
  ['another network', { required_network_types: ['public'] }, 'OtherNetworks'],
  ['a volume', { volume_mounts: [{ name: 'data', mountPath: '/data' }] }, 'NewVolume'],
  ['a token for the API of the cluster', { service_account_token: true }, 'MorePermissions'],
  ['another user', { run_as: '0' }, 'MorePermissions'],
  ['more memory than any host has', { memory_request: '9000Gi' }, 'NoPlacement'],
  [
    'a new required variable',
    { env_schema: [{ name: 'TOKEN', required: true, default_value: '', description: '' }] },
    'InvalidEnv',
  ],
];

test.each(beyond)('an automatic update with %s is held, and changes nothing', async (_title, changes, reason) => {
  const id = await running({ name: 'tool' });
  await publishNext(changes);
  const before = await client.workloadRevision.count();
  await search();
  expect(await generationOf(id)).toBe(1);
  expect(await client.workloadRevision.count()).toBe(before);
  expect(await heldOf(id)).toMatchObject({
    reason,
    message: expect.any(String),
    at: expect.any(String),
    generation: null,
  });
  expect(await namesIn(fleet, 'deployments', 'update=held')).toEqual(['tool']);
  expect(await entriesOf(id)).toEqual([]);
  await fleet.change(id, { updates: { from: 'manual' } });
  expect(await heldOf(id)).toBeNull();
});

const closed: Partial<Template> = {
  read_only_root: true,
  volume_mounts: [{ name: 'data', mountPath: '/data', read_only: true }],
};

test.each<[string, Partial<Template>]>([
  ['a mount', { volume_mounts: [{ name: 'data', mountPath: '/data' }] }],
  ['the file system', { read_only_root: false }],
])('an automatic update that makes %s writable is held', async (_title, changes) => {
  await publish(closed);
  const id = await running();
  await publishNext({ ...closed, ...changes });
  await search();
  expect(await generationOf(id)).toBe(1);
  expect(await heldOf(id)).toMatchObject({ reason: 'MorePermissions' });
});

test('a hold ends with the next version of the template', async () => {
  const id = await running();
  await publishNext({ image_name: 'library/other' });
  await search();
  expect(await heldOf(id)).toMatchObject({ reason: 'OtherImageName' });
  await publish({ version: '1.2.0', image_name: aPlainTemplate().image_name, image_tag: '20' });
  expect(await heldOf(id)).toBeNull();
  await search();
  expect(await generationOf(id)).toBe(2);
});

test('a blocked and a withdrawn template update nothing', async () => {
  const id = await running();
  await publishNext({ status: 'blocked', status_message: 'It is harmful.' });
  await search();
  expect(await generationOf(id)).toBe(1);
  await withdraw();
  await search();
  expect(await generationOf(id)).toBe(1);
});

test('a deployment that does not run as desired is not updated', async () => {
  const stopped = await running();
  await fleet.ask(stopped, 'stop');
  const { id: pending } = await deployed({ updates: automatic });
  await publishNext();
  await search();
  expect([await generationOf(stopped), await generationOf(pending)]).toEqual([2, 1]);
});

test('an update that failed and returned is not repeated, also for a newer template, until a person changes the deployment', async () => {
  const id = await running();
  await publishNext();
  await search();
  await pass(
    id,
    observed(
      { phase: 'failed', reason: 'ImageNotFound', message: 'No such image.' },
      { ready: false, phase: 'missing' },
    ),
  );
  const claim = await claimOf(id);
  const desired = await readDesired(world.database, world.sealer, claim);
  if (desired) await returnToGood(context, claim, desired.row);
  await pass(id, observed());
  await pass(id, observed());
  expect(await fleet.deployment(id)).toMatchObject({ generation: 3, rollout: { state: 'rolled_back' } });
  await search();
  expect(await heldOf(id)).toMatchObject({ reason: 'ImageNotFound', generation: 2 });
  await publish({ version: '1.2.0', image_tag: '20' });
  await search();
  expect(await generationOf(id)).toBe(3);
  expect(await heldOf(id)).toMatchObject({ reason: 'Returned' });
  await fleet.ask(id, 'restart');
  await pass(id, observed());
  await pass(id, observed());
  await search();
  expect(await generationOf(id)).toBe(5);
});

/** A window in UTC that begins this many hours after now, and is an hour long. */
const windowIn = (hours: number) => {
  const time = (at: number) => new Date(at).toISOString().slice(11, 16);
  const start = Date.now() + hours * 3_600_000;
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  return { days, start: time(start), end: time(start + 3_600_000), time_zone: 'UTC' };
};

test('an automatic update begins only in its window', async () => {
  const closed = await running({ updates: { ...automatic, window: windowIn(3) } });
  const open = await running({ updates: { ...automatic, window: windowIn(-0.5) } });
  await publishNext();
  await search();
  expect([await generationOf(closed), await generationOf(open)]).toEqual([1, 2]);
  await fleet.change(closed, { updates: { window: null } });
  await search();
  expect(await generationOf(closed)).toBe(2);
});

test('only operators switch automatic updates on, and bad windows are refused with their path', async () => {
  const { id } = await deployed();
  const body = { updates: { from: 'template' } };
  expect((await fleet.viewer.put(`/api/v1/deployments/${id}`, body)).status).toBe(403);
  const window = windowIn(1);
  const refused = await fleet.change(id, {
    updates: { window: { ...window, end: window.start, time_zone: 'Europe/Pariss' } },
  });
  expect(reasonsOf(refused)).toEqual([
    { path: 'updates.window.end', message: 'must not be equal to start' },
    { path: 'updates.window.time_zone', message: 'must be the name of a time zone, such as Europe/Paris' },
  ]);
  expect(reasonsOf(await fleet.change(id, { updates: { window: { ...window, days: [] } } }))).toEqual([
    { path: 'updates.window.days', message: 'must have at least 1 entry' },
  ]);
  expect((await fleet.change(id, { updates: { window: { ...window, start: '24:00' } } })).status).toBe(400);
  expect(await fleet.deployment(id)).toMatchObject({ generation: 1, updates: { from: 'manual', window: null } });
});
