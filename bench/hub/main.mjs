// How much CPU does the hub need per request, compared with a bare node:http server that sends the
// same bytes?
//
//   pnpm bench [--templates <default 10000>] [--rounds <default 5>]
//              [--seconds <per phase, an integer, default 2>] [--only <parts, comma-separated>]
//              [--service-root <checkout>] [--record]
//
// Method: the hub runs as in production, with its log in a file. In each round, the bare server and
// the hub receive the same load in turn, so that both see the same noise. The first round is a
// warm-up. A ratio is the CPU time of the bare server per request divided by that of the hub; the
// second ratio adds the CPU time of PostgreSQL to that of the hub. If nginx is installed, it
// receives the same load, and the cost relative to nginx is reported. The medians count. A result is
// inconclusive if the bare server itself varies by more than 25 % between rounds. The bench fails
// if a request fails, if a response has another status than 2xx or 304, or if a connection is
// opened again.
//
// With --service-root, the hub of another checkout runs, which must be built. With --record, the
// results are written to bench/results, with the machine and the commit.
import { parseArgs } from 'node:util';
import { withClient } from '../shared/database.mjs';
import { load } from '../shared/load.mjs';
import { atLeast, atMost, createReport } from '../shared/report.mjs';
import { isNoisy, median, micro, percent } from '../shared/statistics.mjs';
import { longestBlock } from './blocks.mjs';
import { startWriting } from './data.mjs';
import { startHub } from './processes.mjs';
import { isBareNoisy, measureRounds, medianOf, startBareFor, startNginxFor, WRITES_PER_SECOND } from './ratios.mjs';
import { LIST, latest, requestsOf } from './requests.mjs';
import { measureFirstSyncs, measureFleets } from './syncs.mjs';

const PARTS = ['syncs', 'ratios', 'fleets', 'blocks', 'statements'];
const { values } = parseArgs({
  options: {
    templates: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: PARTS.join() },
    'service-root': { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});
const templates = Number(values.templates);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const selected = values.only.split(',');
const unknown = selected.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new Error(`unknown part ${unknown}: use ${PARTS.join(', ')}`);

const CONNECTIONS = [32, 256];
const GOALS = {
  32: { list: 0.45, slug: 0.4, since: 0.45, cursor: 0.45, mix: 0.3, 'mix with writes': 0.15 },
  256: { list: 0.6, slug: 0.5, since: 0.6, cursor: 0.6, mix: 0.3, 'mix with writes': 0.15 },
};
const GOAL_WITH_DATABASE = 0.4;
/** The cost of an idle poll, relative to nginx. */
const GOAL_NGINX = 4;
const GOAL_FLEETS = { share: 0.1, relative: 2 };
const GOAL_STATEMENTS = 15;
const FLEETS = 10_000;
const GOAL_BLOCK_MS = 10;
const GOAL_SYNC_MS = 500;
const GOAL_POLLS_BESIDE_SYNCS = { ms: 20, ratio: 10 };
const GOAL_MEMORY_MB = 700;

const { report, end } = createReport();
const hub = await startHub({ templates, root: values['service-root'] });

async function measureRatios({ bare, nginx }, loads) {
  for (const kind of Object.keys(loads)) {
    for (const connections of CONNECTIONS) {
      const hubs = [{ ...hub, loads }];
      const results = await measureRounds({ kind, bare, nginx, hubs, connections, rounds, seconds });
      const middle = (pick) => medianOf(results, ({ bare: floor, hubs: [own] }) => pick(own, floor));
      const ratio = middle((own, floor) => floor.cpu / own.cpu);
      const withDatabase = middle((own, floor) => floor.cpu / own.withDatabase);
      const noisy = isBareNoisy(results);
      const details =
        `bare ${micro(middle((_, floor) => floor.cpu))}, hub ${micro(middle((own) => own.cpu))}, ` +
        `PostgreSQL ${micro(middle((own) => own.withDatabase - own.cpu))} per request, ` +
        `${middle((own) => own.rate).toFixed(0)} requests/s, p99 ${middle((own) => own.p99).toFixed(1)} ms`;
      const title = `${kind}, ${connections} connections`;
      report(`${title}: ratio ${ratio.toFixed(2)} (${details})`, atLeast(ratio, GOALS[connections][kind], noisy));
      const isMix = kind.startsWith('mix');
      report(
        `${title}: ratio with PostgreSQL ${withDatabase.toFixed(2)}`,
        isMix ? '' : atLeast(withDatabase, GOAL_WITH_DATABASE, noisy),
      );
      if (nginx && !isMix) {
        const relative = medianOf(results, ({ nginx: { cpu }, hubs: [own] }) => own.cpu / cpu);
        const cpu = micro(medianOf(results, (result) => result.nginx.cpu));
        const isPoll = kind === 'since' || kind === 'cursor';
        report(
          `${title}: relative to nginx ${relative.toFixed(1)} (nginx ${cpu})`,
          isPoll ? atMost(relative, GOAL_NGINX, noisy) : '',
        );
      }
    }
  }
}

/** Polls that arrive one by one, each on a connection of its own, for which each server wakes up. */
async function measureAlone({ bare, nginx }) {
  const found = [];
  for (let round = 0; round <= rounds; round += 1) {
    const shares = {
      hub: await measureFleets(hub, FLEETS),
      bare: await measureFleets({ ...bare, path: '/since' }, FLEETS),
      nginx: nginx && (await measureFleets({ ...nginx, path: '/since' }, FLEETS)),
    };
    if (round > 0) found.push(shares);
  }
  const middle = (pick) => medianOf(found, pick);
  const sum = middle(({ hub: { cpu, database } }) => cpu + database);
  const relative = middle(({ hub: { cpu, database }, bare: floor }) => (cpu + database) / floor.cpu);
  const noisy = isNoisy(found.map(({ bare: { cpu } }) => cpu));
  report(
    `${FLEETS} fleets that poll every minute: hub ${percent(middle((one) => one.hub.cpu))}, ` +
      `PostgreSQL ${percent(middle((one) => one.hub.database))}, together ${percent(sum)} of a core`,
    atMost(sum, GOAL_FLEETS.share, noisy),
  );
  const ofNginx = nginx ? `, nginx ${percent(middle((one) => one.nginx.cpu))}` : '';
  report(
    `the same, relative to a bare server: ${relative.toFixed(1)} (bare ${percent(middle((one) => one.bare.cpu))}${ofNginx})`,
    atMost(relative, GOAL_FLEETS.relative, noisy),
  );
}

async function measureStatements() {
  await withClient(hub.databaseUrl, async (client) => {
    const transactions = async () => {
      await client.query('SELECT pg_stat_force_next_flush()');
      // The backends of the hub report their statistics within a second.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const { rows } = await client.query(
        `SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = 'hub'`,
      );
      return Number(rows[0].count);
    };
    const requests = [{ key: hub.keys[0], path: `${LIST}/updates?since=${(await latest(hub)).checked_at}` }];
    const before = await transactions();
    const { sent } = await load(hub, { requests, connections: 32, seconds });
    const statements = (100 * ((await transactions()) - before)) / sent;
    report(
      `statements per 100 idle polls at 32 connections: ${statements.toFixed(1)}`,
      atMost(statements, GOAL_STATEMENTS),
    );
  });
}

async function measureBlocks(loads) {
  const blocks = [];
  const writing = startWriting(hub.databaseUrl, WRITES_PER_SECOND);
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const requests = await loads['mix with writes']();
      await longestBlock(hub);
      await load(hub, { requests, connections: 4, seconds });
      if (round > 0) blocks.push(await longestBlock(hub));
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

async function measureSyncs() {
  const { firstMs, laterMs, idle, busy, block } = await measureFirstSyncs(hub);
  report(`first sync after the start: hub ${firstMs.toFixed(0)} ms of CPU`, atMost(firstMs, GOAL_SYNC_MS));
  report(`first sync of another fleet: hub ${laterMs.toFixed(0)} ms of CPU`, atMost(laterMs, GOAL_SYNC_MS));
  const { ms, ratio } = GOAL_POLLS_BESIDE_SYNCS;
  report(`p99 of polls during eight first syncs: ${busy.toFixed(1)} ms`, atMost(busy, ms));
  report(`the same, relative to an idle hub: ${(busy / idle).toFixed(1)} times`, atMost(busy / idle, ratio));
  report(`longest block of the event loop meanwhile: ${block.toFixed(1)} ms`, atMost(block, GOAL_BLOCK_MS));
}

async function measureHub() {
  if (selected.includes('syncs')) await measureSyncs();
  const { paths, loads } = await requestsOf(hub);
  const bare = await startBareFor(hub, paths);
  const nginx = await startNginxFor(hub, paths);
  try {
    if (selected.includes('ratios')) await measureRatios({ bare, nginx }, loads);
    if (selected.includes('fleets')) await measureAlone({ bare, nginx });
  } finally {
    await bare.stop();
    await nginx?.stop();
  }
  if (selected.includes('blocks')) await measureBlocks(loads);
  if (selected.includes('statements')) await measureStatements();
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
