import { createEmptyDatabase, eventually, onServer } from '@svc/testing';
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
afterAll(async () => {
  await world.endAll();
  await hub.stop();
  await world.database.drop();
});

/** Starts are slow, so that later tests use the first replica and its token. */
let replica: Awaited<ReturnType<typeof startFleet>>;
let secret: string;

test('two replicas that start concurrently migrate an empty database once, and become ready without a hub', async () => {
  const [one, other] = await Promise.all([startFleet(), startFleet()]);
  replica = one;
  const applied = await query('SELECT migration_name FROM _prisma_migrations');
  expect(new Set(applied.map(({ migration_name }) => migration_name)).size).toBe(applied.length);
  expect(await query('SELECT FROM signing_keys')).toHaveLength(1);
  ({ secret } = await createToken('operator'));
  expect(await (await fetch(`${one.url}/readyz`)).json()).toMatchObject({ status: 'ready' });
  expect(await (await one.get('/api/v1/catalog/sync', secret)).json()).toMatchObject({ status: 'not_configured' });
  await stop(other);
});

test('missing and invalid settings stop the start with a list of all errors', async () => {
  const { ended, output } = world.run([], { PORT: '70000', HUB_URL: 'http://127.0.0.1:1', ENCRYPTION_KEYS: 'canary' });
  expect(await ended).toBe(1);
  for (const problem of ['DATABASE_URL: is', 'PORT: must', 'HUB_API_KEY: is', 'ENCRYPTION_KEYS: must']) {
    expect(output()).toContain(problem);
  }
  expect(output()).not.toContain('canary');
});

test('--help prints the usage, without a configuration', async () => {
  const { ended, output } = world.run(['--help'], {});
  expect(await ended).toBe(0);
  expect(output()).toMatch(/^Usage: node dist\/main\.js <command> \[options\]\n/);
});

test('a weak password of the temporary admin stops the start before the database is migrated', async () => {
  const empty = await createEmptyDatabase();
  const weak = { SVC_TEMP_ADMIN_USERNAME: 'first-admin', SVC_TEMP_ADMIN_PASSWORD: 'first-admin1' };
  const { ended, output } = world.run([], { DATABASE_URL: empty.url, ENCRYPTION_KEYS, ...weak });
  expect(await ended).toBe(1);
  expect(output()).toContain('SVC_TEMP_ADMIN_PASSWORD: is too easy to guess');
  expect(output()).not.toContain(weak.SVC_TEMP_ADMIN_PASSWORD);
  const tables = await onServer(empty.url, (client) =>
    client.query("SELECT FROM information_schema.tables WHERE table_schema = 'public'"),
  );
  expect(tables.rowCount).toBe(0);
  await empty.drop();
});

test.each([
  ['with another ID', aKey('second'), 'ENCRYPTION_KEYS has no key "first"'],
  ['with the same ID', aKey('first'), 'ENCRYPTION_KEYS has a key with the expected id'],
])(
  'other encryption keys %s than those of the database stop the start with a one-line message',
  async (_, keys, sentence) => {
    const { ended, output } = world.run([], { DATABASE_URL: world.database.url, ENCRYPTION_KEYS: keys });
    expect(await ended).toBe(1);
    expect(output()).toContain(sentence);
    expect(output().trim().split('\n')).toHaveLength(1);
  },
);

test('with MIGRATE_ON_START=false a database without migrations stops the start with an instruction', async () => {
  const empty = await createEmptyDatabase();
  const environment = { DATABASE_URL: empty.url, ENCRYPTION_KEYS, MIGRATE_ON_START: 'false' };
  const { ended, output } = world.run([], environment);
  expect(await ended).toBe(1);
  await empty.drop();
  expect(output().trim().split('\n')).toHaveLength(1);
  expect(output()).toContain('migrate');
});

describe('a version of the fleet that is older than the last migration', () => {
  /** A migration of a later version. */
  const LATER = '99991231000000_later';
  const requires = (migration: string) => query(`UPDATE schema_info SET oldest_migration = '${migration}'`);
  const readiness = async (url: string) => {
    const response = await fetch(`${url}/readyz`);
    return { status: response.status, text: await response.text() };
  };
  afterEach(() => requires('00000000000000_initial'));

  test('stays ready while the migration is additive, and is not ready if the database requires a later version', async () => {
    await query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', '', '${LATER}', now())`,
    );
    expect((await readiness(replica.url)).status).toBe(200);
    await requires(LATER);
    const { status, text } = await readiness(replica.url);
    expect(status).toBe(503);
    expect(text).toMatch(
      new RegExp(`too old: its last migration is \\d{14}_\\w+, and the database requires a version with ${LATER}`),
    );
    await requires('00000000000000_initial');
    expect((await readiness(replica.url)).status).toBe(200);
    await stop(replica);
    await query(`DELETE FROM _prisma_migrations WHERE migration_name = '${LATER}'`);
  });

  test('does not start if the database requires a later version', async () => {
    await requires(LATER);
    const { ended, output } = world.run([], { DATABASE_URL: world.database.url, ENCRYPTION_KEYS });
    expect(await ended).toBe(1);
    expect(output()).toContain(`the database requires a version with ${LATER}`);
  });
});

describe('a fleet process with a hub', () => {
  let fleet: Awaited<ReturnType<typeof startFleet>>;
  beforeAll(async () => {
    hub.publish(aTemplate());
    const environment = { HUB_URL: hub.url, HUB_API_KEY: hub.key, ...TEMPORARY_ADMIN, LOG_LEVEL: 'trace' };
    fleet = await startFleet(environment);
  });

  const sync = (signal?: AbortSignal) => {
    const headers = { Authorization: `Bearer ${secret}` };
    return fetch(`${fleet.url}/api/v1/catalog/sync`, { method: 'POST', headers, ...(signal && { signal }) });
  };

  test('syncs on its own', async () => {
    await eventually('it has synced', async () => {
      const [row] = await query('SELECT last_success_at FROM catalog_sync');
      return row.last_success_at !== null;
    });
  });

  test('stays ready, with a degraded status, while the hub is unreachable', async () => {
    await hub.stopListening();
    expect((await sync()).status).toBe(502);
    const answer = await fetch(`${fleet.url}/readyz`);
    const body = (await answer.json()) as { status: string; checks: unknown[] };
    expect(answer.status).toBe(200);
    expect(body.status).toBe('degraded');
    expect(body.checks).toContainEqual({ name: 'hub', state: 'degraded', detail: expect.stringContaining('HUB_URL') });
    await hub.startListening();
  });

  test('writes no credential to its log or its database', async () => {
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
    const output = fleet.output();
    expect(output).toContain('the temporary admin is in use');
    expect(output).toContain('"status":502');
    for (const credential of credentials) expect(output).not.toContain(credential);
    for (const credential of credentials) expect(JSON.stringify(await everyRow())).not.toContain(credential);
  });

  test('does not delay its stop for a sync that the hub does not answer', async () => {
    const asked = new Promise<unknown>((resolve) => hub.behave(resolve));
    const client = new AbortController();
    const refused = sync(client.signal).catch(() => undefined);
    await asked;
    client.abort(); // the stop waits for requests of connected clients
    await refused;
    await stop(fleet);
    for (const credential of [secret, hub.key]) expect(fleet.output()).not.toContain(credential);
  });
});

/** The contents of the database. */
async function everyRow() {
  const tables = await query("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'");
  return Promise.all(tables.map(({ table_name }) => query(`SELECT * FROM ${table_name}`)));
}
