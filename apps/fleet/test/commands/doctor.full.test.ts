// The command on a working installation, and with one fault at a time.
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { startIdentityProvider } from '@svc/identity-provider/server';
import {
  addressOf,
  aServingRole,
  createEmptyDatabase,
  createTestDatabase,
  freePort,
  onServer,
  startProcess,
} from '@svc/testing';
import { describeOnDisk, prepareFaults } from '@svc/testing/faults';
import { doctor } from '../../src/commands/doctor.ts';
import { openDatabase } from '../../src/database/client.ts';
import { encryptionOf } from '../../src/database/encryption.ts';
import { anEngine, endAll, serve } from '../engines/servers.ts';
import { startFakeHub } from '../fake-hub.ts';
import { aKey } from '../process-world.ts';
import { sealerOf } from '../secrets/sealed-rows.ts';

const prismaDir = path.resolve(import.meta.dirname, '../../../../prisma/fleet');
const MAIN = path.resolve(import.meta.dirname, '../../dist/main.js');
const { aDisk } = prepareFaults();
const smallDisk = aDisk('8m');

const { url: owner, drop } = await createTestDatabase();
const role = await aServingRole({ databaseUrl: owner, prismaDir });
const roleName = new URL(role.url).username;
const hub = await startFakeHub();
const provider = await startIdentityProvider({
  port: 0,
  host: '127.0.0.1',
  audiences: [],
  redirectUris: ['http://127.0.0.1/callback'],
  fleetClientSecret: 'a secret of the provider',
  password: 'development',
});
const key = aKey('first');
const environment: Readonly<Record<string, string>> = {
  DATABASE_URL: role.url,
  MIGRATION_DATABASE_URL: owner,
  ENCRYPTION_KEYS: key,
  HUB_URL: hub.url,
  HUB_API_KEY: hub.key,
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: 'fleet',
  OIDC_CLIENT_SECRET: 'a secret of the provider',
  OUTBOUND_ALLOW: 'http,loopback',
  PORT: `${await freePort()}`,
};
const before = { ...process.env };

const query = (sql: string) => onServer(owner, (client) => client.query(sql));

beforeAll(async () => {
  const database = openDatabase(owner, () => undefined);
  await encryptionOf(database).check(sealerOf(key));
  const endpoint = await serve(anEngine((_req, res) => res.end('{}')));
  const host = { engine: 'docker' as const, by_admin: true, created_by: 'test' };
  await database.client.host.create({ data: { name: 'working', endpoint, ...host } });
  await database.close();
});
afterEach(() => {
  process.env = { ...before };
  hub.recover();
  jest.restoreAllMocks();
});
afterAll(async () => {
  await Promise.all([endAll(), hub.stop(), provider.stop()]);
  await drop();
  await role.drop();
});

interface Report {
  readonly healthy: boolean;
  readonly checks: readonly { name: string; state: string; found: string; remedy?: string }[];
}

/** Runs the command. @returns its exit code and output */
async function run(changes: Readonly<Record<string, string>> = {}, options: Readonly<Record<string, boolean>> = {}) {
  process.env = { ...before, ...environment, ...changes };
  const printed: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((text: unknown) => void printed.push(String(text)));
  const code = await doctor(prismaDir).run({ argument: '', options });
  log.mockRestore();
  return { code, text: printed.join('\n') };
}

async function report(changes?: Readonly<Record<string, string>>): Promise<Report & { readonly code: unknown }> {
  const { code, text } = await run(changes, { json: true });
  return { code, ...(JSON.parse(text) as Report) };
}

const NAMES = [
  ...['configuration', 'database', 'schema', 'drift', 'privileges', 'connections'],
  ...[
    'encryption keys',
    'stored values',
    'secrets',
    'isolation',
    'advisories',
    'hub',
    'issuer',
    'engines',
    'audit delivery',
    'clock',
    'port',
    'disk',
  ],
];

test('a working installation passes all checks, and the command exits with 0', async () => {
  const { code, checks, healthy } = await report();
  expect(checks.filter(({ state }) => state === 'failed' || state === 'skipped')).toEqual([]);
  expect(checks.map(({ name }) => name)).toEqual(NAMES);
  expect({ code, healthy }).toEqual({ code: 0, healthy: true });
  expect(checks.filter(({ state }) => state === 'warning')).toEqual([
    {
      name: 'issuer',
      state: 'warning',
      found: `${provider.issuer} publishes its metadata and keys, and accepts the client. It is the identity provider for development, whose users and password are public.`,
      remedy: 'Configure your own identity provider before others can reach the fleet.',
    },
  ]);
});

test('the text has one line for each check, and no secret', async () => {
  const { code, text } = await run({ HUB_API_KEY: `${hub.key}x` });
  expect(code).toBe(1);
  for (const name of NAMES) expect(text).toMatch(new RegExp(`^(ok|warning|failed) +${name} `, 'm'));
  expect(text).toContain('1 failed.');
  const password = new URL(role.url).password;
  for (const secret of [password, key, key.slice(6), hub.key, 'a secret of the provider']) {
    expect(text).not.toContain(secret);
  }
});

interface Fault {
  readonly title: string;
  /** The check that finds it, and a part of its finding and of its remedy. */
  readonly finds: readonly [name: string, found: string, remedy: string];
  readonly settings?: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  readonly cause?: () => Promise<unknown>;
  readonly repair?: () => Promise<unknown>;
}

const broken = (url: string, change: (parsed: URL) => void) => {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
};
const other = createServer((socket) => socket.destroy());

const faults: readonly Fault[] = [
  {
    title: 'invalid settings',
    finds: ['configuration', 'METRICS_TOKEN: must have at least 16 characters', 'docs/configuration.md'],
    settings: () => ({ METRICS_TOKEN: 'short', RATE_LIMIT: 'maybe' }),
  },
  {
    title: 'a weak password of the temporary admin',
    finds: ['configuration', 'SVC_TEMP_ADMIN_PASSWORD: is too easy to guess', 'Correct'],
    settings: () => ({ SVC_TEMP_ADMIN_USERNAME: 'first-admin', SVC_TEMP_ADMIN_PASSWORD: 'first-admin1' }),
  },
  {
    title: 'a server that is not reachable',
    finds: ['database', 'ECONNREFUSED', 'that PostgreSQL is running'],
    settings: () => ({ DATABASE_URL: broken(role.url, (url) => (url.port = '1')) }),
  },
  {
    title: 'a database that does not exist',
    finds: ['database', 'does not exist', 'Check DATABASE_URL'],
    settings: () => ({ DATABASE_URL: addressOf(role.url, 'nothing') }),
  },
  {
    title: 'migrations that are not applied',
    finds: ['schema', 'Migrations are not applied', 'Run the command migrate'],
    settings: async () => ({ DATABASE_URL: empty.url, MIGRATION_DATABASE_URL: empty.url, MIGRATE_ON_START: 'false' }),
  },
  {
    title: 'migrations that the role of the service must not apply',
    finds: ['schema', 'Migrations are not applied', 'Run the command migrate with the role that owns the database'],
    settings: async () => ({
      DATABASE_URL: addressOf(role.url, new URL(empty.url).pathname.slice(1)),
      MIGRATION_DATABASE_URL: '',
    }),
  },
  {
    title: 'a database of a later version',
    finds: ['schema', 'too old', 'Upgrade the service'],
    cause: () => query(`UPDATE schema_info SET oldest_migration = '99991231000000_later'`),
    repair: () => query(`UPDATE schema_info SET oldest_migration = '00000000000000_initial'`),
  },
  {
    title: 'a column that was changed by hand',
    finds: ['drift', 'check_failures', 'restore a backup'],
    cause: () => query('ALTER TABLE clusters ALTER COLUMN check_failures DROP NOT NULL'),
    repair: () => query('ALTER TABLE clusters ALTER COLUMN check_failures SET NOT NULL'),
  },
  {
    title: 'a trigger that was disabled',
    finds: ['drift', 'trigger audit_entries.', 'restore a backup'],
    cause: () => query('ALTER TABLE audit_entries DISABLE TRIGGER USER'),
    repair: () => query('ALTER TABLE audit_entries ENABLE TRIGGER USER'),
  },
  {
    title: 'a missing privilege of the role',
    finds: ['privileges', 'INSERT on deployments', 'Run the command migrate'],
    cause: () => query(`REVOKE INSERT ON deployments FROM ${roleName}`),
    repair: role.migrate,
  },
  {
    title: 'a role with too few connections',
    finds: ['connections', 'the role allows 10', 'lower DATABASE_CONNECTIONS'],
    cause: () => query(`ALTER ROLE ${roleName} CONNECTION LIMIT 10`),
    repair: () => query(`ALTER ROLE ${roleName} CONNECTION LIMIT -1`),
  },
  {
    title: 'another encryption key with the same id',
    finds: ['encryption keys', 'not the key of this database', 'docs/backup.md'],
    settings: () => ({ ENCRYPTION_KEYS: aKey('first') }),
  },
  {
    title: 'a hub that is not reachable',
    finds: ['hub', 'does not respond', 'HUB_URL'],
    settings: () => ({ HUB_URL: 'http://127.0.0.1:1' }),
  },
  {
    title: 'an API key that the hub refuses',
    finds: ['hub', 'refused the API key', 'HUB_API_KEY'],
    settings: () => ({ HUB_API_KEY: `${hub.key}x` }),
  },
  {
    title: 'an issuer that is not reachable',
    finds: ['issuer', 'discovery', 'OIDC_ISSUER'],
    settings: () => ({ OIDC_ISSUER: 'http://127.0.0.1:1' }),
  },
  {
    title: 'a host that is not reachable',
    finds: ['engines', 'host broken', 'Check that the engine runs'],
    cause: () =>
      query(`INSERT INTO hosts (id, name, engine, endpoint, by_admin, created_by)
             VALUES (gen_random_uuid(), 'broken', 'docker', 'tcp://127.0.0.1:1', true, 'test')`),
    repair: () => query(`DELETE FROM hosts WHERE name = 'broken'`),
  },
  {
    title: 'a clock that differs from that of the hub',
    finds: ['clock', 'hub: 360', 'Synchronize the clocks'],
    cause: async () => {
      // Without a fraction of a second.
      const later = () => new Date(Date.now() + 3_605_000).toUTCString();
      hub.behave(({ res, good }) => void res.setHeader('Date', later()).end(good), 'organization');
    },
  },
  {
    title: 'a port that another program uses',
    finds: ['port', 'in use by another program', 'Set PORT to a free port'],
    cause: async () => once(other.listen(Number(environment.PORT), '127.0.0.1'), 'listening'),
    repair: () => new Promise((resolve) => other.close(resolve)),
  },
];

const empty = await createEmptyDatabase();
afterAll(() => empty.drop());

test.each(faults)(
  'finds $title with one check alone, and states a remedy',
  async ({ finds, settings, cause, repair }) => {
    const [name, found, remedy] = finds;
    await cause?.();
    try {
      const { code, healthy, checks } = await report(await settings?.());
      const failed = checks.filter(({ state }) => state === 'failed');
      expect(failed).toEqual([
        { name, state: 'failed', found: expect.stringContaining(found), remedy: expect.stringContaining(remedy) },
      ]);
      expect({ code, healthy }).toEqual({ code: 1, healthy: false });
      expect(checks.map((each) => each.name)).toEqual(NAMES);
    } finally {
      await repair?.();
    }
  },
);

describeOnDisk('a full disk for temporary files', smallDisk, (disk) => {
  test('is found by its check alone, with a remedy, and the process exits with 1', async () => {
    const { ended, output } = startProcess(MAIN, ['doctor', '--json'], { ...environment, TMPDIR: disk });
    expect(await ended).toBe(1);
    const { checks } = JSON.parse(output()) as Report;
    expect(checks.filter(({ state }) => state === 'failed')).toEqual([
      expect.objectContaining({ name: 'disk', remedy: expect.stringContaining('Free space') }),
    ]);
  });
});

test('if a required setting is missing, the checks that need it are skipped with the reason', async () => {
  const { checks } = await report({ ENCRYPTION_KEYS: '' });
  expect(checks.find(({ name }) => name === 'configuration')).toMatchObject({ state: 'failed' });
  for (const name of ['port', 'hub']) {
    expect(checks.find((each) => each.name === name)).toMatchObject({
      state: 'skipped',
      found: expect.stringMatching(/^It needs/),
    });
  }
});
