// Overrides: what an operator sets for parts instead of what the specification says.
import { receivedBy } from '../deployments/values/variables.ts';
import type { Body } from '../deployments/world.ts';
import { catalogApplication } from './catalog.ts';
import { GHOST, startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;
beforeEach(() => client.catalogApplication.deleteMany());

const put = (id: string, body: Body) => operator.put(`/api/v1/applications/${id}`, body);
const partIdOf = async (id: string, name: string): Promise<string> => (await fleet.part(id, name)).deployment_id;

const OVERRIDES = {
  web: {
    image_tag: '6.1',
    memory_limit: '1Gi',
    env: { title: 'Ours', TZ: 'Europe/Berlin', database__connection__password: { secret: 'ghost', key: 'password' } },
    host_ports: { '2368/tcp': 8443 },
  },
};

/** A host that opens the port, and the secret that the overrides name. */
async function whatOverridesNeed() {
  await fleet.aMeshHost({ open_ports: ['8443'] });
  await fleet.aSecret('ghost', { password: 'from-the-secret' });
}

test('overrides are in the plan, and a creation that applies it runs them', async () => {
  await whatOverridesNeed();
  const { body: plan } = await fleet.planApplication({ overrides: OVERRIDES });
  expect(plan.refusals).toEqual([]);
  expect(plan.parts.map(({ name, image, overridden }: Body) => [name, image, overridden])).toEqual([
    ['database', 'docker.io/library/mysql:8.4', []],
    [
      'web',
      'docker.io/library/ghost:6.1',
      ['image_tag', 'memory_limit', 'env.title', 'env.TZ', 'env.database__connection__password', 'host_ports.2368/tcp'],
    ],
  ]);
  const { application, generated } = await fleet.created({ overrides: OVERRIDES, expected: plan.digest });
  expect(application.overrides).toEqual(OVERRIDES);
  const id = await partIdOf(application.id, 'web');
  expect(await fleet.deployment(id)).toMatchObject({ host_ports: { '2368/tcp': 8443 } });
  const planned = plan.parts[1].manifest.find(({ kind }: Body) => kind === 'Container').body;
  expect(planned.HostConfig).toMatchObject({ Memory: 2 ** 30 });
  await fleet.runs(application.id, 'database');
  const { env } = await receivedBy(fleet, id);
  expect(env).toMatchObject({
    title: 'Ours',
    TZ: 'Europe/Berlin',
    database__connection__password: 'from-the-secret',
    DATABASE_URL: expect.stringContaining(generated[0].value),
  });
  const other = await fleet.createApplication({ name: 'other', expected: plan.digest });
  expect({ status: other.status, code: other.body.code }).toEqual({ status: 409, code: 'plan_outdated' });
});

test('a change replaces the overrides of a part as a whole, and a rollback restores them', async () => {
  await whatOverridesNeed();
  const { application } = await fleet.created({ overrides: OVERRIDES });
  const { id } = application;
  const web = await partIdOf(id, 'web');
  const kept = await put(id, { overrides: OVERRIDES });
  expect(kept.body.application.generation).toBe(1);
  const { body: plan } = await operator.post('/api/v1/applications/plan', {
    application_id: id,
    overrides: { web: { image_tag: '6.2' } },
  });
  expect(plan.parts.map(({ name, action, overridden }: Body) => [name, action, overridden])).toEqual([
    ['database', 'keep', []],
    ['web', 'change', ['image_tag']],
  ]);
  const changed = await put(id, { overrides: { web: { image_tag: '6.2' } }, expected: plan.digest });
  expect(changed.body.application).toMatchObject({ generation: 2, overrides: { web: { image_tag: '6.2' } } });
  const { host_ports, generation } = await fleet.deployment(web);
  expect({ host_ports, generation }).toEqual({ host_ports: {}, generation: 2 });
  const removed = await put(id, { overrides: { web: {} } });
  expect(removed.body.application).toMatchObject({ generation: 3, overrides: {} });
  expect((await fleet.part(id, 'web')).image).toBe('docker.io/library/ghost:6');
  const restored = await operator.post(`/api/v1/applications/${id}/rollback`, { generation: 1 });
  expect(restored.body.application).toMatchObject({ generation: 4, overrides: OVERRIDES });
  expect(await fleet.deployment(web)).toMatchObject({ host_ports: { '2368/tcp': 8443 } });
  expect((await fleet.part(id, 'web')).image).toBe('docker.io/library/ghost:6.1');
  const { body } = await operator.get(`/api/v1/applications/${id}/generations`);
  expect(body.generations.map(({ overrides }: Body) => overrides)).toEqual([
    OVERRIDES,
    {},
    { web: { image_tag: '6.2' } },
    OVERRIDES,
  ]);
});

test('an upgrade keeps the overrides of a part, also under its new name', async () => {
  await fleet.aMeshHost();
  const { rows, changed } = catalogApplication('wiki');
  await client.catalogApplication.create({ data: rows });
  const overrides = { web: { memory_limit: '1Gi', env: { TZ: 'UTC' } } };
  const { application } = await fleet.created({ spec: undefined, application: 'wiki', overrides });
  const { id } = application;
  const document = { ...changed, parts: [{ ...changed.parts[0], name: 'site', was: 'web' }] };
  await client.catalogApplication.update({ where: { id: rows.id }, data: { document } });
  const { body: plan } = await operator.post('/api/v1/applications/plan', { application_id: id, upgrade: true });
  expect(plan.parts).toMatchObject([{ name: 'site', action: 'change', overridden: ['memory_limit', 'env.TZ'] }]);
  const upgraded = await operator.post(`/api/v1/applications/${id}/upgrade`, { expected: plan.digest });
  expect(upgraded.body.application).toMatchObject({ generation: 2, overrides: { site: overrides.web } });
});

test.each([
  ['an unknown part', { wbe: { image_tag: '7' } }, 'overrides.wbe', 'is not a part of the application'],
  [
    'text for a secret variable',
    { web: { env: { database__connection__password: 'x' } } },
    'overrides.web.env.database__connection__password',
    'must not be text, because the variable is secret',
  ],
  [
    'a value to generate',
    { web: { env: { A: { generate: 32 } } } },
    'overrides.web.env.A',
    'must be a string, {"secret"',
  ],
  ['a registry in a name', { web: { image_name: 'ghcr.io/x' } }, 'overrides.web.image_name', 'the registry'],
  [
    'a variable that gives devices',
    { web: { env: { NVIDIA_VISIBLE_DEVICES: 'all' } } },
    'overrides.web.env.NVIDIA_VISIBLE_DEVICES',
    'must not be set',
  ],
  ['a member to which others refer', { web: { ports: [] } }, 'overrides.web.ports', 'unknown'],
  [
    'more than can be stored',
    { web: { env: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`V${index}`, 'x'.repeat(32_000)])) } },
    'overrides',
    'must have at most 262144 bytes',
  ],
])('%s in overrides is refused with its path', async (_, overrides, path, message) => {
  await fleet.aMeshHost();
  const answer = await fleet.createApplication({ spec: GHOST, overrides });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: 'validation_failed' });
  expect(answer.body.errors).toMatchObject([{ path, message: expect.stringContaining(message) }]);
});

test('overrides that cannot be placed are refused by part, and nothing is stored', async () => {
  await fleet.aMeshHost();
  const overrides = { web: { cpu_request: '1000', host_ports: { '2368/tcp': 8443 } } };
  const answer = await fleet.createApplication({ overrides });
  expect(answer.status).toBe(422);
  const before = await client.deployment.count();
  const port = await fleet.createApplication({ overrides: { web: { host_ports: { '2368/tcp': 8443 } } } });
  expect(port.body.errors).toEqual([{ path: expect.stringContaining('parts.web.'), message: expect.anything() }]);
  expect([before, await client.deployment.count()]).toEqual([0, 0]);
});
