import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { byDepth, createEmptyDatabase, figure, type LocalIssuer, onServer, startProcess } from '@svc/testing';
import {
  aBalancer,
  ask,
  eventually,
  moreAcknowledged,
  type RunningService,
  startLoad,
  statusesOf,
  summaryOf,
} from '@svc/testing/faults';
import { readConfig } from '../src/config.ts';
import { openLedger } from './faults/ledger.ts';
import { adminOf, MAIN, makeCategory, prepareHubFaults } from './faults/world.ts';

const ISSUER = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'https://hub.example.test' };
/** Writes that are acknowledged before and after one of two replicas stops. */
const SOME_WRITES = byDepth({ short: 8, full: 20, long: 20 });
const PAUSE_MS = byDepth({ short: 40, full: 10, long: 10 });

const { anIssuer, aHub, closers } = prepareHubFaults();

/** A folder with a catalog of one template. */
function aCatalog(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'catalog-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, 'templates'));
  writeFileSync(path.join(folder, 'categories.yaml'), '- { slug: tools, name: Tools }\n');
  writeFileSync(path.join(folder, 'templates', 'one.yaml'), 'name: One\ncategory: tools\n');
  return folder;
}

/** Runs the program with a command line and exactly this environment. */
async function run(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const { child, ended, output } = startProcess(MAIN, args, environment);
  closers.push(() => child.kill('SIGKILL')); // that of a test that failed: the others have ended
  return { code: await ended, output: output() };
}

// Each test continues where the previous one ended: a start is expensive.
describe('two hubs that start together on an empty database, while the issuer is away', () => {
  let databaseUrl: string;
  let issuer: LocalIssuer;
  let hubs: readonly [RunningService, RunningService];
  let admin: string;

  beforeAll(async () => {
    const database = await createEmptyDatabase();
    closers.push(database.drop);
    databaseUrl = database.url;
    issuer = await anIssuer();
    admin = await adminOf(issuer);
    await issuer.goAway();
    const settings = { databaseUrl, issuer: issuer.issuer };
    hubs = await Promise.all([aHub({ ...settings, environment: { LOG_LEVEL: 'trace' } }), aHub(settings)]);
  }, 60_000);

  test('migrate the database once', async () => {
    const [applied = [], commits] = await onServer(databaseUrl, async (client) => [
      (await client.query('SELECT migration_name FROM _prisma_migrations')).rows,
      (await client.query('SELECT FROM catalog_commits')).rows,
    ]);
    expect(applied).not.toEqual([]);
    expect(new Set(applied.map(({ migration_name }) => migration_name)).size).toBe(applied.length);
    expect(commits).toHaveLength(1);
    for (const { url } of hubs) {
      expect(await ask(`${url}/api/v1/catalog/templates`)).toMatchObject({ status: 200, body: { templates: [] } });
    }
  });

  test('answer tokens with 503 until the issuer is back, and then need it no longer', async () => {
    const [{ url }] = hubs;
    const templates = (authorization?: string) =>
      ask(`${url}/api/v1/admin/templates`, authorization === undefined ? {} : { authorization });
    expect(await templates(admin)).toMatchObject({ status: 503, retryAfter: '1', body: { code: 'unavailable' } });
    const health = { status: 'degraded', checks: [{ name: 'database', state: 'ok' }, { state: 'degraded' }] };
    expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200, body: health });
    expect((await ask(`${url}/api/v1/catalog/templates`)).status).toBe(200);
    expect((await templates()).status).toBe(401);

    await issuer.comeBack();
    expect((await templates(admin)).status).toBe(200);
    expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } });
    await issuer.goAway();
    expect((await templates(admin)).status).toBe(200);
    await issuer.comeBack();
  });

  test('serve what the commands have created, and log no key', async () => {
    const command = (...args: string[]) => run(args, { DATABASE_URL: databaseUrl });
    const [imported, created] = await Promise.all([
      command('import', aCatalog()),
      command('create-organization', '--name', 'Acme', '--slug', 'acme'),
    ]);
    expect(imported).toEqual({ code: 0, output: expect.stringContaining('2 created') });
    expect(created.code).toBe(0);
    const { key } = JSON.parse((await command('create-api-key', '--organization', 'acme', '--name', 'first')).output);

    const [{ url, output }] = hubs;
    const get = async (at: string) =>
      (await ask(`${url}/api/v1/catalog/${at}`, { authorization: `Bearer ${key}` })).status;
    expect(await get('organization')).toBe(200);
    expect(await get('templates/one')).toBe(200);
    expect(await get(`organization?x=${key}`)).toBe(400);
    expect(await get(`templates/${key}`)).toBe(404);
    await eventually('the request is logged', async () => output().includes('/api/v1/catalog/templates/[credential]'));
    expect(output()).not.toContain(key);
  }, 60_000);

  test('fail no request of a client that respects readiness when one of them stops', async () => {
    const [leaving, staying] = hubs;
    const balancer = aBalancer(hubs);
    const ledger = openLedger({ url: balancer.url, admin, categoryId: await makeCategory(staying, admin) });
    const lanes = [
      ledger.writer('a'),
      ledger.writer('b'),
      () => ask(`${balancer.url()}/api/v1/catalog/templates`),
      () => ask(`${balancer.url()}/api/v1/catalog/categories`),
    ];
    const load = startLoad(lanes, { pauseMs: PAUSE_MS });
    try {
      await moreAcknowledged(ledger, SOME_WRITES);
      leaving.child.kill('SIGTERM');
      expect(await leaving.ended).toBe(0);
      await moreAcknowledged(ledger, SOME_WRITES);
    } finally {
      await load.stop();
      await balancer.stop();
    }
    expect(statusesOf(load.seen)).toEqual([200, 201]);
    expect(Math.min(...balancer.sent())).toBeGreaterThan(0);
    expect(await ledger.lost()).toEqual([]);
    figure(`SIGTERM of one of two: ${balancer.sent().join(' and ')} requests; ${summaryOf(load.seen)}`);
  }, 60_000);
});

test('missing and invalid settings are listed together', () => {
  const environment = { PORT: '70000', RATE_LIMIT: 'maybe', OIDC_ISSUER: 'not a url' };
  for (const setting of [
    'DATABASE_URL: is required',
    'PORT: must be',
    'RATE_LIMIT:',
    'OIDC_ISSUER: must be',
    'OIDC_AUDIENCE: is required',
  ]) {
    expect(() => readConfig(environment)).toThrow(setting);
  }
});

describe('a start prints one sentence and ends with 1', () => {
  const DATABASE_URL = 'postgresql://hub:canary-password@127.0.0.1:1/hub';

  test('without a reachable database, whose password it does not print', async () => {
    const { code, output } = await run([], { DATABASE_URL, PORT: '0', ...ISSUER });
    expect(code).toBe(1);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).not.toContain('canary-password');
  });

  test('if its port is in use', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => {
        const address = other.address();
        resolve(typeof address === 'object' && address ? address.port : 0);
      });
    });
    const { code, output } = await run([], { DATABASE_URL, MIGRATE_ON_START: 'false', PORT: `${port}`, ...ISSUER });
    other.close();
    expect([code, output]).toEqual([1, `Port ${port} on 127.0.0.1 is in use: set PORT to a free one.\n`]);
  });
});

test('an import without a folder prints the usage', async () => {
  const { code, output } = await run(['import'], {});
  expect(code).toBe(1);
  expect(output).toContain('create-api-key');
});
