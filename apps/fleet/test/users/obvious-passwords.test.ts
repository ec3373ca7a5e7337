import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const { asAdmin } = world;
const USERS = '/api/v1/users';
const EMAIL = 'grace.hopper@example.test';
const pathsOf = ({ body }: Awaited<ReturnType<typeof asAdmin.get>>) =>
  (body.errors ?? []).map(({ path }: { path: string }) => path);

test.each([
  ['seven characters', 'tr4ctor'],
  ['a famous password', 'password1'],
  ['a row of the keyboard', 'qwertyuiop'],
  ['one character many times', 'aaaaaaaaaaaaaaaa'],
  ['digits in their order', '1234567890'],
  ['the e-mail', 'grace.hopper@example.test'],
  ['what stands before the @', 'grace.hopper'],
])('%s is no password, when a user is made or changed', async (_, password) => {
  const made = await asAdmin.post(USERS, { email: EMAIL, role: 'viewer', password });
  expect([made.status, pathsOf(made)]).toEqual([400, ['password']]);
  const user = await world.aUser('viewer', { email: EMAIL });
  const changed = await asAdmin.put(`${USERS}/${user.id}`, { password });
  expect([changed.status, pathsOf(changed)]).toEqual([400, ['password']]);
  await user.signIn(); // the former one is still good
  await sql.user.delete({ where: { id: user.id } });
});
