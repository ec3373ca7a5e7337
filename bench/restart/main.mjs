// Does a hub that was restarted answer all fleets at once?
//
//   pnpm bench:restart [--templates <default 10000>] [--fleets <default 10000>] [--rounds <default 3>]
//                      [--connections <default 2000>] [--service-root <checkout>] [--record]
//
// Method: in each round, two processes of the hub start on the same database, one after the other.
// The first one serves a complete sync of one fleet, which sees three quarters of the templates.
// From the second one, all fleets poll within five seconds after it is ready, from one address, each
// with a key and a connection of its own; at most the given number of connections are open at the
// same time. Log and rate limit are those of production. The longest block of the event loop is
// that of the metrics of the hub. The worst round counts for polls and blocks, and the median for
// CPU times.
import { parseArgs } from 'node:util';
import { longestBlock } from '../hub/blocks.mjs';
import { startFleets } from '../hub/fleets.mjs';
import { createHub } from '../hub/processes.mjs';
import { LIST, latest } from '../hub/requests.mjs';
import { cpuOfSync } from '../hub/syncs.mjs';
import { startPostgres } from '../shared/database.mjs';
import { cpuDuring } from '../shared/measure.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { median, micro } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: {
    templates: { type: 'string', default: '10000' },
    fleets: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '2000' },
    'service-root': { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});
const templates = Number(values.templates);
const fleetCount = Number(values.fleets);
const rounds = Number(values.rounds);
const connections = Number(values.connections);
const SECONDS = 5;
const GOALS = { answeredMs: 10_000, blockMs: 50, syncMs: 500 };

const { report, end } = createReport();
const postgres = await startPostgres();
const fleets = startFleets();
let created;

/** Runs some work with a process of the hub that was just started. */
async function withStarted(work) {
  const hub = await created.start();
  try {
    return await work(hub);
  } finally {
    await hub.stop();
  }
}

async function measurePolls(hub, path) {
  const untilReady = await longestBlock(hub);
  const task = { task: 'polls', url: hub.url, keys: hub.keys, path, seconds: SECONDS, connections };
  const { result, cpu, withDatabase } = await cpuDuring(hub, () => fleets.run(task));
  return { ...result, cpu, withDatabase, untilReady, block: await longestBlock(hub) };
}

async function measureRound() {
  const { sync, path } = await withStarted(async (hub) => ({
    sync: await cpuOfSync(hub, hub.keys[0]),
    path: `${LIST}/updates?since=${(await latest(hub)).checked_at}`,
  }));
  return { sync, ...(await withStarted((hub) => measurePolls(hub, path))) };
}

try {
  created = await createHub({
    templates,
    keys: fleetCount,
    root: values['service-root'],
    postgres,
    environment: { REQUESTS_PER_MINUTE: '6000' }, // the default
  });
  const found = [];
  for (let round = 0; round < rounds; round += 1) found.push(await measureRound());
  const worst = (pick) => Math.max(...found.map(pick));
  const middle = (pick) => median(found.map(pick));
  const outcomes = {};
  for (const round of found) {
    for (const [outcome, count] of Object.entries(round.outcomes)) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  }
  const { 200: _, ...others } = outcomes;
  const refused = Object.values(others).reduce((sum, count) => sum + count, 0);
  const listed = Object.entries(outcomes).map(([outcome, count]) => `${count} × ${outcome}`);
  report(`polls in ${SECONDS} s after the start (${listed.join(', ')}): ${refused} not answered`, atMost(refused, 0));
  report(
    `the last of ${fleetCount} polls was sent after ${(worst(({ lastSent }) => lastSent) / 1000).toFixed(1)} s ` +
      `and answered after ${(worst(({ lastAnswered }) => lastAnswered) / 1000).toFixed(1)} s`,
    atMost(
      worst(({ lastAnswered }) => lastAnswered),
      GOALS.answeredMs,
    ),
  );
  const each = (pick) => micro(middle(pick) / fleetCount);
  report(`a first poll: hub ${each(({ cpu }) => cpu)}, with PostgreSQL ${each((one) => one.withDatabase)} of CPU`);
  for (const [when, block] of [
    ['until the hub was ready', worst(({ untilReady }) => untilReady)],
    ['during the polls', worst((round) => round.block)],
  ]) {
    report(`longest block of the event loop ${when}: ${block.toFixed(1)} ms`, atMost(block, GOALS.blockMs));
  }
  const sync = middle((round) => round.sync);
  report(`first sync after a start: hub ${sync.toFixed(0)} ms of CPU`, atMost(sync, GOALS.syncMs));
} finally {
  await fleets.end();
  await created?.stop();
  await postgres.stop();
}
end(values.record ? { what: 'restart', variant: templates } : undefined, {
  templates,
  fleets: fleetCount,
  rounds,
  connections,
});
