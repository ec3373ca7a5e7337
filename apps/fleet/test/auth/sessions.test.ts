import { byDepth, LONG_TEST_MS } from '@svc/testing';
import { startWorld, TEMPORARY_ADMIN } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const refreshWith = (refresh_token: string, { nobody }: Pick<typeof world, 'nobody'> = world) =>
  nobody.post('/api/v1/auth/refresh', { refresh_token });
const meWith = (access_token: string) => world.api(`Bearer ${access_token}`).get('/api/v1/auth/me');

const elevenSecondsPass = () => sql.$executeRaw`UPDATE refresh_tokens SET used_at = used_at - interval '11 seconds'`;

test('a refresh token is exchanged for a new working pair', async () => {
  const first = await world.signIn();
  const { status, body, headers } = await refreshWith(first.refresh_token);
  expect(status).toBe(200);
  expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, user: { name: TEMPORARY_ADMIN.username } });
  expect(body.refresh_token).not.toBe(first.refresh_token);
  expect(headers['cache-control']).toBe('no-store');
  expect((await meWith(body.access_token)).status).toBe(200);
  expect((await refreshWith(body.refresh_token)).status).toBe(200);
});

test.each([
  ['is unknown', 'x'.repeat(43)],
  ['is empty', ''],
])('a refresh token that %s is rejected', async (_, token) => {
  expect(await refreshWith(token)).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
});

test('an access token is not accepted as a refresh token', async () => {
  const { access_token } = await world.signIn();
  expect((await refreshWith(access_token)).body.code).toBe('invalid_grant');
});

test('a second use within ten seconds, before the successor was used, returns a new pair: the response was lost', async () => {
  const { refresh_token } = await world.signIn();
  const lost = await refreshWith(refresh_token);
  const fresh = await refreshWith(refresh_token);
  expect(fresh.status).toBe(200);
  expect(fresh.body.refresh_token).not.toBe(lost.body.refresh_token);
  expect((await refreshWith(fresh.body.refresh_token)).status).toBe(200);
});

test('a second use of a refresh token after its successor was used ends the session and its access tokens', async () => {
  const first = await world.signIn();
  const second = await refreshWith(first.refresh_token);
  const third = await refreshWith(second.body.refresh_token);
  expect((await refreshWith(first.refresh_token)).body.code).toBe('invalid_grant');
  expect((await refreshWith(third.body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await meWith(first.access_token)).body.code).toBe('invalid_token');
  expect((await meWith(third.body.access_token)).body.code).toBe('invalid_token');
});

test('a second use of a refresh token after more than ten seconds ends the session and its access tokens', async () => {
  const first = await world.signIn();
  const second = await refreshWith(first.refresh_token);
  await elevenSecondsPass();
  expect((await refreshWith(first.refresh_token)).body.code).toBe('invalid_grant');
  expect((await refreshWith(second.body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await meWith(second.body.access_token)).body.code).toBe('invalid_token');
});

test('repeated uses of a refresh token do not extend the ten seconds', async () => {
  const { refresh_token } = await world.signIn();
  await refreshWith(refresh_token);
  await sql.$executeRaw`UPDATE refresh_tokens SET used_at = used_at - interval '9 seconds'`;
  await refreshWith(refresh_token);
  await sql.$executeRaw`UPDATE refresh_tokens SET used_at = used_at - interval '9 seconds'`;
  expect((await refreshWith(refresh_token)).body.code).toBe('invalid_grant');
});

test('if two successors of one refresh token are used, two parties hold them: the session ends', async () => {
  const { refresh_token } = await world.signIn();
  const one = await refreshWith(refresh_token);
  const other = await refreshWith(refresh_token);
  const used = await refreshWith(one.body.refresh_token);
  expect(used.status).toBe(200);
  expect((await refreshWith(other.body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await refreshWith(used.body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await meWith(used.body.access_token)).body.code).toBe('invalid_token');
});

test('two concurrent uses of a refresh token both return a working pair', async () => {
  const { refresh_token } = await world.signIn();
  const pairs = await Promise.all([refreshWith(refresh_token), refreshWith(refresh_token)]);
  expect(pairs.map(({ status }) => status)).toEqual([200, 200]);
  for (const { body } of pairs) expect((await meWith(body.access_token)).status).toBe(200);
});

test('ten concurrent uses of a refresh token after ten seconds all fail, and end the session once', async () => {
  const first = await world.signIn();
  await refreshWith(first.refresh_token);
  await elevenSecondsPass();
  const late = await Promise.all(Array.from({ length: 10 }, () => refreshWith(first.refresh_token)));
  expect(new Set(late.map(({ body }) => body.code))).toEqual(new Set(['invalid_grant']));
  expect((await meWith(first.access_token)).status).toBe(401);
});

test('the end of one session does not affect the others', async () => {
  const mine = await world.signIn();
  const another = await world.signIn();
  await refreshWith(mine.refresh_token);
  await elevenSecondsPass();
  await refreshWith(mine.refresh_token);
  expect((await refreshWith(another.refresh_token)).status).toBe(200);
});

test('a session expires, however often it was refreshed', async () => {
  const { refresh_token } = await world.signIn();
  const { body } = await refreshWith(refresh_token);
  await sql.$executeRaw`UPDATE sessions SET expires_at = now()`;
  expect((await refreshWith(body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await meWith(body.access_token)).body.code).toBe('invalid_token');
});

test('a refresh token works on every replica', async () => {
  const { refresh_token } = await world.signIn();
  expect((await refreshWith(refresh_token, { nobody: world.aReplica().api() })).status).toBe(200);
});

test.each([
  ['the variables are removed', undefined],
  ['the password has changed', { ...TEMPORARY_ADMIN, password: 'another' }],
  ['the username has changed', { ...TEMPORARY_ADMIN, username: 'another' }],
])('a refresh token of the temporary admin is rejected if %s', async (_, temporaryAdmin) => {
  const { refresh_token } = await world.signIn();
  const changed = { nobody: world.aReplica({ temporaryAdmin }).api() };
  expect((await refreshWith(refresh_token, changed)).body.code).toBe('invalid_grant');
});

test('a replica that rejects a refresh token does not consume it', async () => {
  const { refresh_token } = await world.signIn();
  await refreshWith(refresh_token, { nobody: world.aReplica({ temporaryAdmin: undefined }).api() });
  await elevenSecondsPass();
  expect((await refreshWith(refresh_token)).status).toBe(200);
});

const ROUNDS = byDepth({ short: 4, full: 20, long: 200 });
const replicas = [world, world.aReplica()];
const refreshAt = (index: number, refresh_token: string) =>
  replicas[index % replicas.length]?.api().post('/api/v1/auth/refresh', { refresh_token });
const statusWith = async (access_token: string) => (await meWith(access_token)).status;

test('ten concurrent uses on two replicas count as one use whose response was lost', async () => {
  const user = await world.aUser('viewer');
  const { refresh_token } = await user.signIn();
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => refreshAt(index, refresh_token)));
  const given = answers.map((answer) => answer?.body.refresh_token);
  expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]));
  expect(new Set(given).size).toBe(10);
  for (const answer of answers) expect(await statusWith(answer?.body.access_token)).toBe(200);
});

test(
  'two successors of a refresh token that are used concurrently end the session, whatever they return',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { refresh_token } = await world.signIn();
      const first = await refreshAt(0, refresh_token);
      const second = await refreshAt(1, refresh_token);
      const used = await Promise.all([first, second].map((pair, index) => refreshAt(index, pair?.body.refresh_token)));
      expect(used.map((answer) => answer?.body.code)).toContain('invalid_grant');
      for (const answer of [first, second, ...used]) {
        if (answer?.status === 200) expect(await statusWith(answer.body.access_token)).toBe(401);
      }
    }
  },
  LONG_TEST_MS,
);

test(
  'a session that is refreshed and logged out concurrently has ended',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { access_token, refresh_token } = await world.signIn();
      const [refreshed, left] = await Promise.all([
        refreshAt(round, refresh_token),
        world.api(`Bearer ${access_token}`).post('/api/v1/auth/logout'),
      ]);
      expect(left.status).toBe(204);
      if (refreshed?.status === 200) {
        expect(await statusWith(refreshed.body.access_token)).toBe(401);
        expect((await refreshAt(round, refreshed.body.refresh_token))?.status).toBe(401);
      } else {
        expect(refreshed?.body.code).toBe('invalid_grant');
      }
    }
  },
  LONG_TEST_MS,
);

test.each([
  ['of a local user', 7 * 24, async () => (await world.aUser('viewer')).signIn()],
  ['of the temporary admin', 24, () => world.signIn()],
])('a session %s lasts %d hours by the clock of the database', async (_, hours, signIn) => {
  await sql.session.deleteMany();
  const { access_token, refresh_token } = await signIn();
  const rows = await sql.$queryRaw`
    SELECT extract(epoch FROM expires_at - created_at)::int / 3600 AS hours FROM sessions`;
  expect(rows).toEqual([{ hours }]);
  await sql.$executeRaw`UPDATE sessions SET expires_at = now() + interval '1 minute'`;
  expect(await statusWith(access_token)).toBe(200);
  await sql.$executeRaw`UPDATE sessions SET expires_at = now()`;
  expect(await statusWith(access_token)).toBe(401);
  expect((await refreshAt(1, refresh_token))?.body.code).toBe('invalid_grant');
});

const LOGOUT = '/api/v1/auth/logout';
const ME = '/api/v1/auth/me';

test('a log-out invalidates the access token for the next request, on every replica', async () => {
  const { access_token } = await world.signIn();
  const me = world.api(`Bearer ${access_token}`);
  const onAnotherReplica = world.aReplica().api(`Bearer ${access_token}`);
  expect((await onAnotherReplica.get(ME)).status).toBe(200);
  expect(await me.post(LOGOUT)).toMatchObject({ status: 204, text: '' });
  expect((await me.get(ME)).body.code).toBe('invalid_token');
  expect((await onAnotherReplica.get(ME)).body.code).toBe('invalid_token');
});

test('a log-out invalidates the refresh token', async () => {
  const { access_token, refresh_token } = await world.signIn();
  await world.api(`Bearer ${access_token}`).post(LOGOUT);
  const { status, body } = await world.nobody.post('/api/v1/auth/refresh', { refresh_token });
  expect({ status, code: body.code }).toEqual({ status: 401, code: 'invalid_grant' });
});

test('a log-out ends one session and keeps the others', async () => {
  const mine = await world.asTemporaryAdmin();
  const another = await world.asTemporaryAdmin();
  await mine.post(LOGOUT);
  expect((await another.get(ME)).status).toBe(200);
});

test('a second log-out is a request without a session', async () => {
  const me = await world.asTemporaryAdmin();
  await me.post(LOGOUT);
  expect(await me.post(LOGOUT)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
});

test('an MCP token has no session to end, and keeps working', async () => {
  const { status, body } = await world.asAdmin.post(LOGOUT);
  expect({ status, code: body.code }).toEqual({ status: 403, code: 'insufficient_scope' });
  expect((await world.asAdmin.get(ME)).status).toBe(200);
});
