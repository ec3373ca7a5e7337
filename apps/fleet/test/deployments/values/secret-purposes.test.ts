// Where the values of a secret may go: each way in which a secret becomes a variable, or pulls an image.
import { randomUUID } from 'node:crypto';
import { checkSecretUses } from '../../../src/commands/doctor-values.ts';
import { aTemplate } from '../../a-template.ts';
import { aPair } from '../../resources/certificates.ts';
import { expectRefusedIn, fieldError } from '../expect-refused.ts';
import { type Body, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const refused = expectRefusedIn(fleet);

const LOGIN = { username: 'me', password: 'hidden' };
const { certificate, key } = aPair();
const aLogin = (given: Body = {}) => fleet.aSecret('login', LOGIN, { kind: 'registry', ...given });
const aCertificate = (given: Body = {}) =>
  fleet.aSecret('site', { 'tls.crt': certificate, 'tls.key': key }, { kind: 'tls', ...given });
const put = (id: string, body: Body) => fleet.admin.put(`/api/v1/secrets/${id}`, body);
const change = (id: string, body: Body) => fleet.operator.put(`/api/v1/workloads/${id}`, body);
const env_schema = [{ name: 'TOKEN', description: '[secret]' }, { name: 'OTHER' }];
const TOKEN = { secret: 'login', key: 'password' };
const secret_refs = [{ name: 'login', key: 'password', env: 'TOKEN' }];
const ofRegistry = 'credentials of a registry never become variables: use a secret of kind opaque';

/** Makes the secret a registry secret, as a version without purposes bound it to variables. */
const makeRegistry = () =>
  client.secret.update({ where: { name: 'login' }, data: { kind: 'registry', server: 'docker.io', purposes: [] } });

const outcomeOf = ({ status, body }: { status: number; body: { code?: string; errors?: { path: string }[] } }) => [
  status,
  body.code,
  body.errors?.map(({ path }) => path),
];

describe('a registry secret never becomes a variable', () => {
  test('by a binding of a deployment, whichever key it names', async () => {
    await fleet.aHost();
    await aLogin();
    const workload = await fleet.aWorkload({ env_schema });
    for (const TOKEN of [
      { secret: 'login', key: 'username' },
      { secret: 'login', key: 'password' },
    ]) {
      const reasons = await refused({ workload_id: workload.id, env: { TOKEN } }, 'deployment_refused');
      expect(reasons).toEqual([fieldError('env.TOKEN', 'login', 'TOKEN', ofRegistry)]);
    }
    const running = await fleet.deployed({ workload_id: workload.id });
    const before = await fleet.contents();
    const changed = await fleet.change(running.id, { env: { TOKEN } });
    expect(outcomeOf(changed)).toEqual([422, 'deployment_refused', ['env.TOKEN']]);
    expect(await fleet.contents()).toEqual(before);
  });

  test('by a workload that is created or changed, or deployed in a revision from before', async () => {
    await fleet.aHost();
    const early = await fleet.aWorkload({ secret_refs });
    const plain = await fleet.aWorkload();
    await aLogin();
    const body = { name: 'late', image_name: 'a', secret_refs };
    expect(outcomeOf(await fleet.operator.post('/api/v1/workloads', body))).toEqual([
      422,
      'unsupported_value',
      ['secret_refs'],
    ]);
    expect(outcomeOf(await change(plain.id, { secret_refs }))).toEqual([422, 'unsupported_value', ['secret_refs']]);
    expect((await change(early.id, { image_tag: '2', secret_refs })).status).toBe(200);
    for (const revision of [1, 2]) {
      const reasons = await refused({ workload_id: early.id, revision }, 'deployment_refused');
      expect(reasons).toEqual([fieldError('secret_refs', 'login', 'TOKEN', ofRegistry)]);
    }
  });

  test('by a template that is deployed or copied', async () => {
    await fleet.aHost();
    await aLogin();
    const members = { env_schema: [], node_selector: {}, required_network_types: [], registry_credentials: null };
    await fleet.publish(aTemplate({ slug: 'curious', secret_refs, ...members }));
    expect(await refused({ template: 'curious', name: 'curious' }, 'deployment_refused')).toEqual([
      fieldError('secret_refs', 'login', ofRegistry),
    ]);
    const copied = await fleet.operator.post('/api/v1/workloads', { name: 'copy', template: 'curious' });
    expect(outcomeOf(copied)).toEqual([422, 'unsupported_value', ['secret_refs']]);
  });

  test('by a new revision or a rollback of a deployment', async () => {
    await fleet.aHost();
    const { id: secretId } = await fleet.aSecret('login', LOGIN);
    const workload = await fleet.aWorkload({ secret_refs });
    const { id } = await fleet.deployed({ workload_id: workload.id });
    await change(workload.id, { secret_refs: [] });
    expect((await fleet.change(id, { revision: 2 })).status).toBe(200);
    await makeRegistry();
    for (const answer of [
      await fleet.change(id, { revision: 1 }),
      await fleet.ask(id, 'rollback', { generation: 1 }),
    ]) {
      expect(outcomeOf(answer)).toEqual([422, 'deployment_refused', ['secret_refs']]);
    }
    expect((await fleet.plan({ deployment_id: id, revision: 1 })).body.ok).toBe(false);
    expect((await put(secretId, { purposes: ['variables'] })).status).toBe(400);
  });

  test('by the adoption of a deployment that is not in the database', async () => {
    const host = await fleet.aHost();
    await fleet.aSecret('login', LOGIN);
    const { id: workload_id } = await fleet.aWorkload({ secret_refs });
    await makeRegistry();
    const id = randomUUID();
    const document = { name: 'lost', generation: 3, workload_id, revision: 1, variables: [], replicas: 1 };
    const engine = { objects: ['fleet-lost-0'], object_count: 1, ports: [], volume: null };
    await client.orphan.create({
      data: { id, target_id: host.id, host_id: host.id, kind: 'deployment', document: { ...document, ...engine } },
    });
    const adopted = await fleet.operator.post(`/api/v1/hosts/${host.id}/orphans/${id}/adopt`, {});
    expect(outcomeOf(adopted)).toEqual([422, 'deployment_refused', ['secret_refs']]);
  });
});

test('the private key of a TLS secret becomes a variable only with the purpose private_key', async () => {
  await fleet.aHost();
  const secret = await aCertificate();
  expect(secret).toMatchObject({ purposes: ['variables'], workloads: null });
  const workload = await fleet.aWorkload({ env_schema: [...env_schema, { name: 'tls.key' }] });
  const withKey = { workload_id: workload.id, env: { TOKEN: { secret: 'site', key: 'tls.key' } } };
  const withCertificate = { workload_id: workload.id, env: { TOKEN: { secret: 'site', key: 'tls.crt' } } };
  const reason = 'the private key of the secret site.*does not have the purpose private_key: an admin can permit it';
  expect(await refused(withKey, 'deployment_refused')).toEqual([fieldError('env.TOKEN', reason)]);
  const byName = { workload_id: workload.id, env: { 'tls.key': { secret: 'site' } } };
  expect(await refused(byName, 'deployment_refused')).toEqual([fieldError('env.tls.key', 'purpose private_key')]);
  await fleet.deployed(withCertificate);
  expect((await put(secret.id, { purposes: ['private_key'] })).body.code).toBe('in_use');
  expect((await put(secret.id, { purposes: ['private_key', 'variables'] })).body.secret).toMatchObject({
    purposes: ['variables', 'private_key'],
  });
  const deployment = await fleet.deployed(withKey);
  const narrowed = await put(secret.id, { purposes: ['variables'] });
  expect([narrowed.status, narrowed.body.errors]).toEqual([409, [{ path: 'deployment', message: deployment.name }]]);
});

test('only the workloads that a secret names use it, as a variable and to pull images', async () => {
  await fleet.aHost();
  const first = await fleet.aSecret('password', { value: 'x' }, { workloads: ['web', 'web', 'shop'] });
  expect(first.workloads).toEqual(['shop', 'web']);
  await aLogin({ workloads: ['web'] });
  const uses = { env_schema, secret_refs: [{ name: 'password', env: 'PASSWORD' }], registry_credentials: 'login' };
  const permitted = await fleet.aWorkload({ name: 'web', ...uses });
  const named = 'is not one of its workloads: an admin can permit it';
  const created = await fleet.operator.post('/api/v1/workloads', { name: 'other', image_name: 'a', ...uses });
  expect(created.body.errors).toEqual([
    fieldError('secret_refs', 'password', 'other', named),
    fieldError('registry_credentials', 'login', 'other', named),
  ]);
  const other = await fleet.aWorkload({ name: 'other', env_schema });
  const env = { TOKEN: { secret: 'password' } };
  expect(await refused({ workload_id: other.id, env }, 'deployment_refused')).toEqual([
    fieldError('env.TOKEN', 'password', 'other', named),
  ]);
  const deployment = await fleet.deployed({ workload_id: permitted.id, env });
  const narrowed = await put(first.id, { workloads: ['shop'] });
  expect([narrowed.status, narrowed.body.errors]).toEqual([409, [{ path: 'deployment', message: deployment.name }]]);
  expect((await put(first.id, { workloads: null })).body.secret.workloads).toBe(null);
  await fleet.deployed({ workload_id: other.id, env });
});

test('a template uses a secret with named workloads if the deployment has one of the names', async () => {
  await fleet.aHost();
  await fleet.aSecret('password', { value: 'x' }, { workloads: ['shop'] });
  const members = { env_schema: [], node_selector: {}, required_network_types: [], registry_credentials: null };
  await fleet.publish(aTemplate({ slug: 'shop', ...members }));
  const { body: unnamed } = await fleet.plan({ template: 'shop' });
  expect(unnamed.refusals).toMatchObject([{ path: 'secret_refs', message: expect.stringContaining('give the name') }]);
  expect((await fleet.plan({ template: 'shop', name: 'thief' })).body.ok).toBe(false);
  expect((await fleet.deploy({ template: 'shop', name: 'shop' })).status).toBe(201);
});

test.each([
  ['opaque', ['registry']],
  ['opaque', ['variables', 'private_key']],
  ['registry', ['variables']],
  ['registry', ['registry', 'variables']],
  ['tls', ['registry']],
  ['tls', []],
  ['tls', ['anything']],
])('a secret of kind %s cannot have the purposes %j', async (kind, purposes) => {
  const values = { opaque: { a: 'x' }, registry: LOGIN, tls: { 'tls.crt': certificate, 'tls.key': key } }[kind];
  const { status, body } = await fleet.admin.post('/api/v1/secrets', { name: 'odd', kind, values, purposes });
  expect([status, body.errors[0].path.split('.')[0]]).toEqual([400, 'purposes']);
});

describe('a use of a secret from before its purposes', () => {
  /** A deployment whose secret became a registry secret, with a revision that has another image. */
  async function aStoredUse(how: 'reference' | 'binding') {
    await fleet.aHost();
    const { id: secretId } = await fleet.aSecret('login', LOGIN);
    const given = how === 'reference' ? { secret_refs } : {};
    const schema = env_schema.slice(how === 'reference' ? 1 : 0);
    const workload = await fleet.aWorkload({ env_schema: schema, ...given });
    const env = how === 'reference' ? {} : { TOKEN };
    const deployment = await fleet.deployed({ name: 'old', workload_id: workload.id, env });
    await makeRegistry();
    return { secretId, workload, deployment, env };
  }

  test.each(['reference', 'binding'] as const)('continues with its revision: by a %s', async (how) => {
    const { deployment, env, secretId } = await aStoredUse(how);
    const digest = async () => /"fleet\/body":"[^"]+"/.exec(JSON.stringify(await fleet.manifest(deployment.id)))?.[0];
    const before = await digest();
    expect((await fleet.change(deployment.id, { env, labels: { a: 'b' } })).status).toBe(200);
    expect((await fleet.ask(deployment.id, 'scale', { replicas: 2 })).status).toBe(200);
    expect((await fleet.ask(deployment.id, 'scale', { replicas: 1 })).status).toBe(200);
    expect([before, await digest()]).toEqual([expect.any(String), before]);
    for (const operation of ['restart', 'stop', 'start']) {
      expect({ operation, ...(await fleet.ask(deployment.id, operation)) }).toMatchObject({ status: 200 });
    }
    expect((await fleet.change(deployment.id, { env: { ...env, OTHER: 'x' } })).status).toBe(200);
    expect((await put(secretId, { values: LOGIN })).status).toBe(200);
    const { body } = await fleet.admin.get(`/api/v1/secrets/${secretId}`);
    expect((await put(secretId, body.secret)).status).toBe(200);
  });

  test.each(['reference', 'binding'] as const)('ends with another revision: by a %s', async (how) => {
    const { deployment, workload } = await aStoredUse(how);
    expect((await change(workload.id, { image_name: 'team/thief' })).status).toBe(200);
    const path = how === 'reference' ? 'secret_refs' : 'env.TOKEN';
    expect(outcomeOf(await fleet.change(deployment.id, { revision: 2 }))).toEqual([422, 'deployment_refused', [path]]);
    if (how === 'reference') return;
    expect((await fleet.change(deployment.id, { env: {} })).status).toBe(200);
    expect(outcomeOf(await fleet.ask(deployment.id, 'rollback', {}))).toEqual([422, 'deployment_refused', [path]]);
  });

  test.each(['reference', 'binding'] as const)('is marked in the list and counted by doctor: by a %s', async (how) => {
    const { deployment, secretId } = await aStoredUse(how);
    const conditions = async () => (await fleet.operator.get('/api/v1/deployments')).body.deployments[0].conditions;
    const marked = { type: 'SecretOutsidePurpose', message: expect.stringMatching(`TOKEN, because ${ofRegistry}`) };
    expect(await conditions()).toMatchObject([marked]);
    expect(await checkSecretUses(world.database)).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/: 1\.\nThe deployment old must not give the secret login/),
    });
    await fleet.remove(deployment.id);
    expect(await checkSecretUses(world.database)).toMatchObject({ state: 'ok' });
    expect((await fleet.admin.get(`/api/v1/secrets/${secretId}`)).body.secret.purposes).toEqual(['registry']);
  });

  test('has no mark if the secret permits it', async () => {
    await fleet.aHost();
    const secret = await aCertificate({ purposes: ['private_key'], workloads: ['web'] });
    const workload = await fleet.aWorkload({ name: 'web', env_schema });
    const { id } = await fleet.deployed({
      workload_id: workload.id,
      env: { TOKEN: { secret: 'site', key: 'tls.key' } },
    });
    expect((await fleet.deployment(id)).conditions).toEqual([]);
    await client.secret.update({ where: { id: secret.id }, data: { purposes: [] } });
    expect((await fleet.deployment(id)).conditions).toMatchObject([{ type: 'SecretOutsidePurpose' }]);
  });
});

describe('a plan and a manifest', () => {
  const shown = async (body: Body) => {
    const { body: plan } = await fleet.plan(body);
    return { secrets: plan.secrets, pull: plan.registry_credentials?.is_new };
  };
  const members = { env_schema: [], node_selector: {}, required_network_types: [], registry_url: null };
  const used = (variable: string, secret: string, key: string | null) => ({ variable, secret, key });

  test('list the variables that receive values of secrets', async () => {
    await fleet.aHost();
    await fleet.aSecret('password', { value: 'x' });
    await fleet.aSecret('many', { a: 'x', b: 'y' });
    const refs = [
      { name: 'password', env: 'PASSWORD' },
      { name: 'many', key: 'b', env: 'B' },
    ];
    const workload = await fleet.aWorkload({ env_schema, secret_refs: refs });
    const env = { TOKEN: { secret: 'many', key: 'a' }, OTHER: { generate: 16 } };
    const listed = [used('PASSWORD', 'password', 'value'), used('B', 'many', 'b'), used('TOKEN', 'many', 'a')];
    const { secrets } = await shown({ workload_id: workload.id, env });
    expect(secrets).toEqual(listed.map((use, index) => ({ ...use, is_new: index < 2 })));
    const { id } = await fleet.deployed({ workload_id: workload.id, env });
    expect((await fleet.operator.get(`/api/v1/deployments/${id}/manifest`)).body.secrets).toEqual(listed);
    const unknown = await shown({ workload_id: workload.id, env: { TOKEN: { secret: 'absent' } } });
    expect(unknown.secrets[2]).toEqual({ ...used('TOKEN', 'absent', null), is_new: false });
  });

  test('mark the secrets for which a template asks for the first time', async () => {
    await fleet.aHost();
    await fleet.aSecret('password', { PASSWORD: 'x', other: 'y' });
    await fleet.aSecret('mail', { value: 'x' });
    await aLogin();
    const password = { name: 'password', env: 'PASSWORD' };
    const template = aTemplate({ slug: 'shop', ...members, registry_credentials: null, secret_refs: [password] });
    await fleet.publish(template);
    expect((await shown({ template: 'shop' })).secrets).toMatchObject([{ is_new: true }]);
    const { id, workload_id } = await fleet.deployed({ template: 'shop' });
    expect((await shown({ template: 'shop' })).secrets).toMatchObject([{ is_new: false }]);
    const refs = [password, { name: 'mail', env: 'MAIL' }, { name: 'password', key: 'other', env: 'MORE' }];
    const updated_at = '2026-02-02T03:04:05.678Z';
    await fleet.publish({ ...template, secret_refs: refs, registry_credentials: 'login', updated_at });
    const marked = { secrets: [{ is_new: false }, { is_new: true }, { is_new: true }], pull: true };
    expect(await shown({ template: 'shop' })).toMatchObject(marked);
    await change(workload_id, { template: 'shop' });
    expect(await shown({ deployment_id: id, revision: 2 })).toMatchObject(marked);
    await fleet.change(id, { revision: 2 });
    const known = { secrets: [{ is_new: false }, { is_new: false }, { is_new: false }], pull: false };
    expect(await shown({ template: 'shop' })).toMatchObject(known);
    expect(await shown({ deployment_id: id, replicas: 2 })).toMatchObject(known);
  });
});
