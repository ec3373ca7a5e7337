import { startWorld, TEMPORARY_ADMIN } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const refreshWith = (refresh_token: string, { nobody }: Pick<typeof world, 'nobody'> = world) =>
  nobody.post('/api/v1/auth/refresh', { refresh_token });
const meWith = (access_token: string) => world.api(`Bearer ${access_token}`).get('/api/v1/auth/me');

const elevenSecondsPass = () => sql.$executeRaw`UPDATE refresh_tokens SET used_at = used_at - interval '11 seconds'`;

test('a refresh token is exchanged for a new pair that works', async () => {
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
  ['never was one', 'x'.repeat(43)],
  ['is empty', ''],
])('a refresh token that %s is no longer good', async (_, token) => {
  expect(await refreshWith(token)).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
});

test('an access token is no refresh token', async () => {
  const { access_token } = await world.signIn();
  expect((await refreshWith(access_token)).body.code).toBe('invalid_grant');
});

test('a repeat within ten seconds, before the successor was used, gets a fresh pair: the answer was lost', async () => {
  const { refresh_token } = await world.signIn();
  const lost = await refreshWith(refresh_token);
  const fresh = await refreshWith(refresh_token);
  expect(fresh.status).toBe(200);
  expect(fresh.body.refresh_token).not.toBe(lost.body.refresh_token);
  expect((await refreshWith(fresh.body.refresh_token)).status).toBe(200);
});

test('a second use after the successor was used ends the session and its access tokens', async () => {
  const first = await world.signIn();
  const second = await refreshWith(first.refresh_token);
  const third = await refreshWith(second.body.refresh_token);
  expect((await refreshWith(first.refresh_token)).body.code).toBe('invalid_grant');
  expect((await refreshWith(third.body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await meWith(first.access_token)).body.code).toBe('invalid_token');
  expect((await meWith(third.body.access_token)).body.code).toBe('invalid_token');
});

test('a second use after more than ten seconds ends the session and its access tokens', async () => {
  const first = await world.signIn();
  const second = await refreshWith(first.refresh_token);
  await elevenSecondsPass();
  expect((await refreshWith(first.refresh_token)).body.code).toBe('invalid_grant');
  expect((await refreshWith(second.body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await meWith(second.body.access_token)).body.code).toBe('invalid_token');
});

test('repeats do not make the ten seconds longer', async () => {
  const { refresh_token } = await world.signIn();
  await refreshWith(refresh_token);
  await sql.$executeRaw`UPDATE refresh_tokens SET used_at = used_at - interval '9 seconds'`;
  await refreshWith(refresh_token);
  await sql.$executeRaw`UPDATE refresh_tokens SET used_at = used_at - interval '9 seconds'`;
  expect((await refreshWith(refresh_token)).body.code).toBe('invalid_grant');
});

test('two successors of one token that are both used are two holders: the session ends', async () => {
  const { refresh_token } = await world.signIn();
  const [one, other] = [await refreshWith(refresh_token), await refreshWith(refresh_token)];
  const used = await refreshWith(one.body.refresh_token);
  expect(used.status).toBe(200);
  expect((await refreshWith(other.body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await refreshWith(used.body.refresh_token)).body.code).toBe('invalid_grant');
  expect((await meWith(used.body.access_token)).body.code).toBe('invalid_token');
});

test('two uses at the same moment both get a pair that works', async () => {
  const { refresh_token } = await world.signIn();
  const pairs = await Promise.all([refreshWith(refresh_token), refreshWith(refresh_token)]);
  expect(pairs.map(({ status }) => status)).toEqual([200, 200]);
  for (const { body } of pairs) expect((await meWith(body.access_token)).status).toBe(200);
});

test('ten late uses at the same moment all fail, and end the session once', async () => {
  const first = await world.signIn();
  await refreshWith(first.refresh_token);
  await elevenSecondsPass();
  const late = await Promise.all(Array.from({ length: 10 }, () => refreshWith(first.refresh_token)));
  expect(new Set(late.map(({ body }) => body.code))).toEqual(new Set(['invalid_grant']));
  expect((await meWith(first.access_token)).status).toBe(401);
});

test('one session’s end leaves the others as they are', async () => {
  const [mine, another] = [await world.signIn(), await world.signIn()];
  await refreshWith(mine.refresh_token);
  await elevenSecondsPass();
  await refreshWith(mine.refresh_token);
  expect((await refreshWith(another.refresh_token)).status).toBe(200);
});

test('a session has an end, however often it was refreshed', async () => {
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
  ['the variables are gone', undefined],
  ['the password is another', { ...TEMPORARY_ADMIN, password: 'another' }],
  ['the username is another', { ...TEMPORARY_ADMIN, username: 'another' }],
])('a refresh token is refused once %s', async (_, temporaryAdmin) => {
  const { refresh_token } = await world.signIn();
  const changed = { nobody: world.aReplica({ temporaryAdmin }).api() };
  expect((await refreshWith(refresh_token, changed)).body.code).toBe('invalid_grant');
});

test('a replica that refuses a refresh token does not use it up', async () => {
  const { refresh_token } = await world.signIn();
  await refreshWith(refresh_token, { nobody: world.aReplica({ temporaryAdmin: undefined }).api() });
  await elevenSecondsPass();
  expect((await refreshWith(refresh_token)).status).toBe(200);
});
