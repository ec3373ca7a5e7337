// Variables that have the address of another deployment, or are composed of its values.
import { restartForAddress } from '../../../src/deployments/addresses/dependents.ts';
import { THE_FLEET } from '../../../src/identity/principal.ts';
import { reasonsOf, startDeploymentWorld } from '../world.ts';
import { receivedBy, secretVariable } from './variables.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;

const PORT = 5432;
const DATABASE = { env_schema: [secretVariable('PASSWORD')], ports: [{ containerPort: PORT }] };
const APP = { env_schema: [{ name: 'ADDRESS' }, { name: 'OTHER' }, secretVariable('URL', { required: false })] };
const GENERATED = { PASSWORD: { generate: 32 } };
const address = (given: object = {}) => ({ deployment: 'database', port: PORT, as: 'host:port', ...given });
const PASSWORD = { deployment: 'database', variable: 'PASSWORD' };
const url = (compose: string, given: object = {}) => ({ compose, with: { pw: PASSWORD, db: address(), ...given } });
const URL = url(`postgres://app:\${pw|url}@\${db}/app`);

const meshHost = (mesh: string, given: object = {}) =>
  fleet.aHost({ network_types: ['mesh'], addresses: { mesh }, ...given });
/** A database on a host with this address. */
async function aDatabase(mesh = '10.1.2.3', given: object = {}) {
  const host = await meshHost(mesh);
  const database = await fleet.deployed({
    name: 'database',
    workload: DATABASE,
    env: GENERATED,
    target: { host_id: host.id },
    ...given,
  });
  return { host, database };
}
const portOf = async (deployment_id: string) =>
  (await client.allocatedPort.findFirstOrThrow({ where: { deployment_id, ordinal: 0 } })).host_port;
const app = (given: object = {}) => fleet.deployed({ name: 'app', workload: APP, ...given });
/** On another host than the database, which receives its published address. */
const appElsewhere = async (given: object = {}) =>
  app({ ...given, target: { host_id: (await meshHost('10.1.2.4')).id } });
/** On the host of the database. */
const IN_NETWORK = `10.213.0.2:${PORT}`;
const received = async (id: string) => (await receivedBy(fleet, id)).env;

test('a deployment receives the address of another one on another host of the same network', async () => {
  const { database } = await aDatabase();
  const other = await meshHost('10.1.2.4');
  const env = { ADDRESS: address() };
  const { id } = await app({ env, target: { host_id: other.id } });
  expect((await received(id)).ADDRESS).toBe(`10.1.2.3:${await portOf(database.id)}`);
  expect((await fleet.deployment(id)).env).toEqual(env);
  expect((await fleet.change(id, await fleet.deployment(id))).body.deployment.generation).toBe(1);
  expect((await fleet.change(id, { replicas: 2 })).body.deployment.generation).toBe(2);
});

test.each([
  ['host:port', '10.1.2.3', (port: number) => `10.1.2.3:${port}`],
  ['host', '10.1.2.3', () => '10.1.2.3'],
  ['port', '10.1.2.3', (port: number) => `${port}`],
  ['url', '10.1.2.3', (port: number) => `http://10.1.2.3:${port}`],
  ['host', 'fd00::3', () => 'fd00::3'],
  ['host:port', 'fd00::3', (port: number) => `[fd00::3]:${port}`],
  ['url', 'fd00::3', (port: number) => `http://[fd00::3]:${port}`],
])('the form %s of an address %s is what programs expect', async (as, mesh, expected) => {
  const { database } = await aDatabase(mesh);
  const { id } = await appElsewhere({ env: { ADDRESS: address({ as }) } });
  expect((await received(id)).ADDRESS).toBe(expected(await portOf(database.id)));
});

test('the URL of a port that serves pages over TLS begins with https', async () => {
  await aDatabase('10.1.2.3', {
    workload: { ...DATABASE, env: [{ name: 'SVC_HTTP_PORTS', value: `80, ${PORT}/https` }] },
  });
  const { id } = await app({ env: { ADDRESS: address({ as: 'url' }) } });
  expect((await received(id)).ADDRESS).toBe(`https://${IN_NETWORK}`);
});

test('a plan lists the addresses and values of other deployments, and their ports are placed within reach', async () => {
  const { host, database } = await aDatabase();
  await client.host.update({ where: { id: host.id }, data: { schedulable: false } });
  await fleet.aHost({ name: 'elsewhere', network_types: ['public'] });
  const near = await meshHost('10.1.2.4', { name: 'near' });
  const { id: workload_id } = await fleet.aWorkload(APP);
  const request = { workload_id, env: { ADDRESS: address(), URL } };
  const { body } = await fleet.plan(request);
  expect(body.refusals).toEqual([]);
  expect(body.placement.target.host_id).toBe(near.id);
  const found = `10.1.2.3:${await portOf(database.id)}`;
  expect(body.bindings).toEqual([
    { variable: 'ADDRESS', deployment: 'database', bound_variable: null, port: PORT, address: found, note: null },
    { variable: 'URL', deployment: 'database', bound_variable: null, port: PORT, address: found, note: null },
    { variable: 'URL', deployment: 'database', bound_variable: 'PASSWORD', port: null, address: null, note: null },
  ]);
  const rejected = body.placement.candidates.find(({ name }: { name: string }) => name === 'elsewhere');
  expect(rejected.obstacles).toEqual([
    {
      code: 'address_not_reached',
      message:
        'does not reach port 5432 of the deployment database, which has an address in the network type mesh (has: public)',
      remedies: [{ object: 'target', field: 'network_types', values: ['mesh'] }],
    },
  ]);
  const { id } = await app({ env: request.env });
  expect((await fleet.operator.get(`/api/v1/deployments/${id}/manifest`)).body.bindings).toEqual(body.bindings);
});

test('on a cluster, the address is the name of the Service, and only that cluster reaches it', async () => {
  const cluster = await fleet.aCluster();
  const database = await fleet.deployed({ name: 'database', workload: DATABASE, env: GENERATED });
  const host = await fleet.aHost();
  const { id } = await app({ env: { ADDRESS: address() } });
  expect((await fleet.deployment(id)).target).toEqual({ cluster_id: cluster.id, host_id: null });
  expect((await received(id)).ADDRESS).toBe(`database-${database.id.slice(-8)}.fleet.svc:${PORT}`);
  const { id: workload_id } = await fleet.aWorkload(APP);
  const onHost = await fleet.plan({ workload_id, env: { ADDRESS: address() }, target: { host_id: host.id } });
  expect(reasonsOf(onHost)).toEqual([
    { path: 'target', message: expect.stringContaining(`only inside the cluster ${cluster.name}`) },
  ]);
});

test.each([
  ['a deployment that does not exist', { deployment: 'missing' }, 'which does not exist'],
  ['a port that it does not have', { port: 1 }, `which has the ports ${PORT}`],
  ['a port that it does not have itself', { deployment: 'app' }, 'the deployment itself, which has no ports'],
])('an address of %s is refused', async (_, given, message) => {
  await aDatabase();
  const { id: workload_id } = await fleet.aWorkload(APP);
  const { body } = await fleet.plan({ workload_id, name: 'app', env: { ADDRESS: address(given) } });
  expect(body.refusals).toEqual([
    { code: 'invalid_env', path: 'env.ADDRESS', message: expect.stringContaining(message) },
  ]);
});

test('an address that only the machine of the host reaches is refused elsewhere, with what to do', async () => {
  const host = await fleet.aHost({ name: 'alone' });
  const target = { host_id: host.id };
  const database = await fleet.deployed({ name: 'database', workload: DATABASE, env: GENERATED, target });
  const other = await meshHost('10.1.2.4');
  const { id: workload_id } = await fleet.aWorkload(APP);
  const request = { workload_id, env: { ADDRESS: address() } };
  const elsewhere = await fleet.plan({ ...request, target: { host_id: other.id } });
  expect(reasonsOf(elsewhere)).toEqual([
    { path: 'target', message: expect.stringContaining('which has an address only on the host alone') },
  ]);
  expect((await fleet.plan(request)).body.placement.target.host_id).toBe(host.id);
  // On the default network of the engine, as an earlier version has created it.
  await client.deployment.update({ where: { id: database.id }, data: { defaults_version: 4 } });
  const answer = await fleet.deploy(request);
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'invalid_env' });
  expect(reasonsOf(answer)).toEqual([
    { path: 'env.ADDRESS', message: expect.stringContaining('declare an address of this host for a network') },
  ]);
});

test('a deployment that others are bound to by its address keeps its port and is not deleted', async () => {
  const { database } = await aDatabase();
  await app({ env: { ADDRESS: address(), URL } });
  expect((await fleet.remove(database.id)).body).toMatchObject({
    code: 'in_use',
    errors: [{ path: 'deployment', message: 'app' }],
  });
  const { body } = await fleet.operator.put(`/api/v1/workloads/${database.workload_id}`, { ports: [] });
  const change = { revision: body.workload.revision };
  const message = `must have the port ${PORT}, because the deployment app is bound to its address`;
  const planned = await fleet.plan({ deployment_id: database.id, ...change });
  expect(reasonsOf(planned)).toContainEqual({ path: 'revision', message });
  expect(await fleet.change(database.id, change)).toMatchObject({ status: 422 });
});

test('another address starts a new generation of what is bound to it, once', async () => {
  const { host, database } = await aDatabase();
  const consumer = await meshHost('10.1.2.4');
  const { id } = await app({ env: { ADDRESS: address(), URL }, target: { host_id: consumer.id } });
  const { digests } = await receivedBy(fleet, id);
  const put = await fleet.operator.put(`/api/v1/hosts/${host.id}`, { addresses: { mesh: '10.1.2.9' } });
  expect(put.status).toBe(200);
  expect((await fleet.deployment(id)).generation).toBe(1);
  await fleet.ask(database.id, 'restart');
  expect(await fleet.deployment(id)).toMatchObject({ generation: 2, phase: 'pending' });
  expect((await fleet.events(id))[0].message).toBe('an address of the deployment database changed');
  const after = await receivedBy(fleet, id);
  expect(after.env.ADDRESS).toBe(`10.1.2.9:${await portOf(database.id)}`);
  expect(after.env.URL).toContain('@10.1.2.9:');
  expect(after.digests).not.toEqual(digests);
});

test('another host port starts a new generation of what is bound to it', async () => {
  const { database } = await aDatabase();
  const { id } = await appElsewhere({ env: { ADDRESS: address() } });
  await client.allocatedPort.updateMany({ where: { deployment_id: database.id }, data: { host_port: 29_999 } });
  const restart = () =>
    client.$transaction((transaction) => restartForAddress({ transaction, principal: THE_FLEET }, database));
  await restart();
  await restart();
  expect((await fleet.deployment(id)).generation).toBe(2);
  expect((await received(id)).ADDRESS).toBe('10.1.2.3:29999');
});

test('a rollback restores the binding, with the present address', async () => {
  const { database } = await aDatabase();
  const { id } = await appElsewhere({ env: { ADDRESS: address() } });
  await fleet.change(id, { env: { ADDRESS: 'none' } });
  await client.allocatedPort.updateMany({ where: { deployment_id: database.id }, data: { host_port: 29_999 } });
  expect((await fleet.ask(id, 'rollback', {})).body.deployment.env).toEqual({ ADDRESS: address() });
  expect((await received(id)).ADDRESS).toBe('10.1.2.3:29999');
});

/** All that a viewer can read about a deployment. */
const readable = async (id: string) => {
  const paths = [`deployments/${id}`, `deployments/${id}/manifest`, `deployments/${id}/revisions`, 'deployments'];
  return (await Promise.all(paths.map((path) => fleet.viewer.get(`/api/v1/${path}`)))).map(({ text }) => text).join();
};

test.each(['host', 'cluster'])('a composed value is a secret on a %s if an ingredient is', async (kind) => {
  const { database } = await aDatabase();
  if (kind === 'cluster') {
    await client.host.updateMany({ data: { schedulable: false } });
    await fleet.aCluster({ network_types: ['mesh'] });
  }
  const { id } = await app({ env: { URL } });
  const { env, podTemplate } = await receivedBy(fleet, id);
  const password = (await received(database.id)).PASSWORD ?? '';
  const at = kind === 'host' ? IN_NETWORK : `10.1.2.3:${await portOf(database.id)}`;
  expect(env.URL).toBe(`postgres://app:${encodeURIComponent(password)}@${at}/app`);
  const seen = await readable(id);
  expect(seen).not.toContain(password);
  expect(podTemplate).not.toContain(password);
  expect(seen).toContain(JSON.stringify(URL.compose).slice(1, -1));
  if (kind === 'host') expect(seen).toContain(`URL=postgres://app:(secret)@${at}/app`);
});

test('a composed value without a secret is text, with literal dollar signs', async () => {
  await aDatabase();
  const compose = `http://\${db}/$\${id}?at=\${name|url}`;
  const { id } = await app({ env: { OTHER: { compose, with: { db: address(), name: address() } } } });
  expect((await received(id)).OTHER).toBe(`http://${IN_NETWORK}/\${id}?at=${encodeURIComponent(IN_NETWORK)}`);
});

test('another composition of the same values replaces the containers', async () => {
  await aDatabase();
  await fleet.aSecret('pg', { user: 'ada', password: 'hidden' });
  const given = { a: { secret: 'pg', key: 'user' }, b: { secret: 'pg', key: 'password' } };
  const composed = (compose: string, more = given) => ({ env: { URL: { compose, with: more } } });
  const { id } = await app(composed(`\${a}:\${b}`));
  const digests = [(await receivedBy(fleet, id)).digests[0]];
  for (const change of [
    composed(`\${b}:\${a}`),
    composed(`\${b|url}:\${a}`),
    composed(`\${a}:\${b}`, { a: given.b, b: given.a }),
  ]) {
    expect((await fleet.change(id, change)).status).toBe(200);
    digests.push((await receivedBy(fleet, id)).digests[0]);
  }
  expect(new Set(digests).size).toBe(4);
});

test('new values of an ingredient start a new generation, and its key is not removed', async () => {
  await aDatabase();
  const secret = await fleet.aSecret('pg', { user: 'ada', other: 'x' });
  const { id } = await app({ env: { URL: url(`${URL.compose}?u=\${u}`, { u: { secret: 'pg', key: 'user' } }) } });
  const put = (values: object) => fleet.admin.put(`/api/v1/secrets/${secret.id}`, { values });
  expect((await put({ first: '1', second: '2' })).body).toMatchObject({ code: 'in_use', errors: [{ message: 'app' }] });
  expect((await put({ user: 'eve', other: 'x' })).body.secret.used_by).toEqual([
    { kind: 'deployment', id, name: 'app' },
  ]);
  expect((await fleet.deployment(id)).generation).toBe(2);
  expect((await received(id)).URL).toContain('?u=eve');
  const limited = await fleet.admin.put(`/api/v1/secrets/${secret.id}`, { workloads: ['shop'] });
  expect(limited.body).toMatchObject({ code: 'in_use' });
  expect((await fleet.operator.get(`/api/v1/deployments/${id}/manifest`)).body.secrets).toEqual([
    { variable: 'URL', secret: 'pg', key: 'user' },
  ]);
});
test.each([
  ['compose', { compose: `\${missing}`, with: {} }, 'the placeholder missing'],
  ['compose', { compose: `\${db|html}`, with: { db: address() } }, `placeholders such as \${name}`],
  ['with.db', { compose: 'text', with: { db: address() } }, 'must be used in the text'],
  [
    'with',
    { compose: 'text', with: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, PASSWORD])) },
    '16',
  ],
  ['compose', { compose: 'x'.repeat(4097), with: {} }, '4096'],
  ['with.db.port', { compose: `\${db}`, with: { db: address({ port: 0 }) } }, ''],
])('a composed value with an invalid %s, %j, gets 400', async (member, value, message) => {
  const { id: workload_id } = await fleet.aWorkload(APP);
  const { status, body } = await fleet.plan({ workload_id, env: { OTHER: value } });
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: expect.arrayContaining([
      expect.objectContaining({ path: `env.OTHER.${member}`, message: expect.stringContaining(message) }),
    ]),
  });
});

test('a secret variable accepts no composed text without a secret', async () => {
  await aDatabase();
  const { id: workload_id } = await fleet.aWorkload(APP);
  const { status, body } = await fleet.plan({
    workload_id,
    env: { URL: { compose: `postgres://app:hunter2@\${db}`, with: { db: address() } } },
  });
  expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'env.URL' });
});
