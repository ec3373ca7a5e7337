import { startWorld, TEMPORARY_ADMIN } from '../world.ts';
import { FREE_FAILURES, LOGIN, signInHelpers } from './sign-in-helpers.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const { anAddress, failUntilBlocked: failWith, waitIsOver } = signInHelpers(world);
const WRONG = { ...TEMPORARY_ADMIN, password: 'a guess' };
const failUntilBlocked = (from: Readonly<Record<string, string>>) => failWith(from, WRONG);

test('the temporary admin signs in and receives a pair of tokens', async () => {
  const { status, body, headers } = await world.nobody.post(LOGIN, TEMPORARY_ADMIN, anAddress());
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    refresh_token: expect.stringMatching(/^[\w-]{43}$/),
    token_type: 'Bearer',
    expires_in: 600,
    user: {
      kind: 'temporary-admin',
      id: null,
      name: TEMPORARY_ADMIN.username,
      email: null,
      role: 'admin',
      temporary: true,
    },
  });
  expect(headers['cache-control']).toBe('no-store');
});

test('the access token of a sign-in works at once', async () => {
  const { access_token } = await world.signIn();
  const { body } = await world.api(`Bearer ${access_token}`).get('/api/v1/auth/me');
  expect(body.user.kind).toBe('temporary-admin');
});

test('a sign-in stores no token in plain text', async () => {
  const { refresh_token } = await world.signIn();
  const rows = await sql.refreshToken.findMany();
  expect(JSON.stringify(rows)).not.toContain(refresh_token);
});

test('a wrong username and a wrong password have identical responses', async () => {
  const from = { ...anAddress(), 'X-Request-Id': 'the-same' };
  const wrongPassword = await world.nobody.post(LOGIN, WRONG, from);
  const wrongUsername = await world.nobody.post(LOGIN, { ...TEMPORARY_ADMIN, username: 'somebody' }, from);
  expect(wrongPassword).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
  expect(wrongUsername).toMatchObject({ status: wrongPassword.status, text: wrongPassword.text });
});

test('without a temporary admin, its username and password are rejected like wrong ones', async () => {
  const from = { ...anAddress(), 'X-Request-Id': 'the-same' };
  const without = world.aReplica({ temporaryAdmin: undefined }).api();
  const answer = await without.post(LOGIN, TEMPORARY_ADMIN, from);
  expect(answer.status).toBe(401);
  expect(answer.text).toBe((await world.nobody.post(LOGIN, WRONG, from)).text);
});

test.each([
  ['no password', { username: 'a' }, 'password: is required'],
  ['neither e-mail nor username', { password: 'a' }, 'email: is required, or username'],
  ['both e-mail and username', { ...TEMPORARY_ADMIN, email: 'a@example.test' }, 'not both'],
  ['a number as username', { username: 1, password: 'a' }, 'username'],
  ['an unknown member', { ...TEMPORARY_ADMIN, remember: true }, 'remember: unknown member'],
])('a sign-in whose body has %s is a 400 that names the member', async (_, body, detail) => {
  const answer = await world.nobody.post(LOGIN, body, anAddress());
  expect(answer.status).toBe(400);
  expect(answer.body.detail).toContain(detail);
});

describe('repeated sign-in failures', () => {
  beforeEach(() => sql.signInFailure.deleteMany());

  test('are answered 429 with the seconds to wait, also with the correct password', async () => {
    const from = anAddress();
    await failUntilBlocked(from);
    const { status, body, headers } = await world.nobody.post(LOGIN, TEMPORARY_ADMIN, from);
    expect({ status, code: body.code }).toEqual({ status: 429, code: 'rate_limited' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(3500);
  });

  test('block neither another address nor another account', async () => {
    const from = anAddress();
    await failUntilBlocked(from);
    expect((await world.nobody.post(LOGIN, TEMPORARY_ADMIN, anAddress())).status).toBe(200);
    expect((await world.nobody.post(LOGIN, { ...WRONG, username: 'another' }, from)).status).toBe(401);
  });

  test('count for the account however its name is written', async () => {
    const from = anAddress();
    await failUntilBlocked(from);
    const shouted = { ...WRONG, username: TEMPORARY_ADMIN.username.toUpperCase() };
    const spaced = { ...WRONG, username: `\u00a0 ${TEMPORARY_ADMIN.username} ` };
    for (const body of [shouted, spaced]) expect((await world.nobody.post(LOGIN, body, from)).status).toBe(429);
  });

  test('block on every replica', async () => {
    const from = anAddress();
    await failUntilBlocked(from);
    expect((await world.aReplica().api().post(LOGIN, TEMPORARY_ADMIN, from)).status).toBe(429);
  });

  test('are limited also if they are concurrent', async () => {
    const from = anAddress();
    for (let failures = 0; failures < FREE_FAILURES; failures++) await world.nobody.post(LOGIN, WRONG, from);
    // The next failure would cause a wait of 30 seconds.
    await sql.$executeRaw`UPDATE sign_in_failures SET failures = 9`;
    const guesses = Array.from({ length: 20 }, () => world.nobody.post(LOGIN, WRONG, from));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([401, ...Array(19).fill(429)]);
  });

  test('increase the wait each time, up to one minute', async () => {
    const from = anAddress();
    const waits: (number | undefined)[] = [];
    for (let failure = 1; failure <= 12; failure++) {
      expect((await world.nobody.post(LOGIN, WRONG, from)).status).toBe(401);
      const [row] = await sql.$queryRaw<{ seconds: number | null }[]>`
        SELECT extract(epoch FROM blocked_until - last_at)::int AS seconds FROM sign_in_failures
        WHERE blocked_until IS NOT NULL`;
      waits.push(row?.seconds ?? 0);
      await waitIsOver();
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('are reset by a successful sign-in', async () => {
    const from = anAddress();
    await failUntilBlocked(from);
    await waitIsOver();
    expect((await world.nobody.post(LOGIN, TEMPORARY_ADMIN, from)).status).toBe(200);
    await failUntilBlocked(from);
  });

  test('expire after 15 minutes', async () => {
    const from = anAddress();
    await failUntilBlocked(from);
    await sql.$executeRaw`
      UPDATE sign_in_failures SET last_at = last_at - interval '16 minutes', blocked_until = NULL`;
    await failUntilBlocked(from);
  });

  test('are stored without what was typed', async () => {
    await world.nobody.post(LOGIN, { username: 'typed by mistake', password: 'x' }, anAddress());
    const rows = await sql.signInFailure.findMany();
    expect(JSON.stringify(rows)).not.toContain('typed');
  });
});
