// Hub and fleet as two deployments: a catalog with many templates, a large import, and a hub that is unavailable.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { figure, fromFull, LONG_TEST_MS, type StartedProcess } from '@svc/testing';
import pg from 'pg';
import { aDeployment, type Deployment } from './deployment.ts';

const TEMPLATES = fromFull({ full: 5000, long: 100_000 });
const IMPORTED = fromFull({ full: 2500, long: 20_000 });
/** The maximum additional memory of a service during a sync. */
const MEMORY_MB = 300;

let deployment: Deployment;
let operator: string;
const services: Partial<Record<'hub' | 'fleet', StartedProcess>> = {};

beforeAll(async () => {
  deployment = await aDeployment();
  services.fleet = await deployment.start('fleet');
  operator = await deployment.operatorToken();
});
afterAll(() => deployment?.stop());

// Each test continues where the previous one ended.

test('a fleet starts without a hub, and reports that no hub is configured', async () => {
  const { fleet } = deployment;
  expect((await fleet('GET', 'sync', operator)).body).toMatchObject({
    status: 'not_configured',
    counts: { templates: 0 },
  });
  expect((await fleet('POST', 'sync', operator)).body).toMatchObject({ status: 409, code: 'hub_not_configured' });
  services.fleet?.child.kill('SIGTERM');
  expect(await services.fleet?.ended).toBe(0);
});

test(
  'the first sync transfers the whole catalog in pages, and the next sync transfers nothing',
  async () => {
    services.hub = await deployment.start('hub');
    await insertTemplates(deployment.databases.hub);
    services.fleet = await deployment.start('fleet', await deployment.forFleet());
    const started = performance.now();
    const needed = await memoryNeededFor(async () => {
      const { status, body } = await deployment.fleet('POST', 'sync', operator);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        status: 'fresh',
        last_sync: { full: true, updated: TEMPLATES, removed: 0 },
        counts: { templates: TEMPLATES, categories: 1 },
        organization: { slug: 'acme', tier: 'free', status: 'active' },
      });
    });
    const seconds = (performance.now() - started) / 1000;
    figure(`first sync ${JSON.stringify({ templates: TEMPLATES, seconds, megabytes: needed })}`);
    expect(needed.hub).toBeLessThan(MEMORY_MB);
    expect(needed.fleet).toBeLessThan(MEMORY_MB);
    const again = await deployment.fleet('POST', 'sync', operator);
    expect(again.body).toMatchObject({ last_sync: { full: false, updated: 0, removed: 0 } });
  },
  LONG_TEST_MS,
);

test(
  'a large import with one stamp is synced in pages',
  async () => {
    const folder = fs.mkdtempSync(path.join(tmpdir(), 'catalog-'));
    fs.mkdirSync(path.join(folder, 'templates'));
    fs.writeFileSync(path.join(folder, 'categories.yaml'), '- name: Imported\n  slug: imported\n');
    for (let n = 0; n < IMPORTED; n++) {
      const file = path.join(folder, 'templates', `imported-${n}.yaml`);
      fs.writeFileSync(file, `name: Imported ${n}\ncategory: imported\n`);
    }
    const started = performance.now();
    await deployment.command('hub', 'import', folder);
    const imported = performance.now();
    const needed = await memoryNeededFor(async () => {
      expect((await deployment.fleet('POST', 'sync', operator)).body).toMatchObject({
        last_sync: { full: false, updated: IMPORTED, removed: 0 },
        counts: { templates: TEMPLATES + IMPORTED, categories: 2 },
      });
    });
    const seconds = [(imported - started) / 1000, (performance.now() - imported) / 1000];
    figure(`import and sync ${JSON.stringify({ templates: IMPORTED, seconds, megabytes: needed })}`);
    fs.rmSync(folder, { recursive: true });
    expect(needed.hub).toBeLessThan(MEMORY_MB);
    expect(needed.fleet).toBeLessThan(MEMORY_MB);
  },
  LONG_TEST_MS,
);

test('while the hub is stopped, the fleet serves its mirror and reports its age, and afterwards syncs again', async () => {
  const { fleet, start, urls } = deployment;
  const synced = (await fleet('GET', 'sync', operator)).body;
  const mirrored = (await fleet('GET', 'templates', operator)).body.pagination.total;
  expect(mirrored).toBe(TEMPLATES + IMPORTED);

  services.hub?.child.kill('SIGTERM');
  expect(await services.hub?.ended).toBe(0);
  const refused = await fleet('POST', 'sync', operator);
  expect(refused).toMatchObject({ status: 502, body: { code: 'hub_unreachable' } });
  const stale = (await fleet('GET', 'sync', operator)).body;
  expect(stale).toMatchObject({
    status: 'stale',
    last_success_at: synced.last_success_at,
    checked_at: synced.checked_at,
  });
  expect(stale.age_seconds).toBeGreaterThanOrEqual(0);
  expect(stale.stale_since).toBe(stale.last_failure.at);
  expect(stale.last_failure.reason).toMatch(/hub does not respond/);
  expect((await fleet('GET', 'templates', operator)).body.pagination.total).toBe(mirrored);
  expect(await (await fetch(`${urls.fleet}/readyz`)).json()).toMatchObject({ status: 'degraded' });

  services.hub = await start('hub');
  expect((await fleet('POST', 'sync', operator)).body).toMatchObject({
    status: 'fresh',
    stale_since: null,
    last_failure: stale.last_failure,
  });
});

/** Inserts templates of about 3 kB, with one stamp per thousand. */
async function insertTemplates(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const write = async (sql: string, values: unknown[] = []) => {
    await client.query('BEGIN');
    await client.query(
      `UPDATE catalog_clock SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 millisecond')`,
    );
    await client.query(sql, values);
    await client.query('COMMIT');
  };
  await write(`INSERT INTO categories (id, name, slug, sort_name) VALUES (gen_random_uuid(), 'Many', 'many', 'many')`);
  for (let from = 0; from < TEMPLATES; from += 1000) {
    await write(
      `INSERT INTO templates (id, name, slug, category_id, image_name, documentation, tags, search_text, sort_name)
       SELECT gen_random_uuid(), 'Template ' || n, 'template-' || n, (SELECT id FROM categories), 'registry.example/' || n,
              repeat(md5(n::text) || ' ', 80), ARRAY['t' || n % 50], 'template ' || n, 'template ' || n
       FROM generate_series($1::int, $2::int) n`,
      [from + 1, Math.min(from + 1000, TEMPLATES)],
    );
  }
  await client.end();
}

/** The current or maximum memory of a process in kB. */
const memoryOf = (pid: number | undefined, which: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${which}:\\s+(\\d+) kB`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Runs `work`. @returns the maximum additional memory of each service in MB */
async function memoryNeededFor(work: () => Promise<unknown>): Promise<Record<'hub' | 'fleet', number>> {
  const pids = { hub: services.hub?.child.pid, fleet: services.fleet?.child.pid };
  const idle = { hub: memoryOf(pids.hub, 'VmRSS'), fleet: memoryOf(pids.fleet, 'VmRSS') };
  await work();
  const more = (app: 'hub' | 'fleet') => Math.round((memoryOf(pids[app], 'VmHWM') - idle[app]) / 1024);
  return { hub: more('hub'), fleet: more('fleet') };
}
