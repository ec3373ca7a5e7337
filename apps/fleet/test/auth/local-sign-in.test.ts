import * as argon2 from '@node-rs/argon2';
import { createPasswords } from '../../src/identity/passwords/passwords.ts';
import { startWorld, TEMPORARY_ADMIN } from '../world.ts';
import { LOGIN, signInHelpers } from './sign-in-helpers.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const { nobody, aUser, aReplica, anOidcUser } = world;
const { anAddress, failUntilBlocked, waitIsOver } = signInHelpers(world);
const hashOf = async (id: string) => (await sql.user.findUniqueOrThrow({ where: { id } })).password_hash;

test('a local user signs in and receives a working pair of tokens', async () => {
  const { id, email, password } = await aUser('operator');
  const { status, body, headers } = await nobody.post(LOGIN, { email, password }, anAddress());
  expect(status).toBe(200);
  expect(body).toMatchObject({ token_type: 'Bearer', user: { kind: 'local', id, email, role: 'operator' } });
  expect(headers['cache-control']).toBe('no-store');
  expect((await world.api(`Bearer ${body.access_token}`).get('/api/v1/auth/me')).body.user.id).toBe(id);
  const refreshed = await nobody.post('/api/v1/auth/refresh', { refresh_token: body.refresh_token });
  expect(refreshed).toMatchObject({ status: 200, body: { user: { id } } });
});

test('a sign-in is recorded with the local user', async () => {
  const { id, signIn } = await aUser('viewer');
  const noted = async () => (await world.asAdmin.get(`/api/v1/users/${id}`)).body.user.last_sign_in_at;
  expect(await noted()).toBeNull();
  await signIn();
  expect(await noted()).toEqual(expect.any(String));
});

test('a local user can sign in with capitals in the e-mail address and spaces around it', async () => {
  const { email, password } = await aUser('viewer');
  const written = { email: `  ${email.toUpperCase()} `, password };
  expect((await nobody.post(LOGIN, written, anAddress())).status).toBe(200);
});

test('a sign-in compares the password exactly as it was sent', async () => {
  const { email } = await aUser('viewer', { password: ' Exactly this one ' });
  for (const [password, status] of [
    [' Exactly this one ', 200],
    ['Exactly this one', 401],
    [' exactly this one ', 401],
  ]) {
    expect((await nobody.post(LOGIN, { email, password }, anAddress())).status).toBe(status);
  }
});

test('a sign-in does not accept an e-mail address as username, or a username as e-mail address', async () => {
  const { email, password } = await aUser('viewer');
  const { username } = TEMPORARY_ADMIN;
  const turned = [
    { username: email, password },
    { email: username, password: TEMPORARY_ADMIN.password },
  ];
  for (const body of turned) expect((await nobody.post(LOGIN, body, anAddress())).status).toBe(401);
});

test('a sign-in with an unknown e-mail, a provider’s user or a wrong password has the same response after one verification', async () => {
  const { email } = await aUser('viewer');
  await anOidcUser();
  await sql.user.updateMany({ where: { source: 'oidc' }, data: { email: 'provider@example.test' } });
  let verifications = 0;
  const replica = aReplica({
    passwords: {
      ...world.passwords,
      verify: (...given) => {
        verifications++;
        return world.passwords.verify(...given);
      },
    },
  });
  const answers: object[] = [];
  for (const tried of [email, 'nobody@example.test', 'provider@example.test', ' NOBODY@example.test']) {
    verifications = 0;
    const body = { email: tried, password: 'a wrong password' };
    const { status, text, headers } = await replica.api().post(LOGIN, body, { ...anAddress(), 'X-Request-Id': 'same' });
    expect(verifications).toBe(1);
    answers.push({ status, text, headers: { ...headers, date: undefined } });
  }
  expect(answers[0]).toMatchObject({ status: 401, text: expect.stringContaining('invalid_credentials') });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

test.each([
  ['an existing user', async () => (await aUser('viewer')).email],
  ['an unknown user', async () => 'nobody-at-all@example.test'],
])(
  'repeated failures for the e-mail of %s are throttled on every replica, and for this client address only',
  async (_, who) => {
    const email = await who();
    const from = anAddress();
    await failUntilBlocked(from, { email, password: 'a guess' });
    for (const { api } of [world, aReplica()]) {
      const { status, body, headers } = await api().post(LOGIN, { email, password: 'a guess' }, from);
      expect({ status, code: body.code }).toEqual({ status: 429, code: 'rate_limited' });
      expect(Number(headers['retry-after'])).toBeGreaterThan(3500);
    }
    expect((await nobody.post(LOGIN, { email, password: 'a guess' }, anAddress())).status).toBe(401);
  },
);

test('failed sign-ins lock nobody out: the password works from other addresses at once, and from this one after the wait', async () => {
  const { email, password } = await aUser('viewer');
  const from = anAddress();
  await failUntilBlocked(from, { email, password: 'a guess' });
  expect((await nobody.post(LOGIN, { email, password }, from)).status).toBe(429);
  expect((await nobody.post(LOGIN, { email, password }, anAddress())).status).toBe(200);
  // The success was at another address.
  expect((await nobody.post(LOGIN, { email, password }, from)).status).toBe(429);
  await waitIsOver();
  expect((await nobody.post(LOGIN, { email, password }, from)).status).toBe(200);
});

test.each([
  ['in capitals', (email: string) => email.toUpperCase()],
  ['with a leading space', (email: string) => ` ${email}`],
  ['with trailing spaces', (email: string) => `${email}\u00a0\u3000 `],
])('guesses at an e-mail address %s count as guesses at the same account', async (_, written) => {
  const { email, password } = await aUser('viewer');
  const from = anAddress();
  await failUntilBlocked(from, { email, password: 'a guess' });
  expect((await nobody.post(LOGIN, { email: written(email), password }, from)).status).toBe(429);
});

describe('a password hash of lower cost', () => {
  const { api } = aReplica({ passwords: createPasswords({ hashing: argon2 }) });
  const weakUser = async () => {
    const { id, email, password } = await aUser('viewer');
    const signIn = async () => {
      expect((await api().post(LOGIN, { email, password }, anAddress())).status).toBe(200);
    };
    return { id, email, weak: await hashOf(id), signIn };
  };

  test('is replaced by one of the default cost when its user signs in', async () => {
    const { id, weak, signIn } = await weakUser();
    await signIn();
    const today = await hashOf(id);
    expect(today).not.toBe(weak);
    const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(today ?? '') ?? [];
    expect(Number(memory)).toBeGreaterThanOrEqual(19_456);
    expect(Number(time)).toBeGreaterThanOrEqual(2);
    await signIn();
    expect(await hashOf(id)).toBe(today);
  });

  test('is replaced once by several concurrent sign-ins, which all succeed', async () => {
    const { id, weak, signIn } = await weakUser();
    await Promise.all([signIn(), signIn(), signIn()]);
    expect(await hashOf(id)).not.toBe(weak);
    await signIn();
  });

  test('is kept when the password was wrong', async () => {
    const { id, email, weak } = await weakUser();
    await api().post(LOGIN, { email, password: 'a guess' }, anAddress());
    expect(await hashOf(id)).toBe(weak);
  });
});
