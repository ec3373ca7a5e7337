import { providerTokenLocation } from '../../src/identity/sessions/opening.ts';
import type { Members } from '../oidc/bendable-issuer.ts';
import { meAt } from './browser.ts';
import { createSignal } from './synchronization.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { issuer, one, other, replicas, signIn } = world;
const sql = world.database.client;

const statuses = async (credential: string) => (await meAt(replicas, credential)).map(({ status }) => status);
const quarterPasses = () => sql.$executeRaw`UPDATE sessions SET provider_at = provider_at - interval '15 minutes'`;
const hoursLeft = async () => {
  const [row] = await sql.$queryRaw<{ hours: number }[]>`
    SELECT round(extract(epoch FROM expires_at - now()) / 3600)::int AS hours FROM sessions WHERE ended_at IS NULL`;
  return row?.hours;
};
const session = () => sql.session.findFirstOrThrow({ where: { ended_at: null } });
const storedToken = async () => {
  const { id, provider_token } = await session();
  return world.sealer.open(providerTokenLocation(id), provider_token ?? '');
};
/** Sets the claims of the response to a check. */
const refreshSays = (claims: Members, changed: Members = {}) =>
  issuer.bend('/token', async () => {
    const id_token = await issuer.idToken({ nonce: undefined, ...claims });
    return issuer.tokens({ id_token, refresh_token: 'refresh-2', ...changed });
  });
const refusing = (error: string, status = 400) => issuer.bend('/token', () => ({ status, body: { error } }));

afterEach(() => sql.session.deleteMany());

test('a session is checked at the provider after 15 minutes with its refresh token', async () => {
  await signIn();
  const before = issuer.countOf('/token');
  expect(await one.checks.runDue()).toBe(0);
  expect(await other.checks.runDue()).toBe(0);
  expect(issuer.countOf('/token')).toEqual(before);
  await quarterPasses();
  expect(await other.checks.runDue()).toBe(1);
  const form = Object.fromEntries(issuer.lastAt('/token')?.form ?? []);
  expect(form).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'refresh-1' });
  expect(await one.checks.runDue()).toBe(0);
  expect(await other.checks.runDue()).toBe(0);
});

test('new claims of a check apply to the next request, and the session is extended by a day', async () => {
  const { access_token } = await signIn({ role: 'admin', name: 'Ada' });
  await sql.$executeRaw`UPDATE sessions SET expires_at = now() + interval '1 hour'`;
  await quarterPasses();
  refreshSays({ role: 'viewer', name: 'Ada L.' });
  await one.checks.runDue();
  for (const me of await meAt(replicas, access_token))
    expect(me.body.user).toMatchObject({ role: 'viewer', name: 'Ada L.' });
  expect(await hoursLeft()).toBe(24);
});

test('a refresh token of the provider is stored sealed for its own session, and so is its successor', async () => {
  await signIn();
  const first = await session();
  expect(await storedToken()).toBe('refresh-1');
  await quarterPasses();
  refreshSays({ role: 'viewer' });
  await one.checks.runDue();
  expect(await storedToken()).toBe('refresh-2');
  const second = await session();
  for (const row of [first, second]) expect(JSON.stringify(row)).not.toMatch(/refresh-\d/);
  expect(second.key_id).toBe('test');
  await expect(
    world.sealer.open(providerTokenLocation(world.signingKey.kid), second.provider_token ?? ''),
  ).rejects.toThrow();
  await quarterPasses();
  await other.checks.runDue();
  expect(issuer.lastAt('/token')?.form.get('refresh_token')).toBe('refresh-2');
});

test('a refresh token of the provider that is not rotated is kept', async () => {
  await signIn();
  await quarterPasses();
  refreshSays({ role: 'viewer' }, { refresh_token: undefined });
  await one.checks.runDue();
  expect(await storedToken()).toBe('refresh-1');
});

test('invalid_grant ends the session at the next request on every replica', async () => {
  const { access_token, refresh_token } = await signIn();
  await quarterPasses();
  refusing('invalid_grant');
  await one.checks.runDue();
  expect(await statuses(access_token)).toEqual([401, 401]);
  expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).body.code).toBe('invalid_grant');
  const { provider_token, ended_at } = await sql.session.findFirstOrThrow();
  expect({ provider_token, ended_at }).toEqual({ provider_token: null, ended_at: expect.any(Date) });
});

test('a check with another subject ends the session', async () => {
  const { access_token } = await signIn();
  await quarterPasses();
  refreshSays({ sub: 'eve', role: 'admin' });
  await one.checks.runDue();
  expect(await statuses(access_token)).toEqual([401, 401]);
  expect(await sql.user.count({ where: { sub: 'eve' } })).toBe(0);
});

test.each([
  ['503', () => issuer.bend('/token', () => ({ status: 503 }))],
  ['that the client secret is wrong', () => refusing('invalid_client', 401)],
  ['that the request is wrong', () => refusing('invalid_request')],
  ['a page instead of JSON', () => issuer.bend('/token', () => ({ body: '<html>' }))],
])('a check to which the provider answers %s ends nothing, and is repeated soon', async (_, bend) => {
  const { access_token } = await signIn();
  await quarterPasses();
  bend();
  expect(await one.checks.runDue()).toBe(1);
  expect(await statuses(access_token)).toEqual([200, 200]);
  expect(await storedToken()).toBe('refresh-1');
  expect(await other.checks.runDue()).toBe(0);
  await sql.$executeRaw`UPDATE sessions SET provider_at = provider_at - interval '2 minutes'`;
  expect(await other.checks.runDue()).toBe(1);
});

test('two concurrent replicas check each session once', async () => {
  for (let count = 0; count < 4; count += 1) await signIn({ sub: `many-${count}` });
  await quarterPasses();
  await sql.$executeRaw`
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END $$`;
  await sql.$executeRaw`CREATE TRIGGER linger BEFORE UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION linger()`;
  const before = issuer.countOf('/token');
  issuer.bend('/token', () => ({ status: 503 }));
  const counts = await Promise.all([one, other].map(({ checks }) => checks.runDue()));
  await sql.$executeRaw`DROP FUNCTION linger CASCADE`;
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(4);
  expect(issuer.countOf('/token') - before).toBe(4);
});

test('a session whose check did not complete is checked by another replica', async () => {
  await signIn();
  await quarterPasses();
  const asked = createSignal();
  const checked = createSignal();
  issuer.bend('/token', async () => {
    asked.come();
    await checked.came;
    return { status: 503 };
  });
  const hanging = one.checks.runDue();
  await asked.came;
  await sql.$executeRaw`UPDATE sessions SET provider_at = provider_at - interval '2 minutes'`;
  refreshSays({ role: 'viewer' });
  expect(await other.checks.runDue()).toBe(1);
  checked.come();
  await hanging;
  expect(await storedToken()).toBe('refresh-2');
});

test('a session without a refresh token of the provider is never checked, and ends after a day', async () => {
  issuer.bend('/token', async () =>
    issuer.tokens({ refresh_token: undefined, id_token: await issuer.idToken({ role: 'viewer' }) }),
  );
  const browser = world.newBrowser();
  const { body } = await browser.exchange(await world.enter(browser));
  expect((await session()).provider_at).toBeNull();
  expect(await hoursLeft()).toBe(24);
  await sql.$executeRaw`UPDATE sessions SET expires_at = expires_at - interval '24 hours'`;
  expect(await statuses(body.access_token)).toEqual([401, 401]);
});

test('a session is not checked after its log-out', async () => {
  const { access_token } = await signIn();
  expect((await one.api(`Bearer ${access_token}`).post('/api/v1/auth/logout')).status).toBe(204);
  await quarterPasses();
  expect(await one.checks.runDue()).toBe(0);
});
