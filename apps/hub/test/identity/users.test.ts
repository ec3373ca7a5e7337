import { SUPERADMIN_EMAIL, startWorld } from '../world.ts';

const world = await startWorld();
const { api, issuer, database } = world;
afterAll(() => world.stop());

const call = async (sub: string, claims: Record<string, unknown>) =>
  api(`Bearer ${await issuer.sign(sub, claims)}`).get('/api/v1/catalog/categories');
const userOf = (sub: string) => database.client.user.findUnique({ where: { iss_sub: { iss: issuer.issuer, sub } } });

test('creates a user at the first valid token, and updates the user from the claims of later tokens', async () => {
  await call('ada', { email: 'Ada@Example.test', email_verified: true, name: 'Ada' });
  expect(await userOf('ada')).toMatchObject({
    email: 'ada@example.test',
    email_verified: true,
    name: 'Ada',
    role: 'user',
  });
  await call('ada', { email: 'new@example.test', email_verified: false, name: 'Ada L.' });
  expect(await userOf('ada')).toMatchObject({ email: 'new@example.test', email_verified: false, name: 'Ada L.' });
});

test('creates one user for concurrent first requests', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => call('many', {})));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
});

test('does not read the role from the token', async () => {
  await call('claimant', { role: 'superadmin', roles: ['admin'] });
  expect(await userOf('claimant')).toMatchObject({ role: 'user' });
});

test('assigns the role superadmin for a configured e-mail address only if it is verified', async () => {
  await call('unverified', { email: SUPERADMIN_EMAIL, email_verified: false });
  await call('silent', { email: SUPERADMIN_EMAIL });
  await call('verified', { email: SUPERADMIN_EMAIL.toUpperCase(), email_verified: true });
  expect(await userOf('unverified')).toMatchObject({ role: 'user' });
  expect(await userOf('silent')).toMatchObject({ role: 'user' });
  expect(await userOf('verified')).toMatchObject({ role: 'superadmin' });
});

test('keeps a role that was set through the API, whatever the configuration states', async () => {
  await call('demoted', { email: SUPERADMIN_EMAIL, email_verified: true });
  const { id } = (await userOf('demoted')) ?? { id: '' };
  await database.client.user.update({ where: { id }, data: { role: 'user', role_set: true } });
  await call('demoted', { email: SUPERADMIN_EMAIL, email_verified: true });
  expect(await userOf('demoted')).toMatchObject({ role: 'user' });
});

test('creates another user for the same e-mail address with another subject', async () => {
  await call('first', { email: 'shared@example.test', email_verified: true });
  await call('second', { email: 'shared@example.test', email_verified: true });
  expect((await userOf('first'))?.id).not.toBe((await userOf('second'))?.id);
});

test('applies a change of the role at the next request', async () => {
  const admin = await world.aUser('admin');
  expect((await admin.get('/api/v1/admin/categories')).status).toBe(200);
  await database.client.user.updateMany({ where: { role: 'admin' }, data: { role: 'user' } });
  expect((await admin.get('/api/v1/admin/categories')).status).toBe(403);
});

test('invisible characters of a name are not stored, and an e-mail address with one is ignored', async () => {
  await call('bidi', { email: 'ro\u200bot@example.test', email_verified: true, name: 'ad\u202emin\u200b' });
  expect(await userOf('bidi')).toMatchObject({ name: 'admin', email: null, role: 'user' });
});
