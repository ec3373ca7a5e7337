// Variables that are bound to secrets, or whose values the fleet generates.
import { aTemplate } from '../../a-template.ts';
import { reasonsOf, startDeploymentWorld } from '../world.ts';
import { receivedBy, secretVariable } from './variables.ts';

const fleet = await startDeploymentWorld();

const SPEC = { env_schema: [secretVariable('PASSWORD'), { name: 'USER' }] };
const GENERATED = { PASSWORD: { generate: 32 } };

/** A deployment on a host, with a generated password. */
const database = async (name = 'database') => {
  await fleet.aHost();
  return fleet.deployed({ name, workload: SPEC, env: GENERATED });
};
const valueIn = async (id: string, variable = 'PASSWORD') => (await receivedBy(fleet, id)).env[variable];
/** All that a viewer can read about a deployment. */
const readable = async (id: string) => {
  const paths = [
    `deployments/${id}`,
    `deployments/${id}/manifest`,
    `deployments/${id}/revisions`,
    `deployments/${id}/events`,
  ];
  const answers = await Promise.all(
    [...paths, 'deployments', 'workloads', 'audit'].map((path) => fleet.viewer.get(`/api/v1/${path}`)),
  );
  return answers.map(({ text }) => text).join('\n');
};

test('an operator generates a password, which the container receives and no viewer can read', async () => {
  const { id, env } = await database();
  expect(env).toEqual(GENERATED);
  const value = await valueIn(id);
  expect(value).toMatch(/^(?=.*[A-Z])(?=.*[a-z])(?=.*[0-9])[A-Za-z0-9]{16}-[A-Za-z0-9]{15}$/);
  const seen = await readable(id);
  expect(seen).toContain('PASSWORD=(secret)');
  expect(seen).not.toContain(value);
  const { client } = fleet;
  const stored = [
    await client.deployment.findMany({ select: { env: true } }),
    await client.deploymentRevision.findMany(),
    await client.deploymentEvent.findMany(),
    await client.sealedValue.findMany(),
  ];
  expect(JSON.stringify(stored)).not.toContain(value);
});

test('a cluster receives a generated password in a Secret', async () => {
  await fleet.aCluster();
  const { id } = await fleet.deployed({ workload: SPEC, env: GENERATED });
  const { env, podTemplate } = await receivedBy(fleet, id);
  expect(env.PASSWORD).toHaveLength(32);
  expect(podTemplate).toContain('secretKeyRef');
  expect(podTemplate).not.toContain(env.PASSWORD);
});

test('a deployment that is sent back as it was read keeps its generated password', async () => {
  const { id } = await database();
  const before = await receivedBy(fleet, id);
  const { status, body } = await fleet.change(id, await fleet.deployment(id));
  expect({ status, generation: body.deployment.generation }).toEqual({ status: 200, generation: 1 });
  expect((await fleet.change(id, { env: { ...GENERATED, USER: 'ada' } })).body.deployment.generation).toBe(2);
  expect((await receivedBy(fleet, id)).env).toEqual({ ...before.env, USER: 'ada' });
});

test('another length generates a new password, and a rollback restores the previous one', async () => {
  const { id } = await database();
  const before = await valueIn(id);
  expect((await fleet.change(id, { env: { PASSWORD: { generate: 48 } } })).body.deployment.env.PASSWORD).toEqual({
    generate: 48,
  });
  expect(await valueIn(id)).toHaveLength(48);
  expect((await fleet.ask(id, 'rollback', {})).status).toBe(200);
  expect(await valueIn(id)).toBe(before);
});

test('text for a secret variable gets 400 with the path of the member, and changes nothing', async () => {
  const { id, workload_id } = await database();
  const before = await fleet.contents();
  const env = { PASSWORD: 'hunter2-hunter2' };
  const answers = [
    await fleet.deploy({ workload_id, env }),
    await fleet.plan({ workload_id, env }),
    await fleet.plan({ deployment_id: id, env }),
    await fleet.change(id, { env }),
  ];
  for (const { status, body } of answers) {
    expect(status).toBe(400);
    expect(reasonsOf({ body } as never)).toEqual([
      { path: 'env.PASSWORD', message: expect.stringContaining('{"generate": 32}') },
    ]);
  }
  expect(answers.map(({ text }) => text).join()).not.toContain(env.PASSWORD);
  expect(await fleet.contents()).toEqual(before);
});

test('text for a secret variable is accepted as explicitly plain, and is shown', async () => {
  await fleet.aHost();
  const plain = { value: 'not-a-secret', plain: true };
  const { id, env } = await fleet.deployed({ workload: SPEC, env: { PASSWORD: plain } });
  expect(env).toEqual({ PASSWORD: plain });
  expect(await valueIn(id)).toBe('not-a-secret');
  expect((await fleet.change(id, { env })).body.deployment.generation).toBe(1);
});

test('a required secret variable without a value is refused, with what can be done', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload(SPEC);
  for (const env of [{}, { PASSWORD: '' }, { PASSWORD: { value: '', plain: true } }]) {
    const { body } = await fleet.plan({ workload_id: id, env });
    expect(body.refusals).toEqual([
      { code: 'invalid_env', path: 'env.PASSWORD', message: expect.stringContaining('generate it') },
    ]);
  }
});

test.each([
  ['generate', { generate: 15 }],
  ['generate', { generate: 129 }],
  ['', { generate: 32, secret: 'pg' }],
  ['', { sealed: false }],
  ['', { plain: true }],
  ['', 7],
  ['', null],
])('a value with an invalid %p, %j, gets 400', async (member, value) => {
  const { id } = await fleet.aWorkload(SPEC);
  const { status, body } = await fleet.plan({ workload_id: id, env: { PASSWORD: value } });
  expect({ status, path: body.errors?.[0]?.path }).toEqual({
    status: 400,
    path: member === '' ? 'env.PASSWORD' : `env.PASSWORD.${member}`,
  });
});

test('a variable that has no sealed value cannot keep it', async () => {
  const { id } = await fleet.aWorkload(SPEC);
  const { status, body } = await fleet.plan({ workload_id: id, env: { PASSWORD: { sealed: true } } });
  expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'env.PASSWORD' });
});

test('a variable is bound to a key of a secret, and new values start a new generation', async () => {
  await fleet.aHost();
  const secret = await fleet.aSecret('pg', { password: 'of-the-secret', other: 'x' });
  const env = { PASSWORD: { secret: 'pg', key: 'password' } };
  const { id } = await fleet.deployed({ name: 'app', workload: SPEC, env });
  const { digests } = await receivedBy(fleet, id);
  expect(await valueIn(id)).toBe('of-the-secret');
  expect(await readable(id)).not.toContain('of-the-secret');
  const put = (values: object) => fleet.admin.put(`/api/v1/secrets/${secret.id}`, { values });
  expect((await put({ third: 'x', fourth: 'y' })).body).toMatchObject({ code: 'in_use', errors: [{ message: 'app' }] });
  expect((await fleet.admin.delete(`/api/v1/secrets/${secret.id}`)).status).toBe(409);
  expect((await put({ password: 'rotated' })).body.secret.used_by).toEqual([{ kind: 'deployment', id, name: 'app' }]);
  expect(await fleet.deployment(id)).toMatchObject({ generation: 2, env });
  expect((await fleet.events(id))[0]).toMatchObject({ reason: 'rotate-secret' });
  const after = await receivedBy(fleet, id);
  expect(after.env.PASSWORD).toBe('rotated');
  expect(after.digests).not.toEqual(digests);
});

test('a binding to a secret or key that does not exist is refused, in the plan and in the creation', async () => {
  await fleet.aHost();
  await fleet.aSecret('pg', { password: 'x', other: 'y' });
  const { id } = await fleet.aWorkload(SPEC);
  for (const [binding, message] of [
    [{ secret: 'missing' }, 'the secret missing, which does not exist'],
    [{ secret: 'pg', key: 'absent' }, 'the key absent of the secret pg'],
    [{ secret: 'pg' }, 'a key for PASSWORD of the secret pg'],
  ] as const) {
    const request = { workload_id: id, env: { PASSWORD: binding } };
    expect((await fleet.plan(request)).body.refusals).toEqual([
      { code: 'unknown_secret', path: 'env.PASSWORD', message: expect.stringContaining(message) },
    ]);
    expect(await fleet.deploy(request)).toMatchObject({ status: 422, body: { code: 'unknown_secret' } });
  }
});

/** A deployment that is bound to the password of the database. */
const bound = (name = 'app', deployment = 'database') =>
  fleet.deployed({ name, workload: SPEC, env: { PASSWORD: { deployment, variable: 'PASSWORD' } } });

test('another deployment receives the generated value, and its owner cannot be deleted before it', async () => {
  const owner = await database();
  const app = await bound();
  expect(app.env).toEqual({ PASSWORD: { deployment: 'database', variable: 'PASSWORD' } });
  expect(await valueIn(app.id)).toBe(await valueIn(owner.id));
  const { status, body } = await fleet.remove(owner.id);
  expect({ status, code: body.code, errors: body.errors }).toEqual({
    status: 409,
    code: 'in_use',
    errors: [{ path: 'deployment', message: 'app' }],
  });
  await fleet.client.deployment.updateMany({ data: { sent_to_engine: false } });
  expect((await fleet.remove(app.id)).status).toBe(200);
  expect((await fleet.remove(owner.id)).status).toBe(200);
  expect(await fleet.client.sealedValue.count()).toBe(0);
});

test('a new generated value starts a new generation of the deployments that are bound to it', async () => {
  const owner = await database();
  const app = await bound();
  const other = await fleet.deployed({ workload: SPEC, env: GENERATED });
  expect((await fleet.change(owner.id, { env: { PASSWORD: { generate: 64 } } })).status).toBe(200);
  expect((await fleet.deployment(app.id)).generation).toBe(2);
  expect((await fleet.deployment(other.id)).generation).toBe(1);
  expect(await valueIn(app.id)).toHaveLength(64);
});

test('a generated value that another deployment uses cannot be replaced by something else', async () => {
  const owner = await database();
  await bound();
  const env = { PASSWORD: { value: 'x', plain: true } };
  const { body } = await fleet.plan({ deployment_id: owner.id, env });
  expect(body.refusals).toEqual([
    {
      code: 'invalid_env',
      path: 'env.PASSWORD',
      message: expect.stringContaining('the deployment app is bound to it'),
    },
  ]);
  expect(await fleet.change(owner.id, { env })).toMatchObject({ status: 422, body: { code: 'invalid_env' } });
});

test.each([
  ['a deployment that does not exist', { deployment: 'missing', variable: 'PASSWORD' }, 'does not exist'],
  ['a variable without a generated value', { deployment: 'database', variable: 'USER' }, 'no generated value'],
  ['an inherited member', { deployment: 'database', variable: 'constructor' }, 'no generated value'],
])('a binding to %s is refused', async (_, binding, message) => {
  await database();
  const { id } = await fleet.aWorkload(SPEC);
  const { body } = await fleet.plan({ workload_id: id, name: 'app', env: { PASSWORD: binding } });
  expect(body.refusals).toEqual([
    { code: 'invalid_env', path: 'env.PASSWORD', message: expect.stringContaining(message) },
  ]);
});

test('a binding to a deployment that is being deleted is refused', async () => {
  const owner = await database();
  await receivedBy(fleet, owner.id); // an engine may have received it
  expect((await fleet.remove(owner.id)).body.deployment.phase).toBe('deleting');
  const { id } = await fleet.aWorkload(SPEC);
  const env = { PASSWORD: { deployment: 'database', variable: 'PASSWORD' } };
  const { body } = await fleet.plan({ workload_id: id, env });
  expect(body.refusals[0].message).toContain('is being deleted');
});

test('a deployment can use its own generated value for several variables', async () => {
  await fleet.aHost();
  const env = { PASSWORD: { generate: 20 }, USER: { deployment: 'database', variable: 'PASSWORD' } };
  const { id } = await fleet.deployed({ name: 'database', workload: SPEC, env });
  const received = await receivedBy(fleet, id);
  expect(received.env.USER).toBe(received.env.PASSWORD);
  await fleet.client.deployment.updateMany({ data: { sent_to_engine: false } });
  expect((await fleet.remove(id)).status).toBe(200);
});

test('an unreachable target is not abandoned while deployments elsewhere use its generated values', async () => {
  const host = await fleet.aHost();
  const owner = await fleet.deployed({ name: 'database', workload: SPEC, env: GENERATED });
  await fleet.aCluster();
  await fleet.client.host.update({ where: { id: host.id }, data: { schedulable: false } });
  const app = await bound();
  await fleet.client.host.update({ where: { id: host.id }, data: { reachability: 'unreachable' } });
  const abandon = () => fleet.operator.delete(`/api/v1/hosts/${host.id}?abandon=true`);
  expect((await abandon()).body).toMatchObject({ code: 'in_use', errors: [{ path: 'deployment', message: 'app' }] });
  await fleet.remove(app.id);
  expect((await abandon()).status).toBe(204);
  expect((await fleet.operator.get(`/api/v1/deployments/${owner.id}`)).status).toBe(404);
});

test('scaling keeps the existing containers of a deployment with bound variables', async () => {
  const { id } = await database();
  const { digests } = await receivedBy(fleet, id);
  await fleet.ask(id, 'scale', { replicas: 2 });
  expect((await receivedBy(fleet, id)).digests[0]).toBe(digests[0]);
});

test('a template declares a secret variable by its description', async () => {
  await fleet.aHost();
  const env_schema = [{ ...secretVariable('PASSWORD') }];
  await fleet.publish(
    aTemplate({
      slug: 'database',
      env: [],
      env_schema,
      secret_refs: [],
      registry_credentials: null,
      node_selector: {},
      required_network_types: [],
    }),
  );
  expect((await fleet.deploy({ template: 'database', env: { PASSWORD: 'hunter2' } })).status).toBe(400);
  expect((await fleet.plan({ template: 'database' })).body.refusals[0].message).toContain('generate it');
  const { status, body } = await fleet.deploy({ template: 'database', env: GENERATED });
  expect({ status, env: body.deployment.env }).toEqual({ status: 201, env: GENERATED });
});

test('a workload must not contain text for a secret variable', async () => {
  const env = [
    { name: 'USER', value: 'ada' },
    { name: 'PASSWORD', value: 'hunter2' },
  ];
  const created = await fleet.operator.post('/api/v1/workloads', { name: 'w', image_name: 'a', ...SPEC, env });
  expect(created.status).toBe(400);
  expect(reasonsOf(created)).toEqual([{ path: 'env.1.value', message: expect.stringContaining('secret') }]);
  const { id } = await fleet.aWorkload(SPEC);
  const changed = await fleet.operator.put(`/api/v1/workloads/${id}`, { env });
  expect({ status: changed.status, path: changed.body.errors[0].path }).toEqual({ status: 400, path: 'env.1.value' });
  expect((await fleet.operator.put(`/api/v1/workloads/${id}`, { env: env.slice(0, 1) })).status).toBe(200);
});

test('a default value for a secret variable is rejected', async () => {
  const env_schema = [{ ...secretVariable('PASSWORD'), default_value: 'changeme' }];
  const { status, body } = await fleet.operator.post('/api/v1/workloads', { name: 'w', image_name: 'a', env_schema });
  expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'env_schema.0.default_value' });
});
