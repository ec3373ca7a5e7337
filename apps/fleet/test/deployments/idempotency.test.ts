import { byDepth } from '@svc/testing';
import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();

/** A wish that two callers can have alike. */
async function aWish() {
  await it.aHost();
  return { name: 'once', workload_id: (await it.aWorkload()).id };
}

const once = { 'Idempotency-Key': 'the-first-try' };
const deployments = () => it.client.deployment.count();

test('the same key and body answer the same deployment, made once', async () => {
  const wish = await aWish();
  const first = await it.deploy(wish, once);
  const second = await it.deploy({ workload_id: wish.workload_id, name: 'once', labels: {} }, once);
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(await it.client.deploymentEvent.count()).toBe(1);
});

test('when it has changed meanwhile, the answer is what it is now', async () => {
  const wish = await aWish();
  const { body } = await it.deploy(wish, once);
  await it.ask(body.deployment.id, 'scale', { replicas: 2 });
  const again = await it.deploy(wish, once);
  expect(again.body.deployment).toMatchObject({ id: body.deployment.id, replicas: 2, generation: 2 });
});

const TIMES = byDepth({ short: 5, full: 20, long: 200 });

test(
  `two concurrent requests with the same key make one deployment, ${TIMES} times`,
  async () => {
    const { workload_id } = await aWish();
    for (let round = 1; round <= TIMES; round++) {
      const headers = { 'Idempotency-Key': `round-${round}` };
      const wish = { name: `once-${round}`, workload_id };
      const answers = await Promise.all([it.deploy(wish, headers), it.deploy(wish, headers)]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(new Set(answers.map(({ body }) => body.deployment.id)).size).toBe(1);
      expect(await deployments()).toBe(round);
    }
  },
  30_000 + 1000 * TIMES,
);

test('the key with another body is a 422, and makes nothing', async () => {
  const wish = await aWish();
  await it.deploy(wish, once);
  const before = await it.contents();
  const { status, body } = await it.deploy({ ...wish, name: 'another' }, once);
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
  expect(await it.contents()).toEqual(before);
});

test('the key of another caller is another key', async () => {
  const wish = await aWish();
  await it.deploy(wish, once);
  const others = [it.admin, await (await it.world.aUser('operator')).api(), await it.world.asTemporaryAdmin()];
  for (const [index, api] of others.entries()) {
    const taken = await api.post('/api/v1/deployments', wish, once);
    expect({ status: taken.status, code: taken.body.code }).toEqual({ status: 409, code: 'name_taken' });
    const made = await api.post('/api/v1/deployments', { ...wish, name: `of-another-${index}` }, once);
    expect(made.status).toBe(201);
  }
  expect(await deployments()).toBe(1 + others.length);
});

test('a refusal is not kept: the same request is tried again', async () => {
  const { id } = await it.aWorkload();
  const wish = { name: 'later', workload_id: id };
  expect((await it.deploy(wish, once)).status).toBe(422);
  await it.aHost();
  expect((await it.deploy(wish, once)).status).toBe(201);
});

test.each([
  { what: 'empty', key: '' },
  { what: 'too long', key: 'k'.repeat(256) },
  { what: 'with a space', key: 'a key' },
  { what: 'not ASCII', key: 'clé' },
])('a key that is $what is a 400', async ({ key }) => {
  const wish = await aWish();
  const before = await it.contents();
  const { status, body } = await it.deploy(wish, { 'Idempotency-Key': key });
  expect({ status, paths: body.errors?.map(({ path }: { path: string }) => path) }).toEqual({
    ...{ status: 400, paths: ['Idempotency-Key'] },
  });
  expect(await it.contents()).toEqual(before);
});

test('the longest key counts to its last character', async () => {
  const { workload_id } = await aWish();
  const keys = ['a', 'b'].map((last) => ({ 'Idempotency-Key': `${'k'.repeat(254)}${last}` }));
  const answers = [];
  for (const [index, headers] of keys.entries()) {
    answers.push(await it.deploy({ name: `long-${index}`, workload_id }, headers));
  }
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
});

test('after a day a key is forgotten, and within it is not', async () => {
  const wish = await aWish();
  const { body } = await it.deploy(wish, once);
  await it.client.$executeRaw`UPDATE repeatable_requests SET created_at = now() - interval '23 hours 59 minutes'`;
  expect((await it.deploy(wish, once)).body).toEqual(body);
  await it.client.$executeRaw`UPDATE repeatable_requests SET created_at = now() - interval '1 day 1 second'`;
  expect((await it.deploy(wish, once)).body.code).toBe('name_taken');
  const fresh = await it.deploy({ ...wish, name: 'the-next' }, once);
  expect(fresh.status).toBe(201);
  expect((await it.deploy({ ...wish, name: 'the-next' }, once)).body).toEqual(fresh.body);
});

test('what was deleted is not made again by its key', async () => {
  const wish = await aWish();
  const { body } = await it.deploy(wish, once);
  await it.remove(body.deployment.id);
  const again = await it.deploy(wish, once);
  expect({ status: again.status, detail: again.body.detail }).toEqual({
    status: 404,
    detail: expect.stringContaining('was deleted'),
  });
  expect(await deployments()).toBe(0);
});
