import { setTimeout as pause } from 'node:timers/promises';
import { createEmptyDatabase } from '@svc/testing';
import { aTemplate } from './a-template.ts';
import { startFakeHub } from './fake-hub.ts';
import { aKey, ENCRYPTION_KEYS, startProcessWorld } from './process-world.ts';

const TEMPORARY_ADMIN = {
  SVC_TEMP_ADMIN_USERNAME: 'first-admin',
  SVC_TEMP_ADMIN_PASSWORD: 'canary-of-the-admin',
};

const world = await startProcessWorld();
const { startFleet, createToken, query, stop } = world;
const hub = await startFakeHub();
afterEach(() => world.endAll());
afterAll(async () => {
  await hub.stop();
  await world.database.drop();
});

test('two at once on an empty database migrate it once, and make its first rows once', async () => {
  const [one, other] = await Promise.all([startFleet(), startFleet()]);
  const applied = await query('SELECT migration_name FROM _prisma_migrations');
  expect(new Set(applied.map(({ migration_name }) => migration_name)).size).toBe(applied.length);
  expect(await query('SELECT FROM signing_keys')).toHaveLength(1);
  await Promise.all([stop(one), stop(other)]);
});

test('with nothing but a database and encryption keys it is ready, and has no hub', async () => {
  const fleet = await startFleet();
  const { secret } = await createToken('viewer');
  expect(await (await fetch(`${fleet.url}/readyz`)).json()).toMatchObject({ status: 'ready' });
  expect(await (await fleet.get('/api/v1/catalog/sync', secret)).json()).toMatchObject({ status: 'not_configured' });
  await stop(fleet);
});

test('missing and bad settings stop the start with a list of all that is wrong', async () => {
  const { ended, output } = world.run([], { PORT: '70000', HUB_URL: 'http://127.0.0.1:1', ENCRYPTION_KEYS: 'canary' });
  expect(await ended).toBe(1);
  for (const complaint of ['DATABASE_URL: is', 'PORT: must', 'HUB_API_KEY: is', 'ENCRYPTION_KEYS: must']) {
    expect(output()).toContain(complaint);
  }
  expect(output()).not.toContain('canary');
});

test.each([
  ['of another name', aKey('second'), 'ENCRYPTION_KEYS has no key "first"'],
  ['of the same name', aKey('first'), 'ENCRYPTION_KEYS has a key of the right name'],
])('encryption keys %s that are not the database’s stop the start with one sentence', async (_, keys, sentence) => {
  await stop(await startFleet());
  const { ended, output } = world.run([], { DATABASE_URL: world.database.url, ENCRYPTION_KEYS: keys });
  expect(await ended).toBe(1);
  expect(output()).toContain(sentence);
  expect(output().trim().split('\n')).toHaveLength(1);
});

test('a database that is not migrated stops a start that must not migrate, and says what to do', async () => {
  const empty = await createEmptyDatabase();
  const environment = { DATABASE_URL: empty.url, ENCRYPTION_KEYS, MIGRATE_ON_START: 'false' };
  const { ended, output } = world.run([], environment);
  expect(await ended).toBe(1);
  await empty.drop();
  expect(output().trim().split('\n')).toHaveLength(1);
  expect(output()).toContain('migrate');
});

test('it syncs by itself, and no credential is in its log, whatever is asked of it', async () => {
  hub.publish(aTemplate());
  const HUB = { HUB_URL: hub.url, HUB_API_KEY: hub.key };
  const fleet = await startFleet({ ...HUB, ...TEMPORARY_ADMIN, LOG_LEVEL: 'trace' });
  const { secret } = await createToken('operator');
  while (!(await query('SELECT last_success_at FROM catalog_sync'))[0].last_success_at) await pause(50);

  const login = await fetch(`${fleet.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` },
    body: JSON.stringify({
      username: TEMPORARY_ADMIN.SVC_TEMP_ADMIN_USERNAME,
      password: TEMPORARY_ADMIN.SVC_TEMP_ADMIN_PASSWORD,
    }),
  });
  const { access_token, refresh_token } = (await login.json()) as { access_token: string; refresh_token: string };
  const credentials = [secret, hub.key, access_token, refresh_token, TEMPORARY_ADMIN.SVC_TEMP_ADMIN_PASSWORD];
  for (const credential of [secret, access_token]) {
    for (const address of [
      `/${credential}`,
      `/api/v1/catalog/templates/${credential}`,
      `/healthz?token=${credential}`,
    ]) {
      await fleet.get(address, credential);
      await fetch(`${fleet.url}${address}`, { headers: { 'X-Request-Id': credential } });
    }
  }
  await hub.goAway();
  const refused = await fetch(`${fleet.url}/api/v1/catalog/sync`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}` },
  });
  expect(refused.status).toBe(502);
  await hub.comeBack();
  await stop(fleet);

  const output = fleet.output();
  expect(output).toContain('the temporary admin is in use');
  expect(output).toContain('"status":502');
  for (const credential of credentials) expect(output).not.toContain(credential);
  for (const credential of credentials) expect(JSON.stringify(await everyRow())).not.toContain(credential);
});

/** All that the database holds. */
async function everyRow() {
  const tables = await query("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'");
  return Promise.all(tables.map(({ table_name }) => query(`SELECT * FROM ${table_name}`)));
}

test('a hub that is away makes it degraded, not unready', async () => {
  const fleet = await startFleet({ HUB_URL: 'http://127.0.0.1:1', HUB_API_KEY: hub.key });
  const readiness = async () => {
    const answer = await fetch(`${fleet.url}/readyz`);
    return { code: answer.status, body: (await answer.json()) as { status: string; checks: unknown[] } };
  };
  while ((await readiness()).body.status === 'ready') await pause(50);
  const { code, body } = await readiness();
  expect([code, body.status]).toEqual([200, 'degraded']);
  expect(body.checks).toContainEqual({ name: 'hub', state: 'degraded', detail: expect.stringContaining('HUB_URL') });
  await stop(fleet);
});

test('a sync that the hub does not answer does not hold up the end', async () => {
  const asked = new Promise<unknown>((resolve) => hub.behave(resolve));
  const fleet = await startFleet({ HUB_URL: hub.url, HUB_API_KEY: hub.key });
  await asked;
  await stop(fleet);
  hub.recover();
});
