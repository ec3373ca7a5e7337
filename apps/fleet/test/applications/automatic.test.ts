// Passes of the search for automatic upgrades of applications; workers observe a simulated engine.
import { continueApplication } from '../../src/reconciler/applications.ts';
import { updateAutomatically } from '../../src/reconciler/updates/automatic.ts';
import { workerContextOf } from '../deployments/updates/passes.ts';
import { type Body, reasonsOf } from '../deployments/world.ts';
import { catalogApplication } from './catalog.ts';
import { startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;
const worker = workerContextOf(fleet);
const search = () => updateAutomatically({ ...worker, updateConcurrency: 2 }, new AbortController().signal);

const generated = [{ name: 'password' }, { name: 'admin_key' }];
const inputs = [{ name: 'mail_password', type: 'secret', required: false }];
const database = {
  name: 'database',
  image_name: 'team/database',
  image_tag: '1',
  ports: [{ containerPort: 5432 }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
  env: [
    { name: 'PASSWORD', value: `\${generated.password}` },
    { name: 'ADMIN_KEY', value: `\${generated.admin_key}` },
  ],
};
const web = {
  name: 'web',
  image_name: 'team/web',
  image_tag: '1',
  needs: [{ part: 'database', until: 'ready' }],
  ports: [{ containerPort: 80, publish: true }, { containerPort: 9000 }],
  env: [{ name: 'PASSWORD', value: `\${generated.password}` }],
};
const extra = { name: 'worker', image_name: 'team/worker' };
const catalog = catalogApplication('wiki', { version: '1.0', inputs, generated, parts: [web, database] }).rows;

/** Publishes a version of the application of the catalog. */
const publish = (given: object = {}) =>
  client.catalogApplication.update({
    where: { id: catalog.id },
    data: { document: { ...catalog.document, ...given } },
  });
const publishNext = (given: object = {}, parts: object[] = [{ ...web, image_tag: '2', ...given }, database]) =>
  publish({ version: '2.0', parts });

beforeEach(async () => {
  await client.catalogApplication.deleteMany();
  await client.catalogApplication.create({ data: catalog });
  await fleet.aMeshHost();
});

const automatic = { from: 'application', ready_seconds: 0 };
const settle = async (id: string, ...parts: string[]) => {
  for (const part of parts) await fleet.proven(id, part);
  await continueApplication(worker, id);
};
/** An application whose generation is good, and that is upgraded automatically. */
async function running(given: Body = {}): Promise<string> {
  const { application } = await fleet.created({
    name: 'notes',
    application: 'wiki',
    spec: undefined,
    updates: automatic,
    ...given,
  });
  const { id }: { id: string } = application;
  await settle(id, 'database', 'web');
  return id;
}
const generationOf = async (id: string) => (await fleet.application(id)).generation;
const heldOf = async (id: string) => (await fleet.application(id)).update?.held;
const put = (id: string, body: Body) => operator.put(`/api/v1/applications/${id}`, body);
const entriesOf = (id: string) =>
  client.auditEntry.findMany({ where: { actor: 'fleet', path: `/api/v1/applications/${id}/upgrade` } });

test('an application is upgraded automatically, as a whole, only if its policy says so', async () => {
  const manual = await running({ name: 'manual', updates: { ready_seconds: 0 } });
  const id = await running();
  await search();
  expect(await generationOf(id)).toBe(1);
  await publishNext({}, [
    { ...web, image_tag: '2' },
    { ...database, image_tag: '2' },
  ]);
  await search();
  expect(await fleet.application(manual)).toMatchObject({
    generation: 1,
    updates: { from: 'manual', window: null, ready_seconds: 0, deadline_seconds: 1800 },
    update: { to_version: '2.0', held: null },
  });
  expect(await fleet.application(id)).toMatchObject({ generation: 2, application_state: 'current', update: null });
  expect((await fleet.application(id)).parts.map(({ image }: Body) => image)).toEqual([
    'docker.io/team/database:2',
    'docker.io/team/web:2',
  ]);
  const { body } = await operator.get(`/api/v1/applications/${id}/events`);
  const events = body.events.filter(({ part }: Body) => part === null);
  expect(events[0]).toMatchObject({ actor: 'fleet', message: 'upgraded to version 2.0 of wiki automatically' });
  expect(await entriesOf(id)).toMatchObject([{ method: 'POST', status: 200, object_name: 'notes' }]);
  await settle(id, 'database', 'web');
  await search();
  expect(await generationOf(id)).toBe(2);
});

test('no more automatic upgrades are in progress than the concurrency allows, with two replicas', async () => {
  const ids = [await running({ name: 'a' }), await running({ name: 'b' }), await running({ name: 'c' })];
  await publishNext();
  await Promise.all([search(), search()]);
  await search();
  const generations = async () => (await Promise.all(ids.map(generationOf))).toSorted();
  expect(await generations()).toEqual([1, 2, 2]);
  const begun = await client.application.findFirstOrThrow({ where: { generation: 2 } });
  await settle(begun.id, 'web');
  await search();
  expect(await generations()).toEqual([2, 2, 2]);
});

const beyond: [string, object, string][] = [
  ['another image name', { image_name: 'team/other' }, 'OtherImageName'],
  ['another port', { ports: [...web.ports, { containerPort: 22 }] }, 'NewPort'],
  ['a published port', { ports: web.ports.map((port) => ({ ...port, publish: true })) }, 'NewPort'],
  ['another volume', { volume_mounts: [{ name: 'data', mountPath: '/data' }] }, 'NewVolume'],
  ['a generated value that another part has', { env: database.env }, 'NewSecret'],
  ['another secret', { env: [{ name: 'MAIL', value: `\${inputs.mail_password}` }] }, 'NewSecret'],
  ['another user', { run_as: '0' }, 'MorePermissions'],
  ['more memory than any host has', { memory_request: '9000Gi' }, 'NoPlacement'],
];

test('an automatic upgrade that a person must decide is held, and changes nothing', async () => {
  await fleet.aSecret('smtp', { password: 'confidential' });
  const id = await running({ inputs: { mail_password: { secret: 'smtp', key: 'password' } } });
  const expectHeld = async (reason: string) => {
    await search();
    expect(await heldOf(id)).toMatchObject({ reason, message: expect.any(String), at: expect.any(String) });
    expect(await fleet.application(id)).toMatchObject({ generation: 1, outcome: 'good' });
  };
  for (const [, given, reason] of beyond) {
    await publishNext(given);
    await expectHeld(reason);
  }
  await publishNext({}, [web, database, extra]);
  await expectHeld('OtherParts');
  await publishNext({}, [{ ...web, needs: [] }]);
  await expectHeld('OtherParts');
  await publish({
    version: '2.0',
    inputs: [...inputs, { name: 'host', required: true }],
    parts: [{ ...web, image_tag: '2' }, database],
  });
  await expectHeld('NewInput');
  expect(await entriesOf(id)).toEqual([]);
  const named = async (update: string) =>
    (await operator.get(`/api/v1/applications?update=${update}`)).body.applications.map(({ name }: Body) => name);
  expect([await named('held'), await named('available')]).toEqual([['notes'], []]);
  await publish({
    version: '2.0',
    status: 'blocked',
    status_message: 'It is harmful.',
    parts: [{ ...web, image_tag: '2' }, database],
  });
  await search();
  expect(await heldOf(id)).toMatchObject({ reason: 'ApplicationBlocked' });
  await publishNext();
  await search();
  expect(await generationOf(id)).toBe(2);
});

test('a version that failed and returned is not tried again, nor a newer one until a person changes the application', async () => {
  const id = await running();
  await publishNext();
  await search();
  await fleet.fails(id, 'web');
  await continueApplication(worker, id);
  expect(await fleet.application(id)).toMatchObject({ generation: 3, failed_generation: 2 });
  await settle(id, 'database', 'web');
  await search();
  expect(await heldOf(id)).toMatchObject({
    reason: 'Failed',
    generation: 2,
    message: expect.stringContaining('web: ImageNotFound'),
  });
  await publishNext({ image_tag: '3' });
  await search();
  expect(await generationOf(id)).toBe(3);
  expect(await heldOf(id)).toMatchObject({ reason: 'Returned', generation: null });
  await operator.post(`/api/v1/applications/${id}/restart`);
  await settle(id, 'database', 'web');
  await search();
  expect(await generationOf(id)).toBe(5);
  await operator.post(`/api/v1/applications/${id}/rollback`, { generation: 4 });
  await settle(id, 'web');
  await search();
  expect(await heldOf(id)).toMatchObject({ reason: 'RolledBack' });
});

test('an application that does not run as desired, and one outside of its window, are not upgraded', async () => {
  const time = (at: number) => new Date(at).toISOString().slice(11, 16);
  const start = Date.now() + 3 * 3_600_000;
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  const window = { days, start: time(start), end: time(start + 3_600_000), time_zone: 'UTC' };
  const closed = await running({ updates: { ...automatic, window } });
  const stopped = await running({ name: 'stopped' });
  await operator.post(`/api/v1/applications/${stopped}/stop`);
  const { application } = await fleet.created({
    name: 'pending',
    application: 'wiki',
    spec: undefined,
    updates: automatic,
  });
  await publishNext();
  await search();
  const generations = () => Promise.all([closed, stopped, application.id].map(generationOf));
  expect(await generations()).toEqual([1, 2, 1]);
  await put(closed, { updates: { window: null } });
  await search();
  expect(await generations()).toEqual([2, 2, 1]);
});

test('the policy changes parts without a new generation, new parts have it, and bad policies are refused', async () => {
  const id = await running();
  const { body } = await put(id, { updates: { ready_seconds: 5, deadline_seconds: 60 } });
  expect(body.application).toMatchObject({
    generation: 1,
    updates: { from: 'application', ready_seconds: 5, deadline_seconds: 60 },
  });
  const policies = async () =>
    (await client.deployment.findMany({ orderBy: { part: 'asc' } })).map(({ updates }) => updates);
  const ofPart = expect.objectContaining({
    from: 'manual',
    on_failure: 'stop',
    ready_seconds: 5,
    deadline_seconds: 60,
  });
  expect(await policies()).toEqual([ofPart, ofPart]);
  await put(id, { spec: { inputs, generated, parts: [web, database, extra] } });
  expect(await policies()).toEqual([ofPart, ofPart, ofPart]);
  const refused = await put(id, { updates: { deadline_seconds: 10, ready_seconds: 10 } });
  expect(reasonsOf(refused)).toEqual([
    { path: 'updates.deadline_seconds', message: expect.stringContaining('more than the 10') },
  ]);
  expect((await put(id, { updates: { from: 'image' } })).status).toBe(400);
});
