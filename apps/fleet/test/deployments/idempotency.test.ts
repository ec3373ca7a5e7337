import { byDepth } from '@svc/testing';
import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();

/** Creates a host and a workload. @returns the body of a request for a deployment */
async function aRequestBody() {
  await it.aHost();
  return { name: 'once', workload_id: (await it.aWorkload()).id };
}

const once = { 'Idempotency-Key': 'the-first-try' };
const deployments = () => it.client.deployment.count();

test('a repeated request with the same key and body returns the same deployment, which is created once', async () => {
  const requestBody = await aRequestBody();
  const first = await it.deploy(requestBody, once);
  const second = await it.deploy({ workload_id: requestBody.workload_id, name: 'once', labels: {} }, once);
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(await it.client.deploymentEvent.count()).toBe(1);
});

test('a repeated request returns the current state of the deployment', async () => {
  const requestBody = await aRequestBody();
  const { body } = await it.deploy(requestBody, once);
  await it.ask(body.deployment.id, 'scale', { replicas: 2 });
  const again = await it.deploy(requestBody, once);
  expect(again.body.deployment).toMatchObject({ id: body.deployment.id, replicas: 2, generation: 2 });
});

/** The host has the capacity for 64 deployments. */
const TIMES = byDepth({ short: 5, full: 10, long: 60 });

test(
  `two concurrent requests with the same key create one deployment, ${TIMES} times`,
  async () => {
    const { workload_id } = await aRequestBody();
    for (let round = 1; round <= TIMES; round++) {
      const headers = { 'Idempotency-Key': `round-${round}` };
      const requestBody = { name: `once-${round}`, workload_id };
      const answers = await Promise.all([it.deploy(requestBody, headers), it.deploy(requestBody, headers)]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(new Set(answers.map(({ body }) => body.deployment.id)).size).toBe(1);
      expect(await deployments()).toBe(round);
    }
  },
  30_000 + 1000 * TIMES,
);

test('an Idempotency-Key with another body gets 422, and creates nothing', async () => {
  const requestBody = await aRequestBody();
  await it.deploy(requestBody, once);
  const before = await it.contents();
  const { status, body } = await it.deploy({ ...requestBody, name: 'another' }, once);
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
  expect(await it.contents()).toEqual(before);
});

test('the same Idempotency-Key of another caller is a different key', async () => {
  const requestBody = await aRequestBody();
  await it.deploy(requestBody, once);
  const others = [it.admin, await (await it.world.aUser('operator')).api(), await it.world.asTemporaryAdmin()];
  for (const [index, api] of others.entries()) {
    const taken = await api.post('/api/v1/deployments', requestBody, once);
    expect({ status: taken.status, code: taken.body.code }).toEqual({ status: 409, code: 'name_taken' });
    const made = await api.post('/api/v1/deployments', { ...requestBody, name: `of-another-${index}` }, once);
    expect(made.status).toBe(201);
  }
  expect(await deployments()).toBe(1 + others.length);
});

test('a rejected request can be repeated with the same Idempotency-Key', async () => {
  const { id } = await it.aWorkload();
  const requestBody = { name: 'later', workload_id: id };
  expect((await it.deploy(requestBody, once)).status).toBe(422);
  await it.aHost();
  expect((await it.deploy(requestBody, once)).status).toBe(201);
});

test.each([
  { what: 'empty', key: '' },
  { what: 'too long', key: 'k'.repeat(256) },
  { what: 'with a space', key: 'a key' },
  { what: 'not ASCII', key: 'clé' },
])('an Idempotency-Key that is $what gets 400', async ({ key }) => {
  const requestBody = await aRequestBody();
  const before = await it.contents();
  const { status, body } = await it.deploy(requestBody, { 'Idempotency-Key': key });
  expect({ status, paths: body.errors?.map(({ path }: { path: string }) => path) }).toEqual({
    status: 400,
    paths: ['Idempotency-Key'],
  });
  expect(await it.contents()).toEqual(before);
});

test('the longest Idempotency-Keys are compared to their last character', async () => {
  const { workload_id } = await aRequestBody();
  const keys = ['a', 'b'].map((last) => ({ 'Idempotency-Key': `${'k'.repeat(254)}${last}` }));
  const answers = [];
  for (const [index, headers] of keys.entries()) {
    answers.push(await it.deploy({ name: `long-${index}`, workload_id }, headers));
  }
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
});

test('an Idempotency-Key is valid for one day', async () => {
  const requestBody = await aRequestBody();
  const { body } = await it.deploy(requestBody, once);
  await it.client.$executeRaw`UPDATE idempotency_keys SET created_at = now() - interval '23 hours 59 minutes'`;
  expect((await it.deploy(requestBody, once)).body).toEqual(body);
  await it.client.$executeRaw`UPDATE idempotency_keys SET created_at = now() - interval '1 day 1 second'`;
  expect((await it.deploy(requestBody, once)).body.code).toBe('name_taken');
  const fresh = await it.deploy({ ...requestBody, name: 'the-next' }, once);
  expect(fresh.status).toBe(201);
  expect((await it.deploy({ ...requestBody, name: 'the-next' }, once)).body).toEqual(fresh.body);
});

test('a repeated request for a deleted deployment gets 404, and creates nothing', async () => {
  const requestBody = await aRequestBody();
  const { body } = await it.deploy(requestBody, once);
  await it.remove(body.deployment.id);
  const again = await it.deploy(requestBody, once);
  expect({ status: again.status, detail: again.body.detail }).toEqual({
    status: 404,
    detail: expect.stringContaining('has been deleted'),
  });
  expect(await deployments()).toBe(0);
});
