// How much CPU does the hub need per request, compared with a bare node:http server that sends the same bytes?
//
//   pnpm bench [--templates <number, default 10000>] [--rounds <default 5>] [--seconds <per phase, an integer, default 2>]
//              [--record]
//
// Method: the hub runs as in production, with its log in a file. In each round, the bare server and the hub receive the same load in
// turn, so that both see the same noise. The first round is a warm-up. A ratio is the CPU time of the bare server per request divided
// by that of the hub; the second ratio adds the CPU time of PostgreSQL to that of the hub. The medians count. A result is inconclusive
// if the bare server itself varies by more than 25 % between rounds.
//
// With --record, the results are written to bench/results, with the machine and the commit.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { load } from '../shared/load.mjs';
import { measure } from '../shared/measure.mjs';
import { atLeast, atMost, createReport, isNoisy, median, micro } from '../shared/report.mjs';
import { startWriting } from './data.mjs';
import { startBare, startHub } from './processes.mjs';
import { LIST, latest, requestsOf, responseOf } from './requests.mjs';
import { measureFirstSyncs, measureFleets } from './syncs.mjs';

const { values } = parseArgs({
  options: {
    templates: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
});
const [templates, rounds, seconds] = [values.templates, values.rounds, values.seconds].map(Number);
const CONNECTIONS = [32, 256];
const WRITES_PER_SECOND = 10;
const GOALS = { list: 0.65, slug: 0.6, since: 0.6, cursor: 0.6, mix: 0.3, 'mix with writes': 0.15 };
const GOAL_WITH_DATABASE = 0.5;
const GOAL_STATEMENTS = 15;
const FLEETS = 10_000;
const GOAL_BLOCK_MS = 10;
const GOAL_SYNC_MS = 500;
const GOAL_SYNC_RATIO = 10;
const GOAL_MEMORY_MB = 700;

const { report, end } = createReport();
const hub = await startHub(templates);
const { paths, loads } = await requestsOf(hub);

async function measureRatios(bare) {
  for (const [kind, requestsNow] of Object.entries(loads)) {
    const bareRequests = (await requestsNow()).map((request) => ({ path: `/${request.kind}` }));
    for (const connections of CONNECTIONS) {
      const results = [];
      for (let round = 0; round <= rounds; round += 1) {
        const floor = await measure(bare, bareRequests, { connections, seconds });
        const writing = kind === 'mix with writes' ? startWriting(hub.databaseUrl, WRITES_PER_SECOND) : undefined;
        const own = await measure(hub, await requestsNow(), { connections, seconds }).finally(() => writing?.stop());
        if (round > 0) results.push({ floor, own });
      }
      const middle = (of) => median(results.map(of));
      const ratio = middle(({ floor, own }) => floor.cpu / own.cpu);
      const withDatabase = middle(({ floor, own }) => floor.cpu / own.withDatabase);
      const noisy = isNoisy(results.map(({ floor }) => floor.cpu));
      const details =
        `bare ${micro(middle(({ floor }) => floor.cpu))}, hub ${micro(middle(({ own }) => own.cpu))}, ` +
        `PostgreSQL ${micro(middle(({ own }) => own.withDatabase - own.cpu))} per request, ` +
        `${middle(({ own }) => own.rate).toFixed(0)} requests/s, p99 ${middle(({ own }) => own.p99).toFixed(1)} ms`;
      const title = `${kind}, ${connections} connections`;
      report(`${title}: ratio ${ratio.toFixed(2)} (${details})`, atLeast(ratio, GOALS[kind], noisy));
      const isMix = kind.startsWith('mix');
      report(
        `${title}: ratio with PostgreSQL ${withDatabase.toFixed(2)}`,
        isMix ? '' : atLeast(withDatabase, GOAL_WITH_DATABASE, noisy),
      );
    }
  }
}

/** Polls that arrive one by one, for which each server wakes up. */
async function measureAlone(bare) {
  const shares = await measureFleets(hub, FLEETS);
  const floor = await measureFleets({ ...bare, path: '/since' }, FLEETS);
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  report(
    `${FLEETS} fleets that poll every minute: hub ${percent(shares.cpu)}, PostgreSQL ${percent(shares.database)} of a core; ` +
      `a bare server ${percent(floor.cpu)}`,
  );
}

async function measureStatements() {
  const client = new pg.Client({ connectionString: hub.databaseUrl });
  await client.connect();
  const transactions = async () => {
    await client.query('SELECT pg_stat_force_next_flush()');
    await new Promise((resolve) => setTimeout(resolve, 1500)); // the backends of the hub report their statistics within a second
    const { rows } = await client.query(
      `SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = 'hub'`,
    );
    return Number(rows[0].count);
  };
  const requests = [{ key: hub.keys[0], path: `${LIST}/updates?since=${(await latest(hub)).checked_at}` }];
  const before = await transactions();
  const { sent } = await load({ url: hub.url, requests, connections: 32, seconds });
  const statements = (100 * ((await transactions()) - before)) / sent;
  await client.end();
  report(
    `statements per 100 idle polls at 32 connections: ${statements.toFixed(1)}`,
    atMost(statements, GOAL_STATEMENTS),
  );
}

/** The resolution of the delays of the event loop in the metrics, which they include. */
const DELAY_RESOLUTION_MS = 10;

async function measureBlocks() {
  /** The longest delay of the event loop since the previous call, in milliseconds. */
  const longest = async () => {
    const metrics = await (await fetch(`${hub.url}/metrics`)).text();
    const [, value] = /^nodejs_eventloop_lag_max_seconds ([\d.e-]+)$/m.exec(metrics) ?? [];
    return 1000 * Number(value) - DELAY_RESOLUTION_MS;
  };
  const blocks = [];
  const writing = startWriting(hub.databaseUrl, WRITES_PER_SECOND);
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const requests = await loads['mix with writes']();
      await longest();
      await load({ url: hub.url, requests, connections: 4, seconds });
      if (round > 0) blocks.push(await longest());
    }
  } finally {
    await writing.stop();
  }
  const block = median(blocks);
  report(
    `longest block of the event loop in ${seconds} s of the mix with writes, 4 connections: ${block.toFixed(1)} ms`,
    atMost(block, GOAL_BLOCK_MS),
  );
}

async function measureHub() {
  const { firstMs, laterMs, ratio } = await measureFirstSyncs(hub);
  report(`first sync after the start: hub ${firstMs.toFixed(0)} ms of CPU`, atMost(firstMs, GOAL_SYNC_MS));
  report(`first sync of another fleet: hub ${laterMs.toFixed(0)} ms of CPU`, atMost(laterMs, GOAL_SYNC_MS));
  report(
    `p99 of polls during eight first syncs, relative to idle: ${ratio.toFixed(1)}`,
    atMost(ratio, GOAL_SYNC_RATIO),
  );
  const responses = {};
  for (const [kind, target] of Object.entries({ ...paths, filter: `${LIST}?limit=20&tags=t1` })) {
    responses[`/${kind}`] = await responseOf(hub, target);
  }
  const bare = await startBare(responses);
  try {
    await measureRatios(bare);
    await measureAlone(bare);
  } finally {
    await bare.stop();
  }
  await measureBlocks();
  await measureStatements();
  report(`peak memory with ${templates} templates: ${hub.memory()} MB`, atMost(hub.memory(), GOAL_MEMORY_MB));
}

try {
  await measureHub();
} finally {
  await hub.stop();
}
end(values.record ? { what: 'hub', variant: templates } : undefined, {
  templates,
  rounds,
  'seconds per phase': seconds,
});
