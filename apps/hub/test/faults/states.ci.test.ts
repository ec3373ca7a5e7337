// Faults of the settings and of what they refer to: the sentence that names each, and changes of files while the hub serves.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createEmptyDatabase, eventually, freePort, onServer, startProcess } from '@svc/testing';
import { ask, type RunningService } from '@svc/testing/faults';
import { MAIN, prepareHubFaults } from './world.ts';

const { anIssuer, aHub, aPostgres, aDatabase, aFolder, closers } = prepareHubFaults();
const aKey = (kid: string) => `${kid}:${randomBytes(32).toString('base64')}`;
const MIGRATE = 'Run the command migrate: node dist/main.js migrate';

interface Line {
  readonly level: number;
  readonly message: string;
  readonly dependency?: string;
  readonly detail?: string;
  readonly reasons?: readonly string[];
  readonly changed?: readonly string[];
}

/** The lines of the log of a process. */
const linesOf = ({ output }: Pick<RunningService, 'output'>): Line[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** The first line of a process with a message. */
const lineWith = (service: Pick<RunningService, 'output'>, message: string, after = 0): Promise<Line> =>
  eventually(
    `the log has "${message}"`,
    async () =>
      linesOf(service)
        .slice(after)
        .find((line) => line.message === message),
    {
      until: (line) => line !== undefined,
    },
  ) as Promise<Line>; // `until` has excluded undefined

const providerOf = async (url: string) =>
  (await ask(`${url}/readyz`)).body.checks.find(({ name }: { name: string }) => name === 'identity provider');

test('a wrong OIDC_ISSUER is named by /readyz and by the log before any user signs in', async () => {
  const { issuer } = await anIssuer();
  const wrong = {
    databaseUrl: await aDatabase(),
    issuer: `${issuer}/realms/other`,
    environment: { LOG_LEVEL: 'info' },
  };
  const hub = await aHub(wrong);
  const degraded = await eventually('the hub has found the wrong issuer', () => providerOf(hub.url), {
    until: ({ state }) => state !== 'unknown',
  });
  expect(degraded).toEqual({
    name: 'identity provider',
    state: 'degraded',
    detail:
      'The discovery document is of another issuer. Both must be identical. It was not reached since the start, so that its users cannot sign in. Check OIDC_ISSUER.',
  });
  expect(await lineWith(hub, 'a dependency is not available')).toMatchObject({
    ...{ dependency: 'identity provider', detail: degraded.detail },
  });
});

test('a database without migrations has one line that states what to run, in the service and in a command', async () => {
  const { url, drop } = await createEmptyDatabase();
  closers.push(drop);
  const port = await freePort();
  const environment = { DATABASE_URL: url, MIGRATE_ON_START: 'false', PORT: `${port}` };
  const { issuer } = await anIssuer();
  const hub = startProcess(MAIN, [], {
    ...environment,
    OIDC_ISSUER: issuer,
    OIDC_AUDIENCE: 'https://hub.example.test',
    ENCRYPTION_KEYS: aKey('first'), // with which webhooks send, and are looked for at once
  });
  closers.push(() => hub.child.kill('SIGKILL'));
  const { detail } = await lineWith(hub, 'a dependency is not available');
  expect(detail).toMatch(/^migrations are not applied: 00000000000000_initial, .* and \d+ more\. /);
  expect(detail).toContain(MIGRATE);
  const { status, body } = await ask(`http://127.0.0.1:${port}/readyz`);
  expect({ status, body }).toMatchObject({ status: 503, body: { checks: [{ name: 'database', detail }, {}] } });
  // Background tasks of the first seconds fail as well. On a busy machine, a check can also time out.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const details = linesOf(hub).flatMap((line) => (line.level >= 40 ? [line.detail] : []));
  expect([...new Set(details)].filter((each) => each !== 'not reachable')).toEqual([detail]);

  const command = startProcess(MAIN, ['create-organization', '--name', 'Acme', '--slug', 'acme'], environment);
  expect(await command.ended).toBe(1);
  expect(command.output()).toMatch(/^The database cannot be used: migrations are not applied: .*\n$/);
  expect(command.output()).toContain(MIGRATE);
});

test('SIGHUP puts changed files into effect, and an invalid one changes nothing and is named', async () => {
  const postgres = await aPostgres();
  const folder = aFolder();
  const [first, next] = [aKey('first'), aKey('next')];
  const write = (name: string, text: string) => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, text);
    return file;
  };
  const { issuer } = await anIssuer();
  const withPassword = (password: string) => Object.assign(new URL(postgres.databaseUrl), { password }).href;
  const hub = await aHub({
    ...{ databaseUrl: '', issuer },
    environment: {
      LOG_LEVEL: 'info',
      DATABASE_URL_FILE: write('database-url', postgres.databaseUrl),
      METRICS_TOKEN_FILE: write('metrics-token', 'the first token of the metrics'),
      ENCRYPTION_KEYS_FILE: write('keys', first),
    },
  });
  const scrape = async (token: string) => {
    const { status } = await fetch(`${hub.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    return status;
  };
  const hangUp = async (message: string) => {
    const before = linesOf(hub).length;
    hub.child.kill('SIGHUP');
    return lineWith(hub, message, before);
  };
  const refused = 'the files of the settings were read again, and nothing was changed';

  write('keys', next);
  expect((await hangUp(refused)).reasons).toEqual([expect.stringContaining('ENCRYPTION_KEYS has no key "first"')]);
  write('keys', `${next},${first}`);
  expect((await hangUp('the files of the settings were read again')).changed).toEqual(['ENCRYPTION_KEYS']);
  const { rows } = await onServer(postgres.databaseUrl, (client) =>
    client.query('SELECT key_id FROM encryption_canary'),
  );
  expect(rows).toEqual([{ key_id: 'next' }]);

  write('metrics-token', 'the second token of the metrics');
  write('database-url', withPassword('wrong'));
  const { reasons = [] } = await hangUp(refused);
  expect(reasons).toEqual([
    expect.stringMatching(
      /^DATABASE_URL: The database service at .* password authentication failed for user "service"\.$/,
    ),
  ]);
  expect(await scrape('the first token of the metrics')).toBe(200);
  expect(hub.output()).not.toContain('wrong@');

  write('database-url', 'mysql://hub@127.0.0.1/hub');
  write('metrics-token', 'short');
  expect((await hangUp(refused)).reasons).toEqual([
    expect.stringMatching(/^DATABASE_URL: must be/),
    'METRICS_TOKEN: must have at least 16 characters',
  ]);

  await onServer(postgres.databaseUrl, (client) => client.query("ALTER ROLE service PASSWORD 'changed'"));
  write('database-url', withPassword('changed'));
  write('metrics-token', 'the second token of the metrics');
  expect((await hangUp('the files of the settings were read again')).changed).toEqual([
    'DATABASE_URL',
    'METRICS_TOKEN',
  ]);
  expect(await scrape('the first token of the metrics')).toBe(401);
  expect(await scrape('the second token of the metrics')).toBe(200);
  // All connections are opened again, with the new password.
  await onServer(withPassword('changed'), (client) =>
    client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = current_user',
    ),
  );
  await eventually(
    'the hub has new connections',
    async () => (await ask(`${hub.url}/api/v1/catalog/templates`)).status === 200,
  );
  expect(hub.child.exitCode).toBeNull();
});
