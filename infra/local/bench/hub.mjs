// How much CPU does the hub need per request, compared with a bare node:http server that sends the same bytes?
//
//   pnpm bench [--templates <number, default 10000>] [--rounds <default 5>] [--seconds <per phase, an integer, default 2>] [--record]
//
// Method: the hub runs as in production, with its log in a file. In each round, the bare server and the hub receive the same load in
// turn, so that both see the same noise. The first round is a warm-up. A ratio is the CPU time of the bare server per request divided
// by that of the hub; the second ratio adds the CPU time of PostgreSQL to that of the hub. The medians count. A result is inconclusive
// if the bare server itself varies by more than 25 % between rounds.
//
// With --record, the results are written to bench/results, with the machine and the commit.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startWriting } from './hub/data.mjs';
import { load, startBare, startHub } from './hub/processes.mjs';
import { measureFirstSyncs, measureFleets } from './hub/syncs.mjs';

const { values } = parseArgs({
  options: {
    templates: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
});
const [templates, rounds, seconds] = [values.templates, values.rounds, values.seconds].map(Number);
const LIST = '/api/v1/catalog/templates';
const CONNECTIONS = [32, 256];
const MIX_SIZE = 10_000;
const WRITES_PER_SECOND = 10;
const GOALS = { list: 0.65, slug: 0.6, since: 0.6, cursor: 0.6, mix: 0.3, 'mix with writes': 0.15 };
const GOAL_WITH_DATABASE = 0.5;
const GOAL_STATEMENTS = 15;
const FLEETS = 10_000;
const GOAL_BLOCK_MS = 10;
const GOAL_SYNC_MS = 500;
const GOAL_SYNC_RATIO = 10;

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
const spread = (numbers) => (Math.max(...numbers) - Math.min(...numbers)) / median(numbers);

/** Random numbers from 0 to 1 with a fixed seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const lines = [];
let failures = 0;
/** Prints a result. A verdict of `fail` counts. */
function report(text, verdict = '') {
  const line = verdict === '' ? text : `${text}: ${verdict}`;
  if (verdict === 'fail') failures += 1;
  lines.push(line);
  console.log(line);
}
const isWithin = (value, goal) => (value <= goal ? 'pass' : 'fail');

const hub = await startHub(templates);
const [firstKey] = hub.keys;
/** A response without the headers that each `node:http` server sends. */
async function responseOf(target) {
  const response = await fetch(hub.url + target, { headers: { authorization: `Bearer ${firstKey}` } });
  if (!response.ok) throw new Error(`GET ${target}: ${response.status}`);
  const own = ['connection', 'date', 'keep-alive'];
  return { head: [...response.headers].filter(([name]) => !own.includes(name)).flat(), body: await response.text() };
}
const latest = async () => JSON.parse((await responseOf(`${LIST}/updates?since=2999-01-01T00:00:00Z`)).body);
const { checked_at, cursor } = await latest();

/** The mix: 60 % sync, 25 % slugs (Zipf with exponent 1), 10 % pages and 5 % filters, with random keys. */
function mixOf() {
  const random = randomNumbers(1);
  const sums = [0];
  for (let rank = 1; rank <= templates; rank += 1) sums.push(sums[rank - 1] + 1 / rank);
  const zipf = () => {
    const target = random() * sums[templates];
    return sums.findIndex((sum) => sum >= target);
  };
  const upTo = (count) => Math.floor(random() * count);
  const filters = [() => `search=number%20${zipf()}`, () => `tags=t${upTo(50)}`, () => 'featured=true'];
  return Array.from({ length: MIX_SIZE }, () => {
    const poller = upTo(hub.keys.length);
    const key = hub.keys[poller];
    const share = random();
    if (share < 0.6) return { kind: 'since', key, poller };
    // Slugs that every key sees: not hidden, and in an open category.
    if (share < 0.85) return { kind: 'slug', key, path: `${LIST}/template-${40 * Math.floor(zipf() / 40) + 1}` };
    if (share < 0.95) return { kind: 'list', key, path: `${LIST}?limit=50&page=${1 + upTo(10)}` };
    return { kind: 'filter', key, path: `${LIST}?limit=20&${filters[upTo(filters.length)]()}` };
  });
}

const paths = {
  list: `${LIST}?limit=50`,
  slug: `${LIST}/template-1`,
  since: `${LIST}/updates?since=${checked_at}`,
  cursor: `${LIST}/updates?cursor=${cursor}`,
};
const mix = mixOf();
/** The mix whose polls continue from the current state. */
async function changingMix() {
  const since = (await latest()).checked_at;
  return mix.map((request) =>
    request.kind === 'since' ? { ...request, path: `${LIST}/updates?since=${since}` } : request,
  );
}
const idleMix = mix.map(({ poller: _, ...request }) => ({ path: paths.since, ...request }));
const loads = Object.fromEntries(
  Object.entries(paths).map(([kind, target]) => [kind, async () => [{ kind, key: firstKey, path: target }]]),
);
Object.assign(loads, { mix: async () => idleMix, 'mix with writes': changingMix });

async function measure(server, requests, connections) {
  const [before, databaseBefore] = [server.cpu(), server.databaseCpu?.() ?? 0];
  const { sent, failed, p99 } = await load({ url: server.url, requests, connections, seconds });
  if (failed > 0) throw new Error(`${failed} of ${sent} requests to ${server.url} failed`);
  const cpu = (server.cpu() - before) / sent;
  return {
    cpu,
    withDatabase: cpu + ((server.databaseCpu?.() ?? 0) - databaseBefore) / sent,
    p99,
    rate: sent / seconds,
  };
}

const verdictOf = (value, goal, isNoisy) => (isNoisy ? 'inconclusive' : value >= goal ? 'pass' : 'fail');
const micro = (milliseconds) => `${(1000 * milliseconds).toFixed(0)} µs`;

async function measureRatios(bare) {
  for (const [kind, requestsOf] of Object.entries(loads)) {
    const bareRequests = (await requestsOf()).map((request) => ({ path: `/${request.kind}` }));
    for (const connections of CONNECTIONS) {
      const results = [];
      for (let round = 0; round <= rounds; round += 1) {
        const floor = await measure(bare, bareRequests, connections);
        const writing = kind === 'mix with writes' ? startWriting(hub.databaseUrl, WRITES_PER_SECOND) : undefined;
        const own = await measure(hub, await requestsOf(), connections).finally(() => writing?.stop());
        if (round > 0) results.push({ floor, own });
      }
      const middle = (of) => median(results.map(of));
      const ratio = middle(({ floor, own }) => floor.cpu / own.cpu);
      const withDatabase = middle(({ floor, own }) => floor.cpu / own.withDatabase);
      const isNoisy = spread(results.map(({ floor }) => floor.cpu)) > 0.25;
      const details =
        `bare ${micro(middle(({ floor }) => floor.cpu))}, hub ${micro(middle(({ own }) => own.cpu))}, ` +
        `PostgreSQL ${micro(middle(({ own }) => own.withDatabase - own.cpu))} per request, ` +
        `${middle(({ own }) => own.rate).toFixed(0)} requests/s, p99 ${middle(({ own }) => own.p99).toFixed(1)} ms`;
      const title = `${kind}, ${connections} connections`;
      report(`${title}: ratio ${ratio.toFixed(2)} (${details})`, verdictOf(ratio, GOALS[kind], isNoisy));
      const isMix = kind.startsWith('mix');
      report(
        `${title}: ratio with PostgreSQL ${withDatabase.toFixed(2)}`,
        isMix ? '' : verdictOf(withDatabase, GOAL_WITH_DATABASE, isNoisy),
      );
    }
  }
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
  const requests = [{ key: firstKey, path: `${LIST}/updates?since=${(await latest()).checked_at}` }];
  const before = await transactions();
  const { sent } = await load({ url: hub.url, requests, connections: 32, seconds });
  const statements = (100 * ((await transactions()) - before)) / sent;
  await client.end();
  report(
    `statements per 100 idle polls at 32 connections: ${statements.toFixed(1)}`,
    isWithin(statements, GOAL_STATEMENTS),
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
      const requests = await changingMix();
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
    isWithin(block, GOAL_BLOCK_MS),
  );
}

/** Writes the results with the machine and the commit. @returns the path of the file */
function record() {
  const repository = path.resolve(import.meta.dirname, '../../..');
  const folder = path.join(repository, 'bench', 'results');
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim();
  const date = new Date().toISOString();
  const machine = `${os.availableParallelism()} × ${os.cpus()[0]?.model}, ${Math.round(os.totalmem() / 2 ** 30)} GB`;
  const facts = [`commit: ${commit}`, `date: ${date}`, `machine: ${machine}`, `Node: ${process.version}`];
  const settings = [`templates: ${templates}`, `rounds: ${rounds}`, `seconds per phase: ${seconds}`];
  const file = path.join(folder, `hub-${date.slice(0, 10)}-${commit}-${templates}.txt`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(file, `${[...facts, ...settings, '', ...lines].join('\n')}\n`);
  return file;
}

let bare;
try {
  const { firstMs, laterMs, ratio } = await measureFirstSyncs(hub);
  report(`first sync after the start: hub ${firstMs.toFixed(0)} ms of CPU`, isWithin(firstMs, GOAL_SYNC_MS));
  report(`first sync of another fleet: hub ${laterMs.toFixed(0)} ms of CPU`, isWithin(laterMs, GOAL_SYNC_MS));
  report(
    `p99 of polls during eight first syncs, relative to idle: ${ratio.toFixed(1)}`,
    isWithin(ratio, GOAL_SYNC_RATIO),
  );
  const shares = await measureFleets(hub, FLEETS);
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  report(
    `${FLEETS} fleets that poll every minute: hub ${percent(shares.hub)}, PostgreSQL ${percent(shares.database)} of a core`,
  );
  const responses = {};
  for (const [kind, target] of Object.entries({ ...paths, filter: `${LIST}?limit=20&tags=t1` })) {
    responses[`/${kind}`] = await responseOf(target);
  }
  bare = await startBare(responses);
  await measureRatios(bare);
  await measureBlocks();
  await measureStatements();
  report(`peak memory with ${templates} templates: ${hub.memory()} MB`, isWithin(hub.memory(), 700));
} finally {
  await bare?.stop();
  await hub.stop();
}
console.log(failures === 0 ? 'passed' : `${failures} goals were not reached`);
if (values.record) console.log(record());
process.exitCode = failures === 0 ? 0 : 1;
