import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const { asAdmin } = world;
const USERS = '/api/v1/users';
const PASSWORD = 'seventeen quiet tractors';
const aBody = (email: string) => ({ email, role: 'viewer', password: PASSWORD });
const create = (email: string) => asAdmin.post(USERS, aBody(email));

test('an e-mail is kept without blanks around and in lower case', async () => {
  const { body } = await create('  Grace.HOPPER@Example.Test\u00a0');
  expect(body.user.email).toBe('grace.hopper@example.test');
});

test('an e-mail is one user’s, however it is written', async () => {
  await create('only@example.test');
  for (const email of ['only@example.test', ' ONLY@example.test']) {
    const { status, body } = await create(email);
    expect([status, body.code]).toEqual([409, 'email_taken']);
  }
});

test('an e-mail is one user’s among ten that are made at the same moment, on two replicas', async () => {
  const admin = `Bearer ${(await world.aToken({ role: 'admin' })).secret}`;
  const replicas = [world, world.aReplica()].map(({ api }) => api(admin));
  const body = aBody('race@example.test');
  const ten = Array.from({ length: 10 }, (_, index) => replicas[index % 2]?.post(USERS, body));
  const statuses = (await Promise.all(ten)).map((answer) => answer?.status);
  expect(statuses.sort()).toEqual([201, ...Array(9).fill(409)]);
  expect(await sql.user.count({ where: { email: 'race@example.test' } })).toBe(1);
});

test('an e-mail of a user who was removed is free again', async () => {
  const { body } = await create('again@example.test');
  await asAdmin.delete(`${USERS}/${body.user.id}`);
  const second = await create('again@example.test');
  expect(second.status).toBe(201);
  expect(second.body.user.id).not.toBe(body.user.id);
});
