import { byDepth } from '@svc/testing';
import { startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

/** Creates a host and a workload. @returns the body of a request for a deployment */
async function aRequestBody() {
  await fleet.aHost();
  return { name: 'once', workload_id: (await fleet.aWorkload()).id };
}

const once = { 'Idempotency-Key': 'the-first-try' };
const deployments = () => fleet.client.deployment.count();

test('a repeated request with the same key and body returns the same deployment, which is created once', async () => {
  const requestBody = await aRequestBody();
  const first = await fleet.deploy(requestBody, once);
  const second = await fleet.deploy({ workload_id: requestBody.workload_id, name: 'once', labels: {} }, once);
  expect(first.status).toBe(201);
  expect(second.status).toBe(201);
  expect(second.body).toEqual(first.body);
  expect(await fleet.client.deploymentEvent.count()).toBe(1);
});

test('a repeated request returns the current state of the deployment', async () => {
  const requestBody = await aRequestBody();
  const { body } = await fleet.deploy(requestBody, once);
  await fleet.ask(body.deployment.id, 'scale', { replicas: 2 });
  const again = await fleet.deploy(requestBody, once);
  expect(again.body.deployment).toMatchObject({ id: body.deployment.id, replicas: 2, generation: 2 });
});

/** The host has the capacity for 64 deployments. */
const TIMES = byDepth({ short: 5, full: 20, long: 60 });

test(
  `two concurrent requests with the same key create one deployment, ${TIMES} times`,
  async () => {
    const { workload_id } = await aRequestBody();
    for (let round = 1; round <= TIMES; round++) {
      const headers = { 'Idempotency-Key': `round-${round}` };
      const requestBody = { name: `once-${round}`, workload_id };
      const answers = await Promise.all([fleet.deploy(requestBody, headers), fleet.deploy(requestBody, headers)]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(new Set(answers.map(({ body }) => body.deployment.id)).size).toBe(1);
      expect(await deployments()).toBe(round);
    }
  },
  30_000 + 1000 * TIMES,
);

test('an Idempotency-Key with another body gets 422, and creates nothing', async () => {
  const requestBody = await aRequestBody();
  await fleet.deploy(requestBody, once);
  const before = await fleet.contents();
  const { status, body } = await fleet.deploy({ ...requestBody, name: 'another' }, once);
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
  expect(await fleet.contents()).toEqual(before);
});

test('the same Idempotency-Key of another caller is a different key', async () => {
  const requestBody = await aRequestBody();
  await fleet.deploy(requestBody, once);
  const others = [fleet.admin, await (await fleet.world.aUser('operator')).api(), await fleet.world.asTemporaryAdmin()];
  for (const [index, api] of others.entries()) {
    const taken = await api.post('/api/v1/deployments', requestBody, once);
    expect({ status: taken.status, code: taken.body.code }).toEqual({ status: 409, code: 'name_taken' });
    const made = await api.post('/api/v1/deployments', { ...requestBody, name: `of-another-${index}` }, once);
    expect(made.status).toBe(201);
  }
  expect(await deployments()).toBe(1 + others.length);
});

test('a rejected request can be repeated with the same Idempotency-Key', async () => {
  const { id } = await fleet.aWorkload();
  const requestBody = { name: 'later', workload_id: id };
  expect((await fleet.deploy(requestBody, once)).status).toBe(422);
  await fleet.aHost();
  expect((await fleet.deploy(requestBody, once)).status).toBe(201);
});

test.each([
  { what: 'empty', key: '' },
  { what: 'too long', key: 'k'.repeat(256) },
  { what: 'with a space', key: 'a key' },
  { what: 'not ASCII', key: 'clé' },
])('an Idempotency-Key that is $what gets 400', async ({ key }) => {
  const requestBody = await aRequestBody();
  const before = await fleet.contents();
  const { status, body } = await fleet.deploy(requestBody, { 'Idempotency-Key': key });
  expect({ status, paths: body.errors?.map(({ path }: { path: string }) => path) }).toEqual({
    status: 400,
    paths: ['Idempotency-Key'],
  });
  expect(await fleet.contents()).toEqual(before);
});

test('the longest Idempotency-Keys are compared to their last character', async () => {
  const { workload_id } = await aRequestBody();
  const keys = ['a', 'b'].map((last) => ({ 'Idempotency-Key': `${'k'.repeat(254)}${last}` }));
  const answers = [];
  for (const [index, headers] of keys.entries()) {
    answers.push(await fleet.deploy({ name: `long-${index}`, workload_id }, headers));
  }
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
});

test('an Idempotency-Key is valid for one day', async () => {
  const requestBody = await aRequestBody();
  const { body } = await fleet.deploy(requestBody, once);
  await fleet.client.$executeRaw`UPDATE idempotency_keys SET created_at = now() - interval '23 hours 59 minutes'`;
  expect((await fleet.deploy(requestBody, once)).body).toEqual(body);
  await fleet.client.$executeRaw`UPDATE idempotency_keys SET created_at = now() - interval '1 day 1 second'`;
  expect((await fleet.deploy(requestBody, once)).body.code).toBe('name_taken');
  const fresh = await fleet.deploy({ ...requestBody, name: 'the-next' }, once);
  expect(fresh.status).toBe(201);
  expect((await fleet.deploy({ ...requestBody, name: 'the-next' }, once)).body).toEqual(fresh.body);
});

test('a repeated request for a deleted deployment gets 404, and creates nothing', async () => {
  const requestBody = await aRequestBody();
  const { body } = await fleet.deploy(requestBody, once);
  await fleet.remove(body.deployment.id);
  const again = await fleet.deploy(requestBody, once);
  expect({ status: again.status, detail: again.body.detail }).toEqual({
    status: 404,
    detail: expect.stringContaining('has been deleted'),
  });
  expect(await deployments()).toBe(0);
});
