// Secrets: the values of each kind, their users, and what happens to the users when values change.
import { aPair } from './certificates.ts';
import { invalidPathsOf, pathOf, type Shown, startResources } from './resources.ts';

const world = await startResources();
const { aDeployment, aRoomyHost, aSecret, aWorkload, asAdmin, asOperator, aName, client, read, sealer } = world;
const host = await aRoomyHost();
const target = { host_id: host.id };
afterAll(() => world.stop());

const create = (given: object) => asAdmin.post(pathOf('secrets'), { name: aName('secret'), ...given });
const put = (id: string, body: object) => asAdmin.put(pathOf('secrets', id), body);
const remove = (id: string) => asAdmin.delete(pathOf('secrets', id));
const valuesOf = async (id: string) => {
  const { sealed } = await client.secret.findUniqueOrThrow({ where: { id } });
  return JSON.parse(await sealer.open({ table: 'secrets', column: 'sealed', row: id }, sealed));
};
const refs = (...names: readonly string[]) => names.map((name, index) => ({ name, key: 'password', env: `V${index}` }));

const pair = aPair();
const tls = { 'tls.crt': pair.certificate, 'tls.key': pair.key };
const login = { username: 'puller', password: 'of-the-puller' };

describe('values', () => {
  test.each([
    ['opaque', { a: '', 'b.c_d-E': '\n\ttext\r\n', '..': '☃' }],
    ['registry', login],
    ['tls', tls],
  ])('of a secret of kind %s are stored as given', async (kind, values) => {
    const { status, body } = await create({ kind, values });
    expect(status).toBe(201);
    expect(body.secret).toMatchObject({ kind, keys: Object.keys(values).sort(), values_version: 1 });
    expect(await valuesOf(body.secret.id)).toEqual(values);
  });

  test.each([
    ['registry', { username: 'a' }, ['values']],
    ['registry', { ...login, email: 'a' }, ['values']],
    ['registry', { username: 'a', token: 'b' }, ['values']],
    ['tls', login, ['values']],
    ['tls', { 'tls.crt': pair.certificate }, ['values']],
    ['tls', { ...tls, 'ca.crt': pair.certificate }, ['values']],
    ['tls', { ...tls, 'tls.key': aPair().key }, ['values.tls.key']],
    ['tls', { ...tls, 'tls.crt': 'x', 'tls.key': 'y' }, ['values.tls.crt', 'values.tls.key']],
    ['tls', { 'tls.crt': pair.key, 'tls.key': pair.certificate }, ['values.tls.crt', 'values.tls.key']],
    ['opaque', {}, ['values']],
    ['opaque', { a: 7 }, ['values.a']],
    ['opaque', { a: null }, ['values.a']],
    ['opaque', { a: 'x\u0000' }, ['values.a']],
    ['opaque', { a: 'x'.repeat(65_537) }, ['values.a']],
    ['opaque', { '': 'x', 'a/b': 'x' }, ['values.', 'values.a/b']],
    ['opaque', Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, ''])), ['values']],
  ])('of a secret of kind %s are validated: case %#', async (kind, values, paths) => {
    const refused = await create({ kind, values });
    expect(refused.status).toBe(400);
    expect(invalidPathsOf(refused)).toEqual(paths);
    const former = { opaque: { a: 'x' }, registry: login, tls }[kind] ?? {};
    const secret = await aSecret({ kind, values: former });
    const changed = await put(secret.id, { values });
    expect(changed.status).toBe(400);
    expect(invalidPathsOf(changed)).toEqual(paths);
    expect(await valuesOf(secret.id)).toEqual(former);
    expect(await read('secrets', secret.id)).toEqual(secret);
  });

  test('of a secret under a key that objects inherit are stored, or rejected', async () => {
    for (const key of ['__proto__', 'constructor', 'toString']) {
      const body = `{"name":"${aName('odd')}","values":{"${key}":"kept","b":"x"}}`;
      const answer = await asAdmin.send({ method: 'POST', path: pathOf('secrets'), body });
      if (answer.status === 201) {
        expect(answer.body.secret.keys).toEqual([key, 'b'].sort());
        expect(Object.entries(await valuesOf(answer.body.secret.id))).toContainEqual([key, 'kept']);
      } else expect(answer.status).toBe(400);
    }
  });

  test('of a secret are required', async () => {
    expect(invalidPathsOf(await create({}))).toEqual(['values']);
    const { id } = await aSecret();
    expect((await put(id, { values: null })).status).toBe(400);
  });
});

test('a change of the values of a secret sets values_version and last_rotated_at, and other changes do not', async () => {
  const first = await aSecret();
  const labelled = (await put(first.id, { labels: { a: 'b' }, kind: 'tls' })).body.secret;
  expect(labelled).toEqual({ ...first, labels: { a: 'b' }, version: 2, updated_at: labelled.updated_at });
  const rotated = (await put(first.id, { values: { other: 'x' } })).body.secret;
  expect(rotated).toMatchObject({ version: 3, values_version: 2, keys: ['other'], kind: 'opaque', labels: { a: 'b' } });
  expect(Date.parse(rotated.last_rotated_at)).toBeGreaterThan(Date.parse(first.last_rotated_at));
  expect(await valuesOf(first.id)).toEqual({ other: 'x' });
});

describe('users of a secret', () => {
  test('are workloads by their latest revision, and deployments by their own revision', async () => {
    const secret = await aSecret();
    const pull = await aSecret({ kind: 'registry', values: login });
    const later = await aSecret();
    const workload = await aWorkload({ secret_refs: refs(secret.name), registry_credentials: pull.name });
    const deployment = await aDeployment({ workload_id: workload.id, target });
    const usersOf = async ({ id }: Shown) =>
      (await read('secrets', id)).used_by.map(({ kind, id }: Shown) => `${kind} ${id}`);
    const both = [`deployment ${deployment.id}`, `workload ${workload.id}`];
    expect(await usersOf(secret)).toEqual(both);
    expect(await usersOf(pull)).toEqual(both);
    expect(await usersOf(later)).toEqual([]);
    await asAdmin.put(pathOf('workloads', workload.id), { secret_refs: refs(later.name), registry_credentials: null });
    expect(await usersOf(secret)).toEqual(both.slice(0, 1));
    expect(await usersOf(pull)).toEqual(both.slice(0, 1));
    expect(await usersOf(later)).toEqual(both.slice(1));
    await asAdmin.put(pathOf('deployments', deployment.id), { revision: 2 });
    expect(await usersOf(secret)).toEqual([]);
    expect(await usersOf(later)).toEqual(both);
    expect((await remove(secret.id)).status).toBe(204);
  });

  test('prevent its deletion, and are named', async () => {
    const secret = await aSecret();
    const workload = await aWorkload({ secret_refs: refs(secret.name) });
    const deployment = await aDeployment({ workload_id: workload.id, target });
    const { status, body } = await remove(secret.id);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'in_use' });
    expect(body.errors).toEqual([
      { path: 'deployment', message: deployment.name },
      { path: 'workload', message: workload.name },
    ]);
    await asAdmin.delete(pathOf('deployments', deployment.id));
    expect((await remove(secret.id)).status).toBe(409);
    await asAdmin.delete(pathOf('workloads', workload.id));
    expect((await remove(secret.id)).status).toBe(204);
  });

  test('get one more generation for new values, with the name of the caller, and no other deployment does', async () => {
    const secret = await aSecret();
    const other = await aSecret();
    const user = await aWorkload({ secret_refs: refs(secret.name) });
    const stranger = await aWorkload();
    const running = await aDeployment({ workload_id: user.id, target });
    const stopped = await aDeployment({ workload_id: user.id, desired_state: 'stopped' });
    const unconcerned = await aDeployment({ workload_id: stranger.id, target });
    await put(other.id, { values: { password: 'new' } });
    await put(secret.id, { labels: { a: 'b' } });
    for (const { id } of [running, stopped, unconcerned]) expect((await read('deployments', id)).generation).toBe(1);
    await put(secret.id, { values: { password: 'new' } });
    expect(await read('deployments', running.id)).toMatchObject({ generation: 2, phase: 'pending' });
    expect(await read('deployments', unconcerned.id)).toEqual(unconcerned);
    const { events } = (await asOperator.get(`${pathOf('deployments', running.id)}/events`)).body;
    const { created_by: admin } = secret;
    expect(events[0]).toMatchObject({ kind: 'operation', generation: 2, reason: 'rotate-secret', actor: admin });
    expect(events[0].message).toContain(secret.name);
    const { revisions } = (await asOperator.get(`${pathOf('deployments', running.id)}/revisions`)).body;
    expect(revisions[0]).toMatchObject({ generation: 2, operation: 'rotate-secret', created_by: admin });
    const still = { desired_state: 'stopped', phase: 'stopped', generation: 2, message: stopped.message };
    expect(await read('deployments', stopped.id)).toMatchObject(still);
  });

  test('get no new generation for rejected values', async () => {
    const secret = await aSecret({ kind: 'registry', values: login });
    const workload = await aWorkload({ registry_credentials: secret.name });
    const { id } = await aDeployment({ workload_id: workload.id, target });
    expect((await put(secret.id, { values: { username: 'only' } })).status).toBe(400);
    expect((await read('deployments', id)).generation).toBe(1);
  });

  test('prevent the removal of keys that they name', async () => {
    const secret = await aSecret({ values: { password: 'x', other: 'y' } });
    const workload = await aWorkload({ secret_refs: refs(secret.name) });
    const deployment = await aDeployment({ workload_id: workload.id, target });
    const { status, body } = await put(secret.id, { values: { other: 'y' } });
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'in_use' });
    expect(body.errors).toContainEqual({ path: 'deployment', message: deployment.name });
    expect(await valuesOf(secret.id)).toEqual({ password: 'x', other: 'y' });
    expect((await put(secret.id, { values: { password: 'x' } })).status).toBe(200);
  });
});
