// Values that the fleet generates: the responses that contain them, and who receives them again.
import type { Api } from '@svc/testing';
import { aTemplate } from '../../a-template.ts';
import { type Body, startDeploymentWorld } from '../world.ts';
import { receivedBy, secretVariable } from './variables.ts';

const fleet = await startDeploymentWorld();
const { world, client } = fleet;

const internal = { ...secretVariable('KEY'), description: 'Signs the sessions. [internal] [secret]' };
const SPEC = { env_schema: [secretVariable('PASSWORD'), { ...internal, required: false }, { name: 'USER' }] };
const GENERATED = { PASSWORD: { generate: 32 } };

const users = {
  operator: await world.aUser('operator'),
  admin: await world.aUser('admin'),
  viewer: await world.aUser('viewer'),
};
const inSession = (role: keyof typeof users) => users[role].api();
const bearerOf = async (role: keyof typeof users) => `Bearer ${(await users[role].signIn()).access_token}`;
const reveal = (api: Api, id: string, variable = 'PASSWORD') =>
  api.post(`/api/v1/deployments/${id}/values/${encodeURIComponent(variable)}/reveal`);

/** Creates a deployment on a new host. @returns the response */
async function created(env: Body = GENERATED, workload: Body = SPEC) {
  await fleet.aHost();
  const answer = await fleet.deploy({ workload_id: (await fleet.aWorkload(workload)).id, env });
  expect(answer.status).toBe(201);
  const id: string = answer.body.deployment.id;
  return { answer, id };
}

/** All that an admin can read about a deployment. */
async function readable(id: string): Promise<string> {
  const parts = ['', '/manifest', '/revisions', '/events'].map((part) => `deployments/${id}${part}`);
  const paths = [...parts, 'deployments', 'workloads', 'events', 'audit'];
  const answers = await Promise.all(paths.map((path) => fleet.admin.get(`/api/v1/${path}`)));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  return answers.map(({ text }) => text).join('\n');
}

describe('the response that generates a value', () => {
  test('contains it once, and no cache stores it', async () => {
    const { answer, id } = await created();
    const { PASSWORD } = (await receivedBy(fleet, id)).env;
    expect(answer.body.generated).toEqual([{ name: 'PASSWORD', value: PASSWORD }]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(JSON.stringify(answer.body.deployment)).not.toContain(PASSWORD);

    const unchanged = await fleet.change(id, { env: { ...GENERATED, USER: 'ada' } });
    expect(unchanged.body.generated).toEqual([]);
    const changed = await fleet.change(id, { env: { PASSWORD: { generate: 48 } } });
    const second = (await receivedBy(fleet, id)).env.PASSWORD;
    expect(changed.body.generated).toEqual([{ name: 'PASSWORD', value: second }]);
    expect(changed.headers['cache-control']).toBe('no-store');
    const restored = await fleet.ask(id, 'rollback', {});
    expect(restored.body).not.toHaveProperty('generated');

    const seen = `${unchanged.text}${restored.text}${await readable(id)}`;
    for (const value of [PASSWORD, second]) expect(seen).not.toContain(value);
  });

  test('is not repeated for the same Idempotency-Key, and plans generate nothing', async () => {
    await fleet.aHost();
    const request = { name: 'once', workload_id: (await fleet.aWorkload(SPEC)).id, env: GENERATED };
    const once = { 'Idempotency-Key': 'once' };
    const plan = await fleet.plan(request);
    const first = await fleet.deploy(request, once);
    const again = await fleet.deploy(request, once);
    expect(first.body.generated).toHaveLength(1);
    expect(again.body).toEqual({ ...first.body, generated: [] });
    expect(plan.text + again.text).not.toContain(first.body.generated[0].value);
    expect(plan.body).not.toHaveProperty('generated');
  });

  test('omits the values of internal variables', async () => {
    const { answer, id } = await created({ ...GENERATED, KEY: { generate: 64 } });
    const { KEY } = (await receivedBy(fleet, id)).env;
    expect(KEY).toHaveLength(64);
    expect(answer.body.generated.map(({ name }: { name: string }) => name)).toEqual(['PASSWORD']);
    expect(answer.text).not.toContain(KEY);
  });
});

describe('a generated value is revealed', () => {
  test.each(['operator', 'admin'] as const)('to a signed-in %s, with an event and an audit entry', async (role) => {
    const { answer, id } = await created();
    const revealed = await reveal(await inSession(role), id);
    expect({ status: revealed.status, body: revealed.body }).toEqual({ status: 200, body: answer.body.generated[0] });
    expect(revealed.headers['cache-control']).toBe('no-store');
    const { email: actor } = users[role];
    expect((await fleet.events(id))[0]).toMatchObject({
      kind: 'operation',
      reason: 'reveal',
      message: 'the value of PASSWORD was revealed',
      actor,
      generation: 1,
      details: null,
    });
    const path = `/api/v1/deployments/${id}/values/PASSWORD/reveal`;
    expect(await client.auditEntry.findMany({ where: { path } })).toMatchObject([
      { actor, method: 'POST', status: 200, object_name: (await fleet.deployment(id)).name },
    ]);
    expect(await readable(id)).not.toContain(answer.body.generated[0].value);
    expect((await fleet.deployment(id)).generation).toBe(1);
  });

  test('to nobody else: a viewer, tokens, an ended session, and where the setting forbids it', async () => {
    const { answer, id } = await created();
    const ended = await inSession('operator');
    await ended.post('/api/v1/auth/logout');
    const off = world.aReplica({ revealValues: 'off' });
    const onlyAdmins = world.aReplica({ revealValues: 'admins' });
    const refused = [
      { answer: await reveal(await inSession('viewer'), id), status: 403 },
      { answer: await reveal(fleet.operator, id), status: 403 },
      { answer: await reveal(fleet.admin, id), status: 403 },
      { answer: await reveal(world.nobody, id), status: 401 },
      { answer: await reveal(ended, id), status: 401 },
      { answer: await reveal(onlyAdmins.api(await bearerOf('operator')), id), status: 403 },
      { answer: await reveal(off.api(await bearerOf('admin')), id), status: 403 },
    ];
    expect(refused.map((each) => each.answer.status)).toEqual(refused.map(({ status }) => status));
    for (const each of refused) expect(each.answer.text).not.toContain(answer.body.generated[0].value);
    expect((await reveal(onlyAdmins.api(await bearerOf('admin')), id)).status).toBe(200);
    const { may } = (await off.api(await bearerOf('admin')).get('/api/v1/auth/me')).body;
    expect(may).not.toContain('values-reveal');
  });

  test('from before the upgrade only to an admin', async () => {
    const { answer, id } = await created();
    await client.sealedValue.updateMany({ data: { revealable: null } }); // as version 0.2 stores it
    const refused = await reveal(await inSession('operator'), id);
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 403, code: 'insufficient_scope' });
    expect((await reveal(await inSession('admin'), id)).body).toEqual(answer.body.generated[0]);
  });

  test('at most 30 times in ten minutes to a user', async () => {
    const { id } = await created();
    const api = await (await world.aUser('operator')).api();
    const answers = [];
    for (let count = 0; count < 31; count++) answers.push(await reveal(api, id));
    expect(answers.map(({ status }) => status)).toEqual([...Array(30).fill(200), 429]);
    const last = answers.at(-1);
    expect({ code: last?.body.code, value: last?.body.value }).toEqual({ code: 'rate_limited', value: undefined });
    expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await reveal(await inSession('operator'), id)).status).toBe(200);
  });
});

describe('other values are not revealed', () => {
  const ofDatabase = { deployment: 'database', variable: 'PASSWORD' };
  test.each([
    ['bound to a secret', { secret: 'pg' }, 'the secret pg'],
    ['bound to another deployment', ofDatabase, 'PASSWORD of the deployment database'],
    ['that is plain text', { value: 'text', plain: true }, 'text'],
  ])('a variable %s', async (_, value, reason) => {
    await fleet.aSecret('pg', { password: 'of-the-secret' });
    await fleet.aHost();
    await fleet.deployed({ name: 'database', workload: SPEC, env: GENERATED });
    const { id } = await created({ PASSWORD: value });
    const { status, body } = await reveal(await inSession('admin'), id);
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: 409,
      code: 'not_revealable',
      detail: expect.stringContaining(reason),
    });
  });

  test('a variable without a value, a sealed text, and a deployment or variable that does not exist', async () => {
    const { id } = await created();
    const api = await inSession('admin');
    expect((await reveal(api, id, 'USER')).body.code).toBe('not_revealable');
    expect((await reveal(api, id, 'constructor')).body.code).toBe('not_revealable');
    expect((await reveal(api, 'nothing')).status).toBe(404);
    expect((await reveal(api, id, 'not a name')).status).toBe(404);
    const { id: sealed } = await client.sealedValue.findFirstOrThrow();
    await client.deployment.updateMany({ data: { env: { PASSWORD: { sealed } } } });
    expect((await reveal(api, id)).body.code).toBe('not_revealable');
  });

  test('a value of another deployment to which a row of the database refers', async () => {
    const { id: owner } = await created();
    const { id } = await created();
    await client.$executeRaw`
      UPDATE deployments SET env = (SELECT env FROM deployments WHERE id = ${owner}::uuid) WHERE id = ${id}::uuid`;
    expect((await reveal(await inSession('admin'), id)).body.code).toBe('not_revealable');
  });

  test('an internal variable, also if only the present template or only the revision that generated the value declares it', async () => {
    await fleet.aHost();
    const published = aTemplate({
      slug: 'site',
      env: [],
      env_schema: [secretVariable('PASSWORD')],
      secret_refs: [],
      registry_credentials: null,
      required_network_types: [],
      node_selector: {},
      tolerations: [],
    });
    await fleet.publish(published);
    const { id } = await fleet.deployed({ template: 'site', env: GENERATED });
    const api = await inSession('admin');
    expect((await reveal(api, id)).status).toBe(200);
    const env_schema = [{ ...internal, name: 'PASSWORD' }];
    await fleet.publish({ ...published, env_schema, updated_at: new Date(Date.now() + 60_000).toISOString() });
    expect((await reveal(api, id)).body.code).toBe('not_revealable');

    const { id: other, workload_id } = await fleet.deployed({ template: 'site', env: GENERATED });
    await fleet.publish({ ...published, updated_at: new Date(Date.now() + 120_000).toISOString() });
    expect((await reveal(api, id)).status).toBe(200);
    await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { env_schema: [secretVariable('PASSWORD')] });
    expect((await fleet.change(other, { revision: 2 })).status).toBe(200);
    expect((await reveal(api, other)).body.code).toBe('not_revealable');
  });
});
