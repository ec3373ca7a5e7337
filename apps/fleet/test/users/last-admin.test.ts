import { byDepth, LONG_TEST_MS } from '@svc/testing';
import { PROVIDER, startWorld } from '../world.ts';

const world = await startWorld({ oidc: { issuer: PROVIDER } });
const { secret } = await world.aToken({ role: 'admin' });
const replicas = [world, world.aReplica({ oidc: { issuer: PROVIDER } })].map(({ api }) => api(`Bearer ${secret}`));
afterAll(() => world.stop());

const sql = world.database.client;
const [asAdmin] = replicas as [(typeof replicas)[number]];
const ROUNDS = byDepth({ short: 10, full: 100, long: 1000 });
const FEW_ROUNDS = Math.ceil(ROUNDS / 5);

const admins = () => sql.user.count({ where: { source: 'local', role: 'admin' } });
/** Replaces all users by this many admins. */
const onlyAdmins = async (number: number) => {
  await sql.user.deleteMany();
  return Promise.all(Array.from({ length: number }, () => world.aUser('admin')));
};
const demote = (id: string, by = asAdmin) => by.put(`/api/v1/users/${id}`, { role: 'viewer' });
const remove = (id: string, by = asAdmin) => by.delete(`/api/v1/users/${id}`);

test.each([
  ['demoted', demote],
  ['removed', remove],
])('the last local admin cannot be %s, whatever other users there are', async (_, end) => {
  const [one, other] = await onlyAdmins(2);
  await world.aUser('operator');
  await world.anOidcUser({ role: 'admin' });
  expect((await end(one?.id ?? '')).status).toBeLessThan(300);
  const { status, body } = await end(other?.id ?? '');
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'last_admin' });
  expect(await admins()).toBe(1);
});

test('all other changes of the last local admin are possible', async () => {
  const [last] = await onlyAdmins(1);
  const change = { name: 'Still here', role: 'admin', password: 'eleven patient lanterns' };
  expect((await asAdmin.put(`/api/v1/users/${last?.id}`, change)).status).toBe(200);
});

test('other users can be demoted and removed while there is one admin', async () => {
  await onlyAdmins(1);
  const { id } = await world.aUser('operator');
  expect((await demote(id)).status).toBe(200);
  expect((await remove(id)).status).toBe(204);
  const ofProvider = await world.anOidcUser({ role: 'admin' });
  expect((await remove(ofProvider.id)).status).toBe(204);
});

test('an admin can demote themselves while there is another, with effect on the next request', async () => {
  const [me] = await onlyAdmins(2);
  const mine = (await me?.api()) ?? world.nobody;
  expect((await demote(me?.id ?? '', mine)).status).toBe(200);
  expect((await demote(me?.id ?? '', mine)).body.code).toBe('insufficient_scope');
});

test(
  `two concurrent demotions leave one admin, ${ROUNDS} times`,
  async () => {
    const both = await onlyAdmins(2);
    for (let round = 0; round < ROUNDS; round++) {
      await sql.user.updateMany({ data: { role: 'admin' } });
      const answers = await Promise.all(both.map(({ id }, index) => demote(id, replicas[index])));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(await admins()).toBe(1);
    }
  },
  LONG_TEST_MS,
);

test(
  'two concurrent removals, or a removal and a demotion, leave one admin',
  async () => {
    const [, another] = replicas;
    for (let round = 0; round < FEW_ROUNDS; round++) {
      const [one, other] = await onlyAdmins(2);
      const end = round % 2 === 0 ? remove : demote;
      const answers = await Promise.all([remove(one?.id ?? ''), end(other?.id ?? '', another)]);
      expect(answers.filter(({ body }) => body?.code === 'last_admin')).toHaveLength(1);
      expect(await admins()).toBe(1);
    }
  },
  LONG_TEST_MS,
);

test(
  'three concurrent admins that each demote the next leave one admin',
  async () => {
    for (let round = 0; round < FEW_ROUNDS; round++) {
      const three = await onlyAdmins(3);
      const answers = await Promise.all(three.map(({ id }, index) => demote(id, replicas[index % 2])));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409]);
      expect(await admins()).toBe(1);
    }
  },
  LONG_TEST_MS,
);
