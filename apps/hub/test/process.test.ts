import { createServer } from 'node:net';
import path from 'node:path';
import { createEmptyDatabase, onServer, type StartedProcess, startProcess, untilReady } from '@svc/testing';
import { eventually } from '@svc/testing/faults';

const MAIN = path.resolve(import.meta.dirname, '../dist/main.js');
const STARTER = path.resolve(import.meta.dirname, '../../../infra/catalog');
const ISSUER = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'https://hub.example.test' };

const database = await createEmptyDatabase();
const started: StartedProcess[] = [];
afterAll(async () => {
  // Those of a test that failed: the others have ended.
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await database.drop();
});

const run = (args: readonly string[], environment: Readonly<Record<string, string>>) => {
  const running = startProcess(MAIN, args, environment);
  started.push(running);
  return running;
};

const settings = (port: number) => ({ DATABASE_URL: database.url, PORT: `${port}`, ...ISSUER });

interface Hub extends StartedProcess {
  readonly url: string;
}

/** A hub on a port that the system chooses, ready to serve. */
async function aHub(environment: Readonly<Record<string, string>> = {}): Promise<Hub> {
  const running = run([], { ...settings(0), ...environment });
  const portOf = () => /"port":(\d+),"message":"listening"/.exec(running.output())?.[1];
  await eventually('the hub listens', async () => portOf() !== undefined || running.child.exitCode !== null);
  const url = `http://127.0.0.1:${portOf()}`;
  await untilReady(url, running);
  return { ...running, url };
}

// Two hubs on a database that is empty at first. Each test continues where the previous one ended: a start is expensive.
let hubs: readonly Hub[];
const [first, second] = [() => hubs[0] as Hub, () => hubs[1] as Hub]; // beforeAll starts both
beforeAll(async () => {
  hubs = await Promise.all([aHub({ LOG_LEVEL: 'trace' }), aHub()]);
}, 60_000);

test('two hubs that start together on an empty database migrate it once', async () => {
  const [applied, commits] = await onServer(database.url, async (client) => [
    (await client.query('SELECT migration_name FROM _prisma_migrations')).rows,
    (await client.query('SELECT FROM catalog_commits')).rows,
  ]);
  expect(new Set(applied?.map(({ migration_name }) => migration_name)).size).toBe(applied?.length);
  expect(applied).not.toEqual([]);
  expect(commits).toHaveLength(1);
  for (const { url } of hubs) {
    const answer = await fetch(`${url}/api/v1/catalog/templates`);
    expect(await answer.json()).toMatchObject({ templates: [] });
  }
});

test('the commands import a catalog and create an organization and a key, which no log contains', async () => {
  const command = async (...args: string[]) => {
    const { ended, output } = run(args, { DATABASE_URL: database.url });
    return { code: await ended, output: output() };
  };
  const [imported, created] = await Promise.all([
    command('import', STARTER),
    command('create-organization', '--name', 'Acme', '--slug', 'acme'),
  ]);
  expect(imported).toMatchObject({ code: 0, output: expect.stringContaining('created') });
  expect(created.code).toBe(0);
  const { key } = JSON.parse((await command('create-api-key', '--organization', 'acme', '--name', 'first')).output);

  const { url, output } = first();
  const headers = { Authorization: `Bearer ${key}` };
  expect((await fetch(`${url}/api/v1/catalog/organization`, { headers })).status).toBe(200);
  expect((await fetch(`${url}/api/v1/catalog/organization?x=${key}`, { headers })).status).toBe(400);
  expect((await fetch(`${url}/api/v1/catalog/templates/${key}`, { headers })).status).toBe(404);
  await eventually('the request is logged', async () => output().includes('/api/v1/catalog/templates/[credential]'));
  expect(output()).not.toContain(key);
}, 60_000);

test('a hub stops in order on SIGTERM', async () => {
  for (const { child } of [first(), second()]) child.kill('SIGTERM');
  expect(await Promise.all(hubs.map(({ ended }) => ended))).toEqual([0, 0]);
});

test('a start with missing and invalid settings lists all of them', async () => {
  const { ended, output } = run([], { PORT: '70000', RATE_LIMIT: 'maybe', OIDC_ISSUER: 'not a url' });
  expect(await ended).toBe(1);
  for (const setting of [
    'DATABASE_URL: is required',
    'PORT: must be',
    'RATE_LIMIT:',
    'OIDC_ISSUER: must be',
    'OIDC_AUDIENCE: is required',
  ]) {
    expect(output()).toContain(setting);
  }
});

test('a start without a reachable database prints one sentence, without the password', async () => {
  const DATABASE_URL = 'postgresql://hub:canary-password@127.0.0.1:1/hub';
  const { ended, output } = run([], { ...settings(0), DATABASE_URL });
  expect(await ended).toBe(1);
  expect(output().trim().split('\n')).toHaveLength(1);
  expect(output()).not.toContain('canary-password');
});

test('a start on a port in use prints one sentence', async () => {
  const other = createServer();
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => {
      const address = other.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  const { ended, output } = run([], settings(port));
  expect(await ended).toBe(1);
  expect(output()).toContain(`Port ${port} on 127.0.0.1 is in use`);
  other.close();
});

test('an import without a folder prints the usage', async () => {
  const { ended, output } = run(['import'], { DATABASE_URL: database.url });
  expect(await ended).toBe(1);
  expect(output()).toContain('create-api-key');
});
