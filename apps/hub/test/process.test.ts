import { createServer } from 'node:net';
import {
  byDepth,
  createEmptyDatabase,
  eventually,
  figure,
  type LocalIssuer,
  onServer,
  startProcess,
} from '@svc/testing';
import {
  aBalancer,
  ask,
  moreAcknowledged,
  patientUrl,
  type RunningService,
  startLoad,
  statusesOf,
  summaryOf,
} from '@svc/testing/faults';
import { createApiKey, createOrganization } from '../src/commands/organizations.ts';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/database/client.ts';
import { openLedger } from './faults/ledger.ts';
import { adminOf, createCategory, MAIN, prepareHubFaults } from './faults/world.ts';

/** Writes that are acknowledged before and after one of two replicas stops. */
const SOME_WRITES = byDepth({ short: 8, full: 20, long: 20 });
const PAUSE_MS = byDepth({ short: 40, full: 10, long: 10 });
const WRITERS = 4;
const KILLS = byDepth({ short: 1, full: 3, long: 20 });
const WRITES_BEFORE_KILL = byDepth({ short: 15, full: 30, long: 30 });

const { anIssuer, aHub, closers } = prepareHubFaults();

/** A client that syncs by `since`. */
function aMirror(url: () => string) {
  const slugs = new Set<string>();
  let since = '1970-01-01T00:00:00Z';
  return async () => {
    const { body } = await ask(() => `${url()}/api/v1/catalog/templates/updates?since=${encodeURIComponent(since)}`);
    for (const { slug } of body.templates) slugs.add(slug);
    since = body.checked_at;
    return slugs;
  };
}

// Each test continues where the previous one ended, because a start is expensive.
describe('two hubs that start concurrently on an empty database while the issuer is unreachable', () => {
  let databaseUrl: string;
  let issuer: LocalIssuer;
  let hubs: readonly [RunningService, RunningService];
  let admin: string;

  beforeAll(async () => {
    const database = await createEmptyDatabase();
    closers.push(database.drop);
    databaseUrl = patientUrl(database.url);
    issuer = await anIssuer();
    admin = await adminOf(issuer);
    await issuer.stopListening();
    const settings = { databaseUrl, issuer: issuer.issuer };
    hubs = await Promise.all([
      aHub({ ...settings, environment: { LOG_LEVEL: 'trace' } }),
      aHub({ ...settings, environment: { AUDIT_DELIVERY: 'stdout' } }),
    ]);
  });

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

  test('are not ready while the database requires a later version, and stay ready with later additive migrations', async () => {
    const later = '99991231000000_later';
    const [{ url }] = hubs;
    const run = (sql: string) => onServer(databaseUrl, (client) => client.query(sql));
    const columns = '(id, checksum, migration_name, finished_at)';
    await run(`INSERT INTO _prisma_migrations ${columns} VALUES ('x', '', '${later}', now())`);
    expect((await ask(`${url}/readyz`)).status).toBe(200);
    await run(`UPDATE schema_info SET oldest_migration = '${later}'`);
    expect(await ask(`${url}/readyz`)).toMatchObject({
      status: 503,
      body: {
        checks: [{ state: 'failed', detail: expect.stringContaining(`requires a version with ${later}`) }, {}],
      },
    });
    await run(`UPDATE schema_info SET oldest_migration = '00000000000000_initial'`);
    expect((await ask(`${url}/readyz`)).status).toBe(200);
    await run(`DELETE FROM _prisma_migrations WHERE migration_name = '${later}'`);
  });

  test('answer 503 to tokens until the issuer is reachable, and then accept them without the issuer', async () => {
    const [{ url }] = hubs;
    const templates = (authorization?: string) =>
      ask(`${url}/api/v1/admin/templates`, authorization === undefined ? {} : { authorization });
    expect(await templates(admin)).toMatchObject({ status: 503, retryAfter: '1', body: { code: 'unavailable' } });
    const health = {
      status: 'degraded',
      checks: [{ name: 'database', state: 'ok' }, { name: 'audit log' }, { state: 'degraded' }],
    };
    expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200, body: health });
    expect((await ask(`${url}/api/v1/catalog/templates`)).status).toBe(200);
    expect((await templates()).status).toBe(401);

    await issuer.startListening();
    expect((await templates(admin)).status).toBe(200);
    expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } });
    await issuer.stopListening();
    expect((await templates(admin)).status).toBe(200);
    await issuer.startListening();
  });

  test('deliver audit entries to standard output if one is set to, whichever recorded them, with metrics and a check', async () => {
    const [{ url: other }, { url, output }] = hubs;
    const scrape = async (name: string) =>
      new RegExp(`^${name}\\{delivery="audit"\\} (\\S+)$`, 'm').exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    const id = await createCategory({ url: other }, admin, 'Delivered');
    const lines = await eventually(
      'the entry is written',
      () =>
        output()
          .split('\n')
          .filter((line) => line.includes(id)),
      { until: ({ length }) => length > 0 },
    );
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        service: 'hub',
        audit: expect.objectContaining({ path: '/api/v1/admin/categories', status: 201, object_id: id }),
      },
    ]);
    await eventually('the entry is delivered', () => scrape('delivery_lag_seconds'), { until: (lag) => lag === '0' });
    expect(Number(await scrape('delivery_rows_total'))).toBeGreaterThan(0);
    expect(await scrape('delivery_failures_total')).toBe('0');
    const { body } = await ask(`${url}/readyz`);
    expect(body.checks).toContainEqual({ name: 'audit delivery', state: 'ok' });
  });

  test('do not log the API key of a request', async () => {
    const [{ url, output }] = hubs;
    const database = openDatabase(databaseUrl, () => undefined);
    await createOrganization({ name: 'Acme', slug: 'acme' })(database);
    const { key } = await createApiKey({ organization: 'acme', name: 'first' })(database);
    await database.close();
    const get = async (at: string) =>
      (await ask(`${url}/api/v1/catalog/${at}`, { authorization: `Bearer ${key}` })).status;
    expect(await get('organization')).toBe(200);
    expect(await get(`organization?x=${key}`)).toBe(400);
    expect(await get(`templates/${key}`)).toBe(404);
    await eventually('the request is logged', async () => output().includes('/api/v1/catalog/templates/[credential]'));
    expect(output()).not.toContain(key);
  });

  test('serve all requests of clients that respect readiness while the first one stops', async () => {
    const [leaving, staying] = hubs;
    const balancer = aBalancer(hubs);
    const ledger = openLedger({ url: balancer.url, admin, categoryId: await createCategory(staying, admin) });
    const lanes = [
      ledger.writer('a'),
      ledger.writer('b'),
      () => ask(() => `${balancer.url()}/api/v1/catalog/templates`),
      () => ask(() => `${balancer.url()}/api/v1/catalog/categories`),
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
  });

  test(
    'lose no acknowledged write when the second one is killed, and send every change to clients that sync',
    async () => {
      let [, hub] = hubs;
      const url = () => hub.url;
      const ledger = openLedger({ url, admin, categoryId: await createCategory(hub, admin, 'Killed') });
      const sync = aMirror(url);
      const readyAgain: number[] = [];
      for (let round = 1; round <= KILLS; round++) {
        const load = startLoad(Array.from({ length: WRITERS }, (_, lane) => ledger.writer(`r${round}w${lane}`)));
        try {
          await moreAcknowledged(ledger, WRITES_BEFORE_KILL);
          await sync();
          // The other writers are at any point of a write.
          await moreAcknowledged(ledger, Math.ceil(Math.random() * WRITERS));
        } finally {
          hub.child.kill('SIGKILL');
          await hub.ended;
          await load.stop();
        }
        expect(statusesOf(load.seen)).toEqual([0, 200, 201]);
        hub = await aHub({ databaseUrl, issuer: issuer.issuer, port: hub.port });
        readyAgain.push(hub.readyAfterMs);
        await sync();
        expect(await ledger.lost()).toEqual([]);
      }
      const all = await ask(`${hub.url}/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z`);
      expect([...(await sync())].sort()).toEqual(all.body.templates.map(({ slug }: { slug: string }) => slug).sort());
      figure(`kill -9 of the hub, ${KILLS} times: ${ledger.acknowledged()} writes acknowledged, none lost`);
      figure(`ready again after (ms): ${readyAgain.join(' ')}`);
    },
    30_000 + KILLS * 10_000,
  );
});

test('lists all missing and invalid settings together', () => {
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

test('prints the usage for --help, without a configuration', async () => {
  const { ended, output } = startProcess(MAIN, ['--help'], {});
  expect(await ended).toBe(0);
  expect(output()).toMatch(/^Usage: node dist\/main\.js <command> \[options\]\n/);
});

test('prints one sentence and exits with 1 if the port is in use', async () => {
  const other = createServer();
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => {
      const address = other.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  const { ended, output } = startProcess(MAIN, [], {
    DATABASE_URL: 'postgresql://hub@127.0.0.1:1/hub',
    MIGRATE_ON_START: 'false',
    PORT: `${port}`,
    OIDC_ISSUER: 'http://127.0.0.1:1',
    OIDC_AUDIENCE: 'https://hub.example.test',
  });
  expect(await ended).toBe(1);
  expect(output()).toBe(`Port ${port} on 127.0.0.1 is in use. Set PORT to a free port.\n`);
  other.close();
});
