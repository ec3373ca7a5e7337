import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  commonSettings,
  listSetting,
  numberSetting,
  outboundSetting,
  readSettings,
  SettingsError,
  urlSetting,
} from '../../src/index.ts';

const schema = z.object({ ...commonSettings({ port: '4100' }), HUB_URL: urlSetting.optional() });
const DATABASE_URL = 'postgresql://svc:pw@127.0.0.1/svc';
const read = (environment: NodeJS.ProcessEnv) => readSettings(schema, { DATABASE_URL, ...environment });

const errorsOf = (environment: NodeJS.ProcessEnv): string[] => {
  try {
    read(environment);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message.split('\n');
  }
};

test('settings that are not set have their defaults', () => {
  expect(read({})).toEqual({
    PORT: 4100,
    HOST: '127.0.0.1',
    DATABASE_URL,
    DATABASE_CONNECTIONS: 16,
    LOG_LEVEL: 'info',
    RATE_LIMIT: true,
    REQUESTS_PER_MINUTE: 6000,
    CORS_ORIGINS: [],
    TRUST_PROXY: [],
    MIGRATE_ON_START: true,
  });
});

test('settings are read from the environment', () => {
  const given = {
    PORT: '0',
    HOST: '0.0.0.0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    REQUESTS_PER_MINUTE: '60000',
    PUBLIC_URL: 'https://hub.example.test/',
    CORS_ORIGINS: 'https://a.example.test, http://localhost:5173',
    TRUST_PROXY: '10.0.0.1',
    METRICS_TOKEN: '0123456789abcdef',
    MIGRATE_ON_START: 'false',
    MIGRATION_DATABASE_URL: 'postgresql://owner:pw@127.0.0.1/svc',
  };
  expect(read(given)).toMatchObject({
    PORT: 0,
    HOST: '0.0.0.0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: false,
    REQUESTS_PER_MINUTE: 60_000,
    PUBLIC_URL: 'https://hub.example.test',
    CORS_ORIGINS: ['https://a.example.test', 'http://localhost:5173'],
    TRUST_PROXY: ['10.0.0.1'],
    METRICS_TOKEN: '0123456789abcdef',
    MIGRATE_ON_START: false,
  });
});

test.each(['PORT', 'HOST', 'RATE_LIMIT', 'CORS_ORIGINS', 'METRICS_TOKEN', 'PUBLIC_URL'])(
  'an empty %s counts as not set',
  (name) => {
    expect(read({ [name]: '' })).toEqual(read({}));
  },
);

test('an empty value of a required setting is reported as missing', () => {
  expect(errorsOf({ DATABASE_URL: '' })).toEqual(['Invalid configuration:', '  DATABASE_URL: is required']);
});

test('all invalid settings are reported at once', () => {
  const errors = errorsOf({
    PORT: '99999',
    DATABASE_URL: 'mysql://x',
    DATABASE_CONNECTIONS: '5',
    LOG_LEVEL: 'loud',
    RATE_LIMIT: 'yes',
    REQUESTS_PER_MINUTE: '10',
    PUBLIC_URL: 'ftp://x',
    CORS_ORIGINS: '*',
    METRICS_TOKEN: 'short',
    MIGRATE_ON_START: '1',
    HUB_URL: 'hub',
  });
  const names = errors.slice(1).map((error) => /^ {2}(\w+): ./.exec(error)?.[1]);
  expect(new Set(names)).toEqual(
    new Set([
      'PORT',
      'DATABASE_URL',
      'DATABASE_CONNECTIONS',
      'LOG_LEVEL',
      'RATE_LIMIT',
      'REQUESTS_PER_MINUTE',
      'PUBLIC_URL',
      'CORS_ORIGINS',
      'METRICS_TOKEN',
      'MIGRATE_ON_START',
      'HUB_URL',
    ]),
  );
});

test('errors state what is allowed, and do not contain the values, which can be secret', () => {
  const wrong = { METRICS_TOKEN: 'hunter2', DATABASE_URL: 'hunter2', HUB_URL: 'https://me:hunter2@hub.example.test' };
  const text = errorsOf(wrong).join('\n');
  expect(text).toContain('METRICS_TOKEN: must have at least 16 characters');
  expect(text).toContain('DATABASE_URL: must be a postgresql:// URL');
  expect(text).toContain('HUB_URL: must not contain a user or a password');
  expect(text).not.toContain('hunter2');
});

describe('a number', () => {
  const number = numberSetting(1, 100);

  test.each(['', ' 5', '+5', '-1', '0', '101', '5.0', '1e2', '0x10', '٣'])('cannot be %p', (given) => {
    expect(number.safeParse(given).error?.issues[0]?.message).toBe('must be an integer from 1 to 100');
  });

  test.each(['1', '100'])('can be %p', (given) => {
    expect(number.parse(given)).toBe(Number(given));
  });
});

describe('a URL', () => {
  test.each([
    ['https://hub.example.test', 'https://hub.example.test'],
    ['https://hub.example.test/hub//', 'https://hub.example.test/hub'],
    ['http://127.0.0.1:4100/', 'http://127.0.0.1:4100'],
  ])('%s is read as %s', (given, expected) => {
    expect(urlSetting.parse(given)).toBe(expected);
  });

  test.each([
    '',
    'hub.example.test',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user@hub.example.test',
    'https://user:pw@hub.example.test',
    'https://:pw@hub.example.test',
  ])('cannot be %p', (given) => {
    expect(urlSetting.safeParse(given).success).toBe(false);
  });
});

test.each([
  ['a, b ,,c', ['a', 'b', 'c']],
  [' ', []],
  [undefined, []],
])('the list %p is read as %p', (given, expected) => {
  expect(listSetting.parse(given)).toEqual(expected);
});

test.each([
  '*',
  'https://a.example.test/',
  'https://a.example.test/path',
  'a.example.test',
  'https://A.example.test',
  'null',
])('an origin cannot be %p', (origin) => {
  expect(errorsOf({ CORS_ORIGINS: `https://ok.example.test,${origin}` })).toContain(
    '  CORS_ORIGINS: must be a comma-separated list of origins such as https://console.example.com',
  );
});

describe('TRUST_PROXY', () => {
  test.each(['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '2001:db8::1/128', 'loopback', 'linklocal', 'uniquelocal'])(
    'can contain %s',
    (entry) => {
      expect(read({ TRUST_PROXY: `127.0.0.1, ${entry}` }).TRUST_PROXY).toEqual(['127.0.0.1', entry]);
    },
  );

  test.each(['1', 'true', '10.0.0', '10.0.0.256', '10.0.0.0/33', '10.0.0.0/0', '10.0.0.0/', '::1/129', 'proxy.test'])(
    'cannot contain %s',
    (entry) => {
      expect(errorsOf({ TRUST_PROXY: `127.0.0.1,${entry}` })).toContain(
        `  TRUST_PROXY: must be a comma-separated list of IP addresses, ranges such as 10.0.0.0/8, loopback, linklocal, uniquelocal; invalid: ${entry}`,
      );
    },
  );
});

describe('OUTBOUND_ALLOW', () => {
  const read = (text: string) => readSettings(z.object({ OUTBOUND_ALLOW: outboundSetting }), { OUTBOUND_ALLOW: text });

  test('is a set of known words, which is empty by default', () => {
    expect(read('').OUTBOUND_ALLOW).toEqual(new Set());
    expect(read(' http,private ,http').OUTBOUND_ALLOW).toEqual(new Set(['http', 'private']));
    expect(read('http,loopback,private,unix').OUTBOUND_ALLOW).toEqual(new Set(['http', 'loopback', 'private', 'unix']));
  });

  test('is rejected with all unknown words', () => {
    expect(() => read('http, https, HTTP, all')).toThrow(
      'OUTBOUND_ALLOW: must be a comma-separated list of http, loopback, private, unix; unknown: https, HTTP, all',
    );
  });
});

describe('settings of private networks', () => {
  const certificates = fileURLToPath(import.meta.url); // a file without certificates

  test.each([
    ['HTTPS_PROXY', 'proxy.example.test:3128'],
    ['HTTPS_PROXY', 'http://proxy.example.test/path'],
    ['HTTPS_PROXY', 'socks5://proxy.example.test'],
    ['NO_PROXY', 'a.example.test, 10.0.0.0/40'],
    ['NODE_EXTRA_CA_CERTS', '/does/not/exist'],
    ['NODE_EXTRA_CA_CERTS', certificates],
    ['DATABASE_URL', `${DATABASE_URL}?sslmode=verify-full&sslrootcert=/does/not/exist`],
  ])('%s must not be %s', (name, value) => {
    const [, error = '', ...more] = errorsOf({ [name]: value });
    expect(error).toMatch(new RegExp(`^ {2}${name}: must `));
    expect(more).toEqual([]);
  });

  test('a file that cannot be read is named with the reason', () => {
    expect(errorsOf({ NODE_EXTRA_CA_CERTS: '/does/not/exist' })[1]).toContain(
      '/does/not/exist cannot be read: it does not exist',
    );
    expect(errorsOf({ NODE_EXTRA_CA_CERTS: certificates })[1]).toContain('contains no certificate');
    expect(errorsOf({ DATABASE_URL: `${DATABASE_URL}?sslkey=/does/not/exist` })[1]).toContain('sslkey');
  });

  test('a proxy can have credentials and a slash, and exemptions can have spaces', () => {
    expect(
      read({ HTTPS_PROXY: 'http://user:pw@proxy.example.test:3128/', NO_PROXY: '.example.internal, 10.0.0.0/8' }),
    ).toMatchObject({ HTTPS_PROXY: 'http://user:pw@proxy.example.test:3128/' });
  });
});
