// A first sync of a large catalog, and one large import. Depth long prints what was measured.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { byDepth, figure, type StartedProcess } from '@svc/testing';
import pg from 'pg';
import { aDeployment, type Deployment } from './deployment.ts';

/** More than a page of the sync holds, at every depth. */
const TEMPLATES = byDepth({ short: 1200, full: 5000, long: 100_000 });
const IMPORTED = byDepth({ short: 600, full: 2500, long: 20_000 });
/** Memory that a service may use during a sync, beyond what it uses when idle. */
const MEMORY_MB = 300;

let deployment: Deployment;
let operator: string;
const services: Partial<Record<'hub' | 'fleet', StartedProcess>> = {};

beforeAll(async () => {
  deployment = await aDeployment();
  await deployment.command('hub', 'migrate');
  await seed(deployment.hubDatabase);
  services.hub = await deployment.start('hub');
  services.fleet = await deployment.start('fleet', await deployment.forFleet());
  operator = await deployment.token('operator');
}, 600_000);
afterAll(() => deployment?.stop());

/** Templates of some three kilobytes, each thousand of them written under a stamp of its own. */
async function seed(connectionString: string): Promise<void> {
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

/** Kilobytes of memory that a process has, or had at most. */
const memoryOf = (pid: number | undefined, which: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${which}:\\s+(\\d+) kB`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Runs work, and tells how many megabytes each service needed at most beyond what it had before. */
async function needing(work: () => Promise<unknown>): Promise<Record<'hub' | 'fleet', number>> {
  const pids = { hub: services.hub?.child.pid, fleet: services.fleet?.child.pid };
  const idle = { hub: memoryOf(pids.hub, 'VmRSS'), fleet: memoryOf(pids.fleet, 'VmRSS') };
  await work();
  const more = (app: 'hub' | 'fleet') => Math.round((memoryOf(pids[app], 'VmHWM') - idle[app]) / 1024);
  return { hub: more('hub'), fleet: more('fleet') };
}

test('a first sync comes over page by page, and the next one moves nothing', async () => {
  const started = performance.now();
  const needed = await needing(async () => {
    const { status, body } = await deployment.fleet('POST', 'sync', operator);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        status: 'fresh',
        last_sync: { full: true, updated: TEMPLATES, removed: 0 },
        counts: { templates: TEMPLATES, categories: 1 },
      }),
    ]);
  });
  figure(
    `first sync ${JSON.stringify({ templates: TEMPLATES, seconds: (performance.now() - started) / 1000, megabytes: needed })}`,
  );
  expect(needed.hub).toBeLessThan(MEMORY_MB);
  expect(needed.fleet).toBeLessThan(MEMORY_MB);
  const again = await deployment.fleet('POST', 'sync', operator);
  expect(again.body).toMatchObject({ last_sync: { full: false, updated: 0, removed: 0 } });
}, 900_000);

test('one import is one stamp, and comes over page by page like everything else', async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'catalog-'));
  fs.mkdirSync(path.join(folder, 'templates'));
  fs.writeFileSync(path.join(folder, 'categories.yaml'), '- name: Imported\n  slug: imported\n');
  for (let n = 0; n < IMPORTED; n++) {
    fs.writeFileSync(path.join(folder, 'templates', `imported-${n}.yaml`), `name: Imported ${n}\ncategory: imported\n`);
  }
  const started = performance.now();
  await deployment.command('hub', 'import', folder);
  const imported = performance.now();
  const needed = await needing(async () => {
    expect((await deployment.fleet('POST', 'sync', operator)).body).toMatchObject({
      last_sync: { full: false, updated: IMPORTED, removed: 0 },
      counts: { templates: TEMPLATES + IMPORTED, categories: 2 },
    });
  });
  figure(
    `import ${JSON.stringify({
      templates: IMPORTED,
      seconds: [(imported - started) / 1000, (performance.now() - imported) / 1000],
      megabytes: needed,
    })}`,
  );
  fs.rmSync(folder, { recursive: true });
  expect(needed.hub).toBeLessThan(MEMORY_MB);
  expect(needed.fleet).toBeLessThan(MEMORY_MB);
}, 900_000);
