// Faults of real services: which alert fires, according to their real metrics. The table in docs/operate.md states it.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually, figure } from '@svc/testing';
import { prepareFaults, whileFull } from '@svc/testing/faults';
import { alerts, plantedFaults } from '../files.ts';
import { readExpression } from '../promql.ts';
import { describeWithPromtool, expectAlerts } from '../promtool.ts';
import { type Scrape, sampleOf, scrape, seriesOf, withShortestResponses } from './scrapes.ts';
import { type Planted, preparePlanted } from './world.ts';

interface Fault {
  /** As in docs/operate.md. */
  readonly name: string;
  /** Causes the fault, waits for `observed` and ends the fault. */
  plant(it: Planted, observed: () => Promise<void>): Promise<void>;
  /** What clients do, and what continues to fail, before each scrape during the fault. */
  continues?(it: Planted): Promise<unknown>;
  /** Whether a scrape shows the fault. */
  shows(scraped: Scrape): boolean;
  readonly skipped?: string | undefined;
}

const faults = prepareFaults();
const disk = faults.aDisk('256m');
const start = preparePlanted(disk, faults);
const metrics = new Set(alerts.flatMap(({ expr }) => readExpression(expr).selected.map(({ metric }) => metric)));
const onLinux = process.platform === 'linux' ? undefined : 'the processes of PostgreSQL are found in /proc';

/** State is read at most every two seconds, so that scrapes in a shorter time show the same. */
const PAUSE_MS = 2100;
const SCRAPES = 2;
const MINUTES = { before: 10, during: 60 };

const positive = (scraped: Scrape, metric: string, labels?: string) => (sampleOf(scraped, metric, labels) ?? 0) > 0;
const isFailing = (scraped: Scrape) =>
  ['degraded', 'failed', 'retrying'].some((phase) => positive(scraped, 'fleet_deployments', `phase="${phase}"`));

const all: readonly Fault[] = [
  {
    name: 'stale mirror: the hub refuses the API key',
    plant: async ({ onHub, good }, observed) => {
      await onHub('UPDATE api_keys SET revoked_at = now()');
      await observed();
      await onHub('UPDATE api_keys SET revoked_at = NULL');
      await good('POST', '/catalog/sync');
    },
    continues: ({ request }) => request('POST', '/catalog/sync'),
    shows: (scraped) => positive(scraped, 'catalog_sync_stale'),
  },
  {
    name: 'audit failure: PostgreSQL rejects audit entries',
    plant: async ({ onFleet }, observed) => {
      await onFleet(`CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$`);
      await onFleet('CREATE TRIGGER planted BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION planted()');
      await observed();
      await onFleet('DROP TRIGGER planted ON audit_entries');
    },
    continues: ({ request }) => request('GET', '/deployments'),
    shows: (scraped) => positive(scraped, 'audit_entries_total', 'outcome="failed"'),
  },
  {
    name: 'slow database: each response takes 150 ms',
    plant: async ({ link }, observed) => {
      link.delay(150);
      await observed();
      link.delay(0);
    },
    continues: ({ request }) => request('GET', '/deployments'),
    shows: (scraped) => (sampleOf(scraped, 'database_response_seconds', 'job="fleet"') ?? 0) > 0.1,
  },
  {
    name: 'full disk: the disk of PostgreSQL has no space',
    plant: ({ fleetPostgres }, observed) => whileFull(disk ?? '', fleetPostgres, observed),
    continues: async ({ request }) => {
      const env = [{ name: 'TEXT', value: randomBytes(20_000).toString('base64') }];
      for (let count = 1; count <= 10; count += 1) {
        await request('POST', '/workloads', { name: randomBytes(8).toString('hex'), image_name: 'team/app', env });
      }
    },
    shows: (scraped) => positive(scraped, 'database_failures_total', 'reason="disk_full"'),
    skipped: disk === undefined ? 'mounting a tmpfs is not permitted' : undefined,
  },
  {
    name: 'database down: PostgreSQL is killed',
    plant: async ({ fleetPostgres }, observed) => {
      await fleetPostgres.kill();
      await observed();
      await fleetPostgres.restart();
    },
    continues: ({ request }) => request('GET', '/deployments'),
    shows: (scraped) => sampleOf(scraped, 'database_response_seconds', 'job="fleet"') === undefined,
    skipped: onLinux,
  },
  {
    name: 'hub down: its only replica is killed',
    plant: async ({ kill, start, good }, observed) => {
      await kill('hub');
      await observed();
      await start('hub');
      await good('POST', '/catalog/sync');
    },
    continues: ({ request }) => request('POST', '/catalog/sync'), // the mirror becomes stale
    shows: (scraped) => sampleOf(scraped, 'up', 'job="hub"') === 0 && positive(scraped, 'catalog_sync_stale'),
  },
  {
    name: 'crash loop of a container: it ends whenever it is started',
    plant: async ({ good, deploymentId }, observed) => {
      await observed();
      await good('DELETE', `/deployments/${deploymentId}`);
    },
    continues: ({ engine }) => engine.crashContainers(),
    shows: isFailing,
  },
  {
    name: 'crash loop of a service: the fleet is killed after each start',
    plant: (_, observed) => observed(),
    continues: async ({ kill, start }) => {
      await kill('fleet');
      await start('fleet');
    },
    shows: (scraped) => positive(scraped, 'process_start_time_seconds', 'job="fleet"'),
  },
  {
    name: 'engine down: the engine of a host is killed',
    plant: async ({ engine }, observed) => {
      await engine.stop();
      await observed();
    },
    shows: (scraped) => positive(scraped, 'fleet_hosts', 'reachability="unreachable"'),
  },
];

describeWithPromtool('with promtool', () => {
  let it: Planted;
  beforeAll(async () => {
    it = await start();
    await eventually('the deployment runs', async () =>
      positive(await scrape(it.targets), 'fleet_deployments', 'phase="running"'),
    );
  });

  for (const { name, plant, continues, shows, skipped } of all) {
    const run = skipped === undefined ? test : test.skip;
    run(`${name}${skipped === undefined ? '' : ` (skipped: ${skipped})`}`, async () => {
      const expected = plantedFaults.get(name);
      if (!expected) throw new Error('docs/operate.md does not list this fault');
      const isHealthy = (scraped: Scrape) =>
        !positive(scraped, 'catalog_sync_stale') &&
        !isFailing(scraped) &&
        (sampleOf(scraped, 'database_response_seconds', 'job="fleet"') ?? 1) < 0.1;
      await eventually('the services are healthy', async () => isHealthy(await scrape(it.targets)));
      const scrapes = async (prepare: () => Promise<unknown> = async () => undefined) => {
        const seen: Scrape[] = [];
        for (let count = 1; count <= SCRAPES; count += 1) {
          await prepare();
          seen.push(await scrape(it.targets));
          await wait(PAUSE_MS);
        }
        return withShortestResponses(seen);
      };
      const before = await scrapes();
      let during: readonly Scrape[] = [];
      await plant(it, async () => {
        const began = performance.now();
        await eventually('a scrape shows the fault', async () => {
          await continues?.(it);
          return shows(await scrape(it.targets));
        });
        figure(`${name}: visible after ${((performance.now() - began) / 1000).toFixed(1)} s`);
        during = await scrapes(() => continues?.(it) ?? Promise.resolve());
      });
      const { alert, minutes } = expected;
      expectAlerts(seriesOf({ before, during, minutes: MINUTES, metrics }), [
        { minute: MINUTES.before - 0.5, fired: [] },
        { minute: MINUTES.before + minutes, firing: [alert] },
        { minute: MINUTES.before + MINUTES.during - 1, fired: [alert] },
      ]);
    });
  }
});

test('the documentation lists exactly these faults', () => {
  expect(new Set(plantedFaults.keys())).toEqual(new Set(all.map(({ name }) => name)));
});
