import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { secretNamesOf } from '@svc/http';
import { readConfig, readDatabaseSettings, readKeySettings, schema, settingsEnvironmentOf } from '../src/config.ts';

const DATABASE_URL = 'postgresql://fleet@127.0.0.1:5432/fleet';
const aKey = () => randomBytes(32).toString('base64');
const enough = { DATABASE_URL, ENCRYPTION_KEYS: `first:${aKey()}` };

/** The error messages for an environment, one for each invalid setting. */
function settingsErrors(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    return String(error).split('\n  ').slice(1).sort();
  }
  throw new Error('the environment was accepted');
}

test('the configuration needs only a database and encryption keys', () => {
  expect(readConfig(enough)).toMatchObject({
    PORT: 4200,
    HOST: '127.0.0.1',
    DATABASE_URL,
    MIGRATE_ON_START: true,
    RATE_LIMIT: true,
    REQUESTS_PER_MINUTE: 6000,
  });
});

test('an empty setting counts as not set', () => {
  const nothing = { HUB_URL: '', HUB_API_KEY: '', SVC_TEMP_ADMIN_USERNAME: '', SVC_TEMP_ADMIN_PASSWORD: '' };
  const config = readConfig({ ...enough, ...nothing });
  expect({ HUB_URL: config.HUB_URL, SVC_TEMP_ADMIN_USERNAME: config.SVC_TEMP_ADMIN_USERNAME }).toEqual({
    HUB_URL: undefined,
    SVC_TEMP_ADMIN_USERNAME: undefined,
  });
});

test('a trailing slash is removed from HUB_URL', () => {
  const hub = { HUB_URL: 'https://hub.example.test/', HUB_API_KEY: 'svcc_abc' };
  expect(readConfig({ ...enough, ...hub }).HUB_URL).toBe('https://hub.example.test');
});

test('all invalid settings are reported at once', () => {
  const errors = settingsErrors({
    PORT: '70000',
    HUB_SYNC_INTERVAL: 'often',
    ENCRYPTION_KEYS: 'secret',
    HUB_URL: 'not a url',
    SVC_TEMP_ADMIN_USERNAME: 'admin',
  });
  expect(errors).toEqual([
    'DATABASE_URL: is required',
    'ENCRYPTION_KEYS: must be a comma-separated list of <id>:<32 bytes in base64> with unique ids',
    'HUB_API_KEY: is required: HUB_URL and HUB_API_KEY must be set together',
    'HUB_SYNC_INTERVAL: must be an integer from 0 to 86400',
    'HUB_URL: must be an http or https URL',
    'PORT: must be an integer from 0 to 65535',
    'SVC_TEMP_ADMIN_PASSWORD: is required: SVC_TEMP_ADMIN_USERNAME and SVC_TEMP_ADMIN_PASSWORD must be set together',
  ]);
});

test.each([
  ['HUB_API_KEY', { HUB_URL: 'http://127.0.0.1:4100' }],
  ['HUB_URL', { HUB_API_KEY: 'svcc_abc' }],
  ['SVC_TEMP_ADMIN_PASSWORD', { SVC_TEMP_ADMIN_USERNAME: 'admin' }],
  ['SVC_TEMP_ADMIN_USERNAME', { SVC_TEMP_ADMIN_PASSWORD: 'a password' }],
])('%s is required if the other setting of its pair is set', (missing, half) => {
  expect(settingsErrors({ ...enough, ...half })).toEqual([
    expect.stringMatching(new RegExp(`^${missing}: is required: .* must be set together$`)),
  ]);
});

test('an MCP token is rejected as HUB_API_KEY', () => {
  const hub = { HUB_URL: 'http://127.0.0.1:4100', HUB_API_KEY: 'svcm_abc' };
  expect(settingsErrors({ ...enough, ...hub })).toEqual(['HUB_API_KEY: must be an API key of the hub (svcc_...)']);
});

describe('ENCRYPTION_KEYS', () => {
  test('may contain several keys in order', () => {
    const { ENCRYPTION_KEYS } = readConfig({ ...enough, ENCRYPTION_KEYS: `new:${aKey()}, old_1:${aKey()}` });
    expect(ENCRYPTION_KEYS.map(({ kid, key }) => [kid, key.length])).toEqual([
      ['new', 32],
      ['old_1', 32],
    ]);
  });

  test.each([
    ['no id', aKey()],
    ['an empty id', `:${aKey()}`],
    ['an id with a space', `my key:${aKey()}`],
    ['an id that is too long', `${'a'.repeat(33)}:${aKey()}`],
    ['no key', 'first:'],
    ['a key that is too short', `first:${randomBytes(31).toString('base64')}`],
    ['a key that is too long', `first:${randomBytes(33).toString('base64')}`],
    ['a key in hexadecimal', `first:${randomBytes(32).toString('hex')}`],
    ['a key with a foreign character', `first:*${aKey()}`],
    ['something after the key', `first:${aKey()}:more`],
    ['an id twice', `first:${aKey()},first:${aKey()}`],
    ['an empty entry', `first:${aKey()},`],
  ])('with %s are rejected, and the message does not contain them', (_, ENCRYPTION_KEYS) => {
    expect(settingsErrors({ ...enough, ENCRYPTION_KEYS })).toEqual([
      'ENCRYPTION_KEYS: must be a comma-separated list of <id>:<32 bytes in base64> with unique ids',
    ]);
  });
});

test('a command that only needs the database requires no other setting', () => {
  expect(readDatabaseSettings({ DATABASE_URL })).toMatchObject({ DATABASE_URL });
  expect(() => readDatabaseSettings({})).toThrow('DATABASE_URL: is required');
});

test.each([
  ['2Gi', 2 * 2 ** 30],
  ['64Mi', 64 * 2 ** 20],
  ['0', null],
])('DEFAULT_MEMORY_LIMIT can be %s', (given, bytes) => {
  expect(readConfig({ ...enough, DEFAULT_MEMORY_LIMIT: given }).DEFAULT_MEMORY_LIMIT).toBe(bytes);
});

test.each([
  ['1Mi', '1'],
  ['much', 'many'],
])('default limits that no container can run with are rejected: %s, %s', (memory, processes) => {
  expect(settingsErrors({ ...enough, DEFAULT_MEMORY_LIMIT: memory, DEFAULT_PROCESS_LIMIT: processes })).toEqual([
    'DEFAULT_MEMORY_LIMIT: must be a Kubernetes quantity of at least 64Mi such as 2Gi, or 0 for no limit',
    'DEFAULT_PROCESS_LIMIT: must be an integer from 64 to 4194304, or 0 for no limit',
  ]);
});

test('the default limits are 2Gi and 4096 processes', () => {
  expect(readConfig(enough)).toMatchObject({ DEFAULT_MEMORY_LIMIT: 2 * 2 ** 30, DEFAULT_PROCESS_LIMIT: 4096 });
});

test('settings that the API can also set have no value if their variable is not set', () => {
  const { oidc, hub } = settingsEnvironmentOf(readConfig(enough));
  expect(Object.entries({ ...oidc, ...hub }).filter(([, value]) => value !== undefined)).toEqual([]);
});

test('exactly the secret settings, and the certificates of the delivery, can come from files', () => {
  expect(new Set(secretNamesOf(schema))).toEqual(
    new Set([
      'DATABASE_URL',
      'MIGRATION_DATABASE_URL',
      'METRICS_TOKEN',
      'AUDIT_DELIVERY_CA',
      'AUDIT_DELIVERY_CERT',
      'AUDIT_DELIVERY_KEY',
      'ENCRYPTION_KEYS',
      'SVC_TEMP_ADMIN_PASSWORD',
      'HUB_API_KEY',
      'OIDC_CLIENT_SECRET',
    ]),
  );
});

test('the service and its commands read the encryption keys from a file', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'fleet-config-'));
  try {
    const ENCRYPTION_KEYS_FILE = path.join(folder, 'keys');
    await writeFile(ENCRYPTION_KEYS_FILE, `first:${aKey()}\n`);
    const environment = { DATABASE_URL, ENCRYPTION_KEYS_FILE };
    for (const read of [readConfig, readKeySettings]) expect(read(environment).ENCRYPTION_KEYS[0]?.kid).toBe('first');
    const missing = { ...environment, ENCRYPTION_KEYS_FILE: path.join(folder, 'none') };
    expect(() => readKeySettings(missing)).toThrow(/ENCRYPTION_KEYS_FILE: the file .* it does not exist$/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
