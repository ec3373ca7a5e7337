// A database that is away, and changes of files while the fleet serves.
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '@svc/testing';
import { prepareFaults, type RunningService } from '@svc/testing/faults';
import { aKey } from '../process-world.ts';

const MAIN = path.resolve(import.meta.dirname, '../../dist/main.js');
const USERNAME = 'first-admin';
const PASSWORDS = ['canary-of-the-admin', 'another-canary-of-it'] as const;
const { aPostgres, aFolder, aService } = prepareFaults();
const keys = [aKey('first'), aKey('second')] as const;
const folder = aFolder();
const postgres = await aPostgres();
let fleet: RunningService;

const write = (name: string, text: string) => {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
};

interface Line {
  readonly level: number;
  readonly message: string;
  readonly dependency?: string;
  readonly detail?: string;
  readonly reason?: string;
  readonly reasons?: readonly string[];
  readonly changed?: readonly string[];
  readonly lines_left_out?: number;
}

const lines = (): Line[] =>
  fleet
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** The first line with a message after a number of lines. */
const lineWith = (message: string, after: number): Promise<Line> =>
  eventually(
    `the log has "${message}"`,
    async () =>
      lines()
        .slice(after)
        .find((line) => line.message === message),
    {
      until: (line) => line !== undefined,
    },
  ) as Promise<Line>; // `until` has excluded undefined

beforeAll(async () => {
  fleet = await aService({
    main: MAIN,
    environment: {
      LOG_LEVEL: 'info',
      DATABASE_URL: postgres.databaseUrl,
      ENCRYPTION_KEYS_FILE: write('keys', keys[0]),
      SVC_TEMP_ADMIN_USERNAME: USERNAME,
      SVC_TEMP_ADMIN_PASSWORD_FILE: write('password', PASSWORDS[0]),
    },
  });
});

test('while PostgreSQL is away, a fleet without hosts logs one line, and another one at its return', async () => {
  const before = lines().length;
  await postgres.kill();
  const away = await lineWith('a dependency is not available', before);
  expect(away).toMatchObject({ level: 40, dependency: 'database', detail: 'not reachable' });
  expect(away.reason).toMatch(/\S/);
  // Tasks fail about three times a second.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(lines().slice(before)).toEqual([away]);
  await postgres.restart();
  const back = await lineWith('a dependency is available again', before);
  expect(back).toMatchObject({ level: 30, dependency: 'database' });
  expect(back.lines_left_out).toBeGreaterThan(2);
  expect((await fetch(`${fleet.url}/readyz`)).status).toBe(200);
});

test('SIGHUP replaces encryption keys and the password of the temporary admin, all or none', async () => {
  const hangUp = async (message: string) => {
    const before = lines().length;
    fleet.child.kill('SIGHUP');
    return lineWith(message, before);
  };
  const signIn = async (password: string) => {
    const body = JSON.stringify({ username: USERNAME, password });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${fleet.url}/api/v1/auth/login`, { method: 'POST', headers, body })).status;
  };
  const refused = 'the files of the settings were read again, and nothing was changed';

  write('password', PASSWORDS[1]);
  write('keys', keys[1]);
  expect((await hangUp(refused)).reasons).toEqual([
    'ENCRYPTION_KEYS has no key "first". Values of this database are encrypted with it: add the key.',
  ]);
  expect(await signIn(PASSWORDS[0])).toBe(200);

  write('keys', `${keys[1]},${keys[0]}`);
  expect((await hangUp('the files of the settings were read again')).changed).toEqual([
    'ENCRYPTION_KEYS',
    'SVC_TEMP_ADMIN_PASSWORD',
  ]);
  expect(await signIn(PASSWORDS[1])).toBe(200);
  expect(await signIn(PASSWORDS[0])).toBe(401);
  const readiness = (await (await fetch(`${fleet.url}/readyz`)).json()) as { checks: object[] };
  expect(readiness.checks).toContainEqual({ name: 'encryption keys', state: 'ok' });

  write('password', 'first-admin1');
  expect((await hangUp(refused)).reasons).toEqual([
    expect.stringContaining('SVC_TEMP_ADMIN_PASSWORD: is too easy to guess'),
  ]);
  for (const secret of [...PASSWORDS, ...keys]) expect(fleet.output()).not.toContain(secret);
});
