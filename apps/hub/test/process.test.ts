import path from 'node:path';
import { createEmptyDatabase, freePort, type StartedProcess, startProcess, untilReady } from '@svc/testing';
import pg from 'pg';

const MAIN = path.resolve(import.meta.dirname, '../dist/main.js');
const STARTER = path.resolve(import.meta.dirname, '../../../infra/catalog');
const ISSUER = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'https://hub.example.test' };

const database = await createEmptyDatabase();
const started: StartedProcess[] = [];
afterEach(async () => {
  // Those of a test that failed: the others have ended by themselves.
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.splice(0).map(({ ended }) => ended));
});
afterAll(() => database.drop());

const run = (args: readonly string[], environment: Readonly<Record<string, string>>) => {
  const running = startProcess(MAIN, args, environment);
  started.push(running);
  return running;
};

/** The port that a hub got which was told to take any: one found beforehand may be taken by the time it listens. */
async function portOf({ child, output }: StartedProcess): Promise<string> {
  for (;;) {
    const port = /"port":(\d+),"message":"listening"/.exec(output())?.[1];
    if (port !== undefined) return port;
    if (child.exitCode !== null) throw new Error(`the process ended:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const settings = (port: number) => ({ DATABASE_URL: database.url, PORT: `${port}`, ...ISSUER });

test('two at once on an empty database migrate it once, serve alone, and stop in order', async () => {
  const both = [run([], settings(0)), run([], settings(0))];
  const urls = await Promise.all(both.map(async (running) => `http://127.0.0.1:${await portOf(running)}`));
  for (const [index, running] of both.entries()) await untilReady(urls[index] ?? '', running);

  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const applied = await client.query('SELECT migration_name FROM _prisma_migrations');
  const commits = await client.query('SELECT FROM catalog_commits');
  await client.end();
  expect(new Set(applied.rows.map(({ migration_name }) => migration_name)).size).toBe(applied.rowCount);
  expect(commits.rowCount).toBe(1);

  const answer = await fetch(`${urls[0]}/api/v1/catalog/templates`);
  expect(await answer.json()).toMatchObject({ templates: [] });
  for (const { child } of both) child.kill('SIGTERM');
  expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
});

test('missing and bad settings stop the start with a list of all that is wrong', async () => {
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

test('a database that does not answer stops the start with one sentence and without the password', async () => {
  const DATABASE_URL = 'postgresql://hub:canary-password@127.0.0.1:1/hub';
  const { ended, output } = run([], { ...settings(await freePort()), DATABASE_URL });
  expect(await ended).toBe(1);
  expect(output().trim().split('\n')).toHaveLength(1);
  expect(output()).not.toContain('canary-password');
});

test('a port in use stops the start with one sentence', async () => {
  const port = await freePort();
  const first = run([], settings(port));
  await untilReady(`http://127.0.0.1:${port}`, first);
  const second = run([], settings(port));
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain(`Port ${port} on 127.0.0.1 is in use`);
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
});

test('the commands of an operator: import, an organization, its key, which works and is in no log', async () => {
  const command = async (...args: string[]) => {
    const { ended, output } = run(args, { DATABASE_URL: database.url });
    return { code: await ended, output: output() };
  };
  expect(await command('import', STARTER)).toMatchObject({ code: 0, output: expect.stringContaining('created') });
  expect((await command('create-organization', '--name', 'Acme', '--slug', 'acme')).code).toBe(0);
  const { key } = JSON.parse((await command('create-api-key', '--organization', 'acme', '--name', 'first')).output);
  const port = await freePort();
  const hub = run([], { ...settings(port), LOG_LEVEL: 'trace' });
  await untilReady(`http://127.0.0.1:${port}`, hub);
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/catalog/organization?x=${key}`, { headers });
  expect(answer.status).toBe(400);
  expect((await fetch(`http://127.0.0.1:${port}/api/v1/catalog/templates/${key}`, { headers })).status).toBe(404);
  hub.child.kill('SIGTERM');
  await hub.ended;
  expect(hub.output()).toContain('/api/v1/catalog/templates/[credential]');
  expect(hub.output()).not.toContain(key);
});

test('an unknown command, and one without what it needs, say what there is', async () => {
  for (const args of [['fly'], ['import']]) {
    const { ended, output } = run(args, { DATABASE_URL: database.url });
    expect(await ended).toBe(1);
    expect(output()).toContain('create-api-key');
  }
});
