import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { hash as hashArgon2, parseOptions } from '@node-rs/argon2';
import { createHashingThreads, HASHING_THREADS } from '../../src/identity/passwords/hashing.ts';
import { createPasswords } from '../../src/identity/passwords/passwords.ts';

const PASSWORD = 'ein sehr gutes Passwort';
const hashing = createHashingThreads();
afterAll(hashing.stop);
const { hash, findWeakness, ...passwords } = createPasswords({ hashing });
const verify = (stored: string | undefined, password: string) => passwords.verify(stored, password, 'unknown');

const NOTHING = { matches: false, outdated: false };
const withCost = (cost: { memoryCost?: number; timeCost?: number; parallelism?: number }) =>
  hashArgon2(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1, ...cost });

describe('a password hash', () => {
  test('is Argon2id at the lowest permitted cost', async () => {
    const made = await hash(PASSWORD);
    expect(made).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(parseOptions(made)).toMatchObject({ saltLen: 16, outputLen: 32 });
  });

  test('has its own salt', async () => {
    expect(await hash(PASSWORD)).not.toBe(await hash(PASSWORD));
  });

  test('matches its password and no other', async () => {
    const made = await hash(PASSWORD);
    expect(await verify(made, PASSWORD)).toEqual({ matches: true, outdated: false });
    for (const other of ['', `${PASSWORD} `, PASSWORD.toUpperCase(), PASSWORD.slice(1)]) {
      expect(await verify(made, other)).toEqual(NOTHING);
    }
  });

  test('matches all characters of a long password', async () => {
    const long = 'a1b2'.repeat(256);
    const made = await hash(long);
    expect(await verify(made, long)).toMatchObject({ matches: true });
    expect(await verify(made, long.slice(0, -1))).toEqual(NOTHING);
  });

  test.each([
    ['one character for two', 'caf\u00e9 au lait', 'cafe\u0301 au lait'],
    ['full width', 'Tokyo-1964', '\uff34\uff4f\uff4b\uff59\uff4f\uff0d\uff11\uff19\uff16\uff14'],
    ['a ligature', 'office-hours', 'o\ufb03ce-hours'],
  ])('matches the same password in another Unicode normalization form: %s', async (_, one, other) => {
    expect(one).not.toBe(other);
    expect(await verify(await hash(one), other)).toMatchObject({ matches: true });
    expect(await verify(await hash(other), one)).toMatchObject({ matches: true });
  });
});

describe('no password matches a missing or unreadable hash:', () => {
  test('of an unknown user', async () => {
    expect(await verify(undefined, PASSWORD)).toEqual(NOTHING);
    expect(await verify(undefined, '')).toEqual(NOTHING);
  });

  test.each([
    '',
    PASSWORD,
    '$argon2id$',
    '$argon2id$v=19$m=19456,t=2,p=1$AAAA$',
    '$argon2id$v=19$m=19456,t=2,p=1$djt5mxntB4Cp9P/NZSHdAg$!!!!',
    '$argon2id$v=19$m=1,t=2,p=1$djt5mxntB4Cp9P/NZSHdAg$trkUwm7TqDdlPrV5+0OHW7kv8xGG7cgmxz0JVMTq5fA',
    '$argon2id$v=19$m=4294967295,t=2,p=1$djt5mxntB4Cp9P/NZSHdAg$trkUwm7TqDdlPrV5+0OHW7kv8xGG7cgmxz0JVMTq5fA',
    '$argon2id$v=19$m=19456,t=4294967295,p=1$djt5mxntB4Cp9P/NZSHdAg$trkUwm7TqDdlPrV5+0OHW7kv8xGG7cgmxz0JVMTq5fA',
    '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
  ])('malformed: %p', async (malformed) => {
    expect(await verify(malformed, PASSWORD)).toEqual(NOTHING);
  });

  test('of another algorithm', async () => {
    const argon2i = await hashArgon2(PASSWORD, { algorithm: 1 });
    expect(argon2i).toMatch(/^\$argon2i\$/);
    expect(await verify(argon2i, PASSWORD)).toEqual(NOTHING);
  });
});

describe('a password hash is outdated', () => {
  test.each([{ memoryCost: 8192 }, { timeCost: 1 }, { memoryCost: 65_536, timeCost: 1 }])(
    'if it was made at a lower cost: %p',
    async (cost) => {
      expect(await verify(await withCost(cost), PASSWORD)).toEqual({ matches: true, outdated: true });
    },
  );

  test.each([{}, { memoryCost: 65_536 }, { timeCost: 3 }, { parallelism: 2 }])(
    'not if its cost is equal or higher: %p',
    async (cost) => {
      expect(await verify(await withCost(cost), PASSWORD)).toEqual({ matches: true, outdated: false });
    },
  );

  test('not if the password does not match: that password must not be stored', async () => {
    expect(await verify(await withCost({ timeCost: 1 }), 'another')).toEqual(NOTHING);
  });
});

test('password hashing runs a few calls at a time, queues some, and rejects the others', async () => {
  const bounded = createPasswords({ hashing, concurrent: 1, waiting: { known: 2, unknown: 1 } });
  const made = await bounded.hash(PASSWORD);
  const results = await Promise.allSettled([
    bounded.verify(made, PASSWORD, 'unknown'),
    bounded.verify(undefined, PASSWORD, 'unknown'),
    bounded.verify(made, PASSWORD, 'unknown'),
    bounded.hash(PASSWORD),
    bounded.verify(made, PASSWORD, 'known'),
    bounded.hash(PASSWORD),
  ]);
  expect(results.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'rejected'],
    ...['fulfilled', 'fulfilled', 'rejected'],
  ]);
  expect(results[2]).toMatchObject({ reason: { code: 'unavailable', status: 503, headers: { 'Retry-After': '1' } } });
  expect(await bounded.verify(made, PASSWORD, 'unknown')).toMatchObject({ matches: true });
});

const onLinux = process.platform === 'linux' ? test : test.skip;

/** The priorities of the threads of this process: the field `nice` of proc_pid_stat(5). */
const priorities = () =>
  readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });

onLinux('passwords are hashed in a bounded number of threads with a low priority', async () => {
  const made = await hash(PASSWORD);
  await Promise.all(Array.from({ length: 8 }, () => verify(made, PASSWORD)));
  const low = priorities().filter((nice) => nice >= 15);
  expect(low.length).toBeGreaterThan(0);
  expect(low.length).toBeLessThanOrEqual(HASHING_THREADS);
});

describe('password strength:', () => {
  const ABOUT = ['Maria.Lindqvist@orchids.example', 'Maria Theresia Lindqvist'];
  const EASY = expect.stringMatching(/easy to guess/);
  const refusal = (password: string) => findWeakness(password, ABOUT);

  test.each(['', 'k3!xQ', 'k3!xQz7', '👩‍🚀👩‍🚀', '\ufb03\ufb03'])(
    'rejects fewer than 8 characters: %p',
    async (password) => {
      expect(await refusal(password)).toBe('must have at least 8 characters');
    },
  );

  test.each(['k3!xQz7p', 'ünïcödé!', '🐙🦑🦐🦞🦀🐡🐠🐟'])('accepts 8 characters: %p', async (password) => {
    expect(await refusal(password)).toBeUndefined();
  });

  test('accepts at most 1024 characters', async () => {
    expect(await refusal('correct horse battery staple '.repeat(40).slice(0, 1024))).toBeUndefined();
    expect(await refusal('correct horse battery staple '.repeat(40).slice(0, 1025))).toBe(
      'must have at most 1024 characters',
    );
  });

  test.each([
    'password',
    'Passw0rd!',
    '12345678',
    'qwertyuiop',
    'aaaaaaaaaaaa',
    'abcdefgh',
    '19841984',
    'ｐａｓｓｗｏｒｄ',
  ])('rejects a common password: %p', async (password) => {
    expect(await refusal(password)).toEqual(EASY);
  });

  test.each([
    'lindqvist',
    'Lindqvist1',
    'maria.lindqvist',
    'Maria.Lindqvist@orchids.example',
    'orchids.example',
    'theresia1',
  ])('rejects the name or address of the user: %p', async (password) => {
    expect(await refusal(password)).toEqual(EASY);
    expect(await findWeakness('lindqvist', [])).toBeUndefined();
  });

  test('compares only the beginning of a long password with the beginning of what is known of the user', async () => {
    const email = `maria.theresia.lindqvist-of-the-orchids@${'flowers.'.repeat(4)}example`;
    expect(await findWeakness(email, [email])).toEqual(EASY);
    expect(await findWeakness(email, [])).toBeUndefined();
    expect(await refusal(`${'a'.repeat(32)}k3!xQz7pWm2`)).toEqual(EASY);
  });

  test.each(['correct horse battery staple', 'Wj7#qLz9', 'drei müde Katzen im Regen'])(
    'accepts %p',
    async (password) => {
      expect(await refusal(password)).toBeUndefined();
    },
  );
});
