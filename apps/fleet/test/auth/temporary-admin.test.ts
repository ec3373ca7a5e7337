import { startWorld, TEMPORARY_ADMIN } from '../world.ts';
import { LOGIN, signInHelpers } from './sign-in-helpers.ts';

const world = await startWorld();
afterAll(() => world.stop());

const ME = '/api/v1/auth/me';
const { anAddress } = signInHelpers(world);
const without = world.aReplica({ temporaryAdmin: undefined });

describe.each([
  ['a restart without the variables of the temporary admin', without],
  [
    'a restart with another password of the temporary admin',
    world.aReplica({ temporaryAdmin: { ...TEMPORARY_ADMIN, password: 'another' } }),
  ],
  [
    'a restart with another username of the temporary admin',
    world.aReplica({ temporaryAdmin: { ...TEMPORARY_ADMIN, username: 'another' } }),
  ],
])('after %s,', (_, changed) => {
  test('a session of the temporary admin is rejected at its first request', async () => {
    const { access_token, refresh_token } = await world.signIn();
    expect((await changed.api(`Bearer ${access_token}`).get(ME)).body.code).toBe('invalid_token');
    const refreshed = await changed.api().post('/api/v1/auth/refresh', { refresh_token });
    expect(refreshed.body.code).toBe('invalid_grant');
  });

  test('the former username and password are rejected', async () => {
    expect((await changed.api().post(LOGIN, TEMPORARY_ADMIN, anAddress())).body.code).toBe('invalid_credentials');
  });

  test('the tokens and users that the temporary admin created remain', async () => {
    const asTemporaryAdmin = await world.asTemporaryAdmin();
    const token = await asTemporaryAdmin.post('/api/v1/tokens', { name: 'left behind', role: 'operator' });
    const account = { email: `made-${Math.random()}@example.test`, password: 'twenty patient gardeners' };
    await asTemporaryAdmin.post('/api/v1/users', { ...account, role: 'admin' });
    const me = await changed.api(`Bearer ${token.body.token.secret}`).get(ME);
    expect(me.body.user).toMatchObject({ name: 'left behind', role: 'operator' });
    expect((await changed.api().post(LOGIN, account, anAddress())).status).toBe(200);
  });
});

test('the sessions of the temporary admin are valid again if the same variables are set again', async () => {
  const { access_token } = await world.signIn();
  await without.api(`Bearer ${access_token}`).get(ME);
  expect((await world.aReplica().api(`Bearer ${access_token}`).get(ME)).status).toBe(200);
});

test('a frontend can read whether there is a temporary admin, and whether there are local users', async () => {
  await world.database.client.user.deleteMany();
  const told = async (replica: Pick<typeof without, 'api'>) => (await replica.api().get('/api/v1/auth/config')).body;
  expect(await told(world)).toMatchObject({ local: false, temporary_admin: true, oidc: null });
  await world.aUser('viewer');
  expect(await told(without)).toMatchObject({ local: true, temporary_admin: false, oidc: null });
});

test('a sign-in with a wrong username, a wrong password or no temporary admin has identical bodies and headers', async () => {
  const { username, password } = TEMPORARY_ADMIN;
  const tried = [
    [world, { username, password: 'a guess' }],
    [world, { username, password: '' }],
    [world, { username: 'a guess', password }],
    [world, { username: '', password: '' }],
    [world, { username: username.toUpperCase(), password }],
    [world, { username: `${username} `, password }],
    [without, { username, password }],
    [without, { username: '', password: '' }],
  ] as const;
  const answers: object[] = [];
  for (const [{ api }, body] of tried) {
    const { status, text, headers } = await api().post(LOGIN, body, { ...anAddress(), 'X-Request-Id': 'the-same' });
    answers.push({ status, text, headers: { ...headers, date: undefined } });
  }
  expect(answers[0]).toMatchObject({ status: 401, text: expect.stringContaining('invalid_credentials') });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});
