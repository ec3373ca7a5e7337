// How much CPU does the hub need per request, compared with a bare node:http server that sends the same bytes?
//
//   pnpm bench [--templates <number, default 10000>] [--rounds <default 5>] [--seconds <per phase, an integer, default 2>]
//
// Method: the hub runs as in production, with its log in a file. In each round, the bare server and the hub receive the same load in
// turn, so that both see the same noise. The first round is a warm-up. A ratio is the CPU time of the bare server per request divided
// by that of the hub; the second ratio adds the CPU time of PostgreSQL to that of the hub. The medians count. A result is inconclusive
// if the bare server itself varies by more than 25 % between rounds.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { load, startBare, startHub } from './hub/processes.mjs';

const { values } = parseArgs({
  options: {
    templates: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
});
const [templates, rounds, seconds] = [values.templates, values.rounds, values.seconds].map(Number);
const LIST = '/api/v1/catalog/templates';
const CONNECTIONS = [32, 256];
const MIX_SIZE = 10_000;
const GOALS = { list: 0.65, slug: 0.6, since: 0.6, cursor: 0.6, mix: 0.3 };
const GOAL_WITH_DATABASE = 0.5;

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

const hub = await startHub(templates);
const [firstKey] = hub.keys;
const get = async (path, key = firstKey) => {
  const response = await fetch(hub.url + path, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
  return response.text();
};
const { checked_at, cursor } = JSON.parse(await get(`${LIST}/updates?since=2999-01-01T00:00:00Z`));

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
    const key = hub.keys[upTo(hub.keys.length)];
    const share = random();
    if (share < 0.6) return { kind: 'since', key, path: `${LIST}/updates?since=${checked_at}` };
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
const single = Object.fromEntries(Object.entries(paths).map(([kind, path]) => [kind, [{ kind, key: firstKey, path }]]));
const loads = { ...single, mix: mixOf() };
const bodies = { '/filter': await get(`${LIST}?limit=20&tags=t1`) };
for (const [kind, path] of Object.entries(paths)) bodies[`/${kind}`] = await get(path);
const bare = await startBare(bodies);

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
let failures = 0;
try {
  for (const [kind, requests] of Object.entries(loads)) {
    const bareRequests = requests.map((request) => ({ path: `/${request.kind}` }));
    for (const connections of CONNECTIONS) {
      const results = [];
      for (let round = 0; round <= rounds; round += 1) {
        const floor = await measure(bare, bareRequests, connections);
        const own = await measure(hub, requests, connections);
        if (round > 0) results.push({ floor, own });
      }
      const ratio = median(results.map(({ floor, own }) => floor.cpu / own.cpu));
      const withDatabase = median(results.map(({ floor, own }) => floor.cpu / own.withDatabase));
      const isNoisy = spread(results.map(({ floor }) => floor.cpu)) > 0.25;
      const verdicts = [verdictOf(ratio, GOALS[kind], isNoisy)];
      if (kind !== 'mix') verdicts.push(verdictOf(withDatabase, GOAL_WITH_DATABASE, isNoisy));
      failures += verdicts.filter((verdict) => verdict === 'fail').length;
      const micro = (milliseconds) => `${(1000 * milliseconds).toFixed(0)} µs`;
      console.log(
        `${kind}, ${connections} connections: ratio ${ratio.toFixed(2)} ${verdicts[0]}, with PostgreSQL ${withDatabase.toFixed(2)} ${verdicts[1] ?? ''}; ` +
          `bare ${micro(median(results.map(({ floor }) => floor.cpu)))}, hub ${micro(median(results.map(({ own }) => own.cpu)))}, ` +
          `PostgreSQL ${micro(median(results.map(({ own }) => own.withDatabase - own.cpu)))} per request, ` +
          `${median(results.map(({ own }) => own.rate)).toFixed(0)} requests/s, p99 ${median(results.map(({ own }) => own.p99)).toFixed(1)} ms`,
      );
    }
  }
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
  const before = await transactions();
  const { sent } = await load({ url: hub.url, requests: loads.since, connections: 32, seconds });
  const statements = (100 * ((await transactions()) - before)) / sent;
  await client.end();
  console.log(
    `statements per 100 idle polls at 32 connections: ${statements.toFixed(1)} ${verdictOf(15, statements, false)}`,
  );
  if (statements > 15) failures += 1;
  console.log(`peak memory with ${templates} templates: ${hub.memory()} MB`);
} finally {
  await bare.stop();
  await hub.stop();
}
console.log(failures === 0 ? 'passed' : `${failures} goals were not reached`);
process.exitCode = failures === 0 ? 0 : 1;
