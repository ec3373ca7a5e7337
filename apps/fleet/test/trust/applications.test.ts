// What a fleet runs of the applications that a hub shows, with a policy that requires signatures.
import type { Application } from '@svc/contract';
import { anApplication } from '../an-application.ts';
import { startApplicationWorld } from '../applications/world.ts';
import { aPublisher, keyringOf, signedApplicationBy } from './signed.ts';

const fleet = await startApplicationWorld();
const { operator, admin, client, hub } = fleet;
const acme = await aPublisher(fleet);
const part = (name: string, given: object = {}) => ({ name, image_name: `team/${name}`, image_tag: '1', ...given });
const withParts = (parts: readonly object[]): Application =>
  anApplication({
    name: 'Wiki',
    id: '0190c5a0-0000-7000-8000-00000000a111',
    inputs: [{ name: 'title', label: '', type: 'text', choices: [], required: false, default: 'Pages' }],
    parts: parts as Application['parts'], // `anApplication` adds the defaults
  });
const DATABASE = part('database');
const WEB = part('web', { env: [{ name: 'TITLE', value: `\${inputs.title}` }] });
const signed = (serial: number, ...parts: readonly object[]) =>
  signedApplicationBy(acme.key, withParts(parts), { serial });

const show = async (shown: Application) => {
  hub.publishApplications(shown);
  await fleet.sync();
};
const create = (given: object = {}) =>
  operator.post('/api/v1/applications', { name: 'notes', application: 'wiki', ...given });
const plan = async (given: object = {}) =>
  (await operator.post('/api/v1/applications/plan', { name: 'planned', application: 'wiki', ...given })).body;
/** Upgrades an application as planned. */
const upgrade = async (id: string) => {
  const upgraded = { application_id: id, upgrade: true };
  const { body } = await operator.post('/api/v1/applications/plan', upgraded);
  return { planned: body, ...(await act(id, 'upgrade', { expected: body.digest })) };
};
const act = (id: string, action: string, body?: object) => operator.post(`/api/v1/applications/${id}/${action}`, body);
const revoke = async () => {
  const keyring = await keyringOf(acme.root, { version: 2, keys: [{ ...acme.key.key, revoked: true }] });
  return admin.put('/api/v1/settings/publishers/acme/keyring', { keyring });
};

beforeEach(async () => {
  await acme.forget();
  await fleet.aMeshHost();
  await acme.trust();
  await acme.policy({ mode: 'require', by_hand: 'refuse' });
  await show(await signed(5, DATABASE, WEB));
});

/** An application that has run. */
async function running(): Promise<string> {
  const { body, status } = await create();
  expect({ status, code: body.code }).toEqual({ status: 201, code: undefined });
  return body.application.id;
}

test('a signed application is planned and created, and the fleet remembers its serial', async () => {
  expect((await plan()).trust).toMatchObject({
    state: 'trusted',
    publisher: 'acme',
    key: acme.key.key.kid,
    serial: 5,
    reason: null,
  });
  expect(await client.trustMemory.count()).toBe(0);
  await running();
  expect(await client.trustMemory.findMany()).toMatchObject([
    { slug: 'application/wiki', publisher: 'acme', serial: 5n },
  ]);
  await show(await signed(4, DATABASE, part('web', { image_tag: '0' })));
  expect((await plan()).trust).toMatchObject({ state: 'untrusted', reason: 'rollback' });
  const refused = await create({ name: 'other' });
  expect([refused.status, refused.body.code, refused.body.errors]).toEqual([
    422,
    'template_untrusted',
    [
      {
        path: 'application',
        message: expect.stringMatching(/^is not trusted \(rollback\): A later revision of the application/),
      },
    ],
  ]);
});

test('a refusal is about the part that the publisher has not signed', async () => {
  const good = await signed(6, DATABASE, WEB);
  await show({ ...good, parts: withParts([DATABASE, part('web', { image_name: 'someone/miner' })]).parts });
  const { body } = await create();
  expect(body.errors).toEqual([
    { path: 'parts.web.application', message: expect.stringContaining('is not trusted (content_changed)') },
  ]);
  expect(await client.deployment.count()).toBe(0);
});

test('an upgrade is verified and compared with the serial before, and a rollback to what has run is not refused', async () => {
  const id = await running();
  await show(await signed(6, DATABASE, part('web', { image_tag: '2' })));
  const { status, planned } = await upgrade(id);
  expect([status, planned.trust]).toEqual([200, expect.objectContaining({ state: 'trusted', serial: 6 })]);
  await show(await signed(5, DATABASE, WEB));
  const older = await upgrade(id);
  expect([older.status, older.body.code]).toEqual([422, 'template_untrusted']);
  await revoke();
  expect((await act(id, 'rollback', { generation: 1 })).status).toBe(200);
});

test('a failure of trust stops nothing that runs, and refuses what begins to run', async () => {
  const id = await running();
  const stopped = await create({ name: 'stopped', desired_state: 'stopped', target: { host_id: await hostId() } });
  expect(stopped.status).toBe(201);
  await revoke();
  for (const action of ['stop', 'start', 'restart'])
    expect([action, (await act(id, action)).status]).toEqual([action, 200]);
  const { body, status } = await operator.put(`/api/v1/applications/${id}`, { inputs: { title: 'Other' } });
  expect({ status, code: body.code }).toEqual({ status: 200, code: undefined });
  const first = await act(stopped.body.application.id, 'start');
  expect([first.status, first.body.errors?.[0].message]).toEqual([422, expect.stringContaining('key_revoked')]);
  const again = await upgrade(id);
  expect([again.status, again.body.code]).toEqual([422, 'template_untrusted']);
});

const hostId = async () => (await client.host.findFirstOrThrow()).id;

test('specifications of requests are made by hand, also those of a signed application that is changed', async () => {
  const spec = { parts: [part('web')] };
  const inline = await create({ application: undefined, spec });
  expect([inline.status, inline.body.code]).toEqual([422, 'by_hand_refused']);
  expect(inline.body.errors[0].message).toContain('must be deployed from an application of the catalog');
  const id = await running();
  const { body: own } = await operator.get(`/api/v1/applications/${id}/spec`);
  const same = await operator.put(`/api/v1/applications/${id}`, { spec: own.spec, inputs: { title: 'Other' } });
  expect({ status: same.status, code: same.body.code }).toEqual({ status: 200, code: undefined });
  const changed = await operator.put(`/api/v1/applications/${id}`, {
    spec: { ...own.spec, generated: [{ name: 'more' }] },
  });
  expect([changed.status, changed.body.code]).toEqual([422, 'by_hand_refused']);
  await acme.policy({ mode: 'require', by_hand: 'allow' });
  expect((await create({ name: 'by-hand', application: undefined, spec })).status).toBe(201);
});

test('the adoption of deployments by an application is verified', async () => {
  await acme.policy({ mode: 'off' });
  const deployed = await operator.post('/api/v1/deployments', {
    name: 'old',
    spec: { image_name: 'team/web', image_tag: '1' },
  });
  expect(deployed.status).toBe(201);
  await acme.policy({ mode: 'require' });
  await show(await signed(6, part('web')));
  await revoke();
  const adopting = { adopt: { web: 'old' } };
  expect((await plan(adopting)).refusals).toMatchObject([{ part: null, code: 'template_untrusted' }]);
  expect((await create(adopting)).status).toBe(422);
  await acme.policy({ mode: 'warn' });
  expect((await create(adopting)).status).toBe(201);
});

test('an application that the policy refuses is placed where the policy does not apply', async () => {
  await acme.policy({ mode: 'require', targets: { zone: 'production' } });
  await show({ ...(await signed(6, DATABASE, WEB)), signatures: [] });
  await client.host.deleteMany();
  const labels = { zone: 'production' };
  await fleet.aMeshHost({ labels, cpus: 4 });
  expect((await create()).body.code).toBe('template_untrusted');
  const other = await fleet.aMeshHost({ cpus: 16, addresses: { mesh: '10.1.2.4' } });
  await fleet.aMeshHost({ labels, cpus: 64, addresses: { mesh: '10.1.2.5' } });
  const { status, body } = await create();
  expect([status, body.application?.target.host_id]).toEqual([201, other.id]);
});

test('a policy that warns refuses nothing, and states who signed what', async () => {
  await acme.policy({ mode: 'warn' });
  await show({ ...(await signed(6, DATABASE, WEB)), signatures: [] });
  const planned = await plan();
  expect([planned.ok, planned.trust.state, planned.trust.reason]).toEqual([true, 'untrusted', 'unsigned']);
  expect(planned.trust.message).toContain('The application has no signatures.');
  expect((await create()).status).toBe(201);
});

test('a dry run counts applications of the catalog, and judges deployments of parts by their application', async () => {
  await running();
  const dryRun = async () =>
    (await admin.post('/api/v1/settings/trust/plan', { mode: 'require', by_hand: 'refuse' })).body;
  expect(await dryRun()).toMatchObject({
    applications: { total: 1, refused: 0 },
    deployments: { total: 2, refused: 0 },
    refusals: [],
  });
  await revoke();
  expect(await dryRun()).toMatchObject({
    applications: { total: 1, refused: 1 },
    deployments: { total: 2, refused: 2 },
    reasons: [{ reason: 'key_revoked', templates: 0, applications: 1, deployments: 2 }],
    refusals: [
      { kind: 'application', name: 'wiki', reason: 'key_revoked' },
      { kind: 'deployment', name: 'notes-database' },
      { kind: 'deployment', name: 'notes-web' },
    ],
  });
});

test('another publisher of an application is accepted when an admin assigns its slug', async () => {
  await running();
  await client.$executeRaw`UPDATE trust_slugs SET publisher = 'zeta'`;
  await show(await signed(6, DATABASE, WEB));
  expect((await plan()).trust.reason).toBe('publisher_changed');
  const assigned = await admin.put('/api/v1/settings/trust/slugs/wiki', { publisher: 'acme', kind: 'application' });
  expect(assigned.status).toBe(200);
  expect((await plan()).trust.reason).toBeNull();
});

test('a list of the catalog contains no signatures in its summary', async () => {
  const { body } = await operator.get('/api/v1/catalog/applications?view=summary');
  expect(body.applications).toMatchObject([{ slug: 'wiki', signatures: [], parts: [] }]);
});
