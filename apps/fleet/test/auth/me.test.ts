import { fleetAccesses } from '@svc/contract/fleet';
import { startWorld, TEMPORARY_ADMIN } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const ME = '/api/v1/auth/me';

test('/auth/me tells the temporary admin that it is temporary', async () => {
  const { body, headers } = await (await world.asTemporaryAdmin()).get(ME);
  expect(body).toEqual({
    user: {
      kind: 'temporary-admin',
      id: null,
      name: TEMPORARY_ADMIN.username,
      email: null,
      role: 'admin',
      temporary: true,
    },
    may: fleetAccesses.filter((access) => access !== 'local-session'),
  });
  expect(headers['cache-control']).toBe('private, no-cache');
});

test.each(['viewer', 'operator', 'admin'] as const)(
  '/auth/me shows a token with the role %s its id, name and role',
  async (role) => {
    const token = await world.aToken({ role, name: `a ${role}` });
    expect((await world.as(token).get(ME)).body.user).toEqual({
      kind: 'token',
      id: token.id,
      name: `a ${role}`,
      email: null,
      role,
      temporary: false,
    });
  },
);

test('/auth/me shows a local user their own data', async () => {
  const user = await world.aUser('operator', { email: 'ada@example.test' });
  expect((await (await user.api()).get(ME)).body.user).toEqual({
    kind: 'local',
    id: user.id,
    name: user.name,
    email: 'ada@example.test',
    role: 'operator',
    temporary: false,
  });
});

test('the scheme Bearer is case-insensitive', async () => {
  const { secret } = await world.aToken();
  expect((await world.api(`bEARER ${secret}`).get(ME)).status).toBe(200);
});

test.each([
  ['the query', { path: (secret: string) => `${ME}?access_token=${secret}` }],
  [
    'the query in addition to a valid header',
    { path: (secret: string) => `${ME}?access_token=${secret}`, header: true },
  ],
])('a token in %s is rejected', async (_, { path, ...given }) => {
  const token = await world.aToken();
  const caller = 'header' in given ? world.as(token) : world.nobody;
  expect(await caller.get(path(token.secret))).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});

test('a revoked token is rejected at the next request', async () => {
  const token = await world.aToken();
  expect((await world.as(token).get(ME)).status).toBe(200);
  await world.database.client.token.update({ where: { id: token.id }, data: { revoked_at: new Date() } });
  expect((await world.as(token).get(ME)).body.code).toBe('invalid_token');
});

test('the role of a token applies as it is at the time of the request', async () => {
  const token = await world.aToken({ role: 'admin' });
  await world.as(token).get(ME);
  await world.database.client.token.update({ where: { id: token.id }, data: { role: 'viewer' } });
  expect((await world.as(token).get(ME)).body.user.role).toBe('viewer');
});

test('the use of a token is recorded', async () => {
  const token = await world.aToken();
  await world.as(token).get(ME);
  const { last_used_at } = await world.database.client.token.findUniqueOrThrow({ where: { id: token.id } });
  expect(last_used_at).toBeInstanceOf(Date);
});
