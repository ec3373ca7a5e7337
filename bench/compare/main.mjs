// Does the hub need more CPU per request than in an earlier version?
//
//   pnpm bench:compare <commit> [--templates <default 10000>] [--starts <default 7>]
//                      [--rounds <of each start, default 3>]
//                      [--seconds <per phase, an integer, default 1>]
//                      [--connections <default 32>]
//                      [--only <kinds of load, comma-separated>] [--record]
//   pnpm bench:compare --service-root <checkout that is built> ...
//   pnpm bench:compare --planted <percent> ...
//
// Method: both versions run on Node of this bench, with databases of the same catalog on one
// PostgreSQL server. Two processes of the same version differ by up to 30 %, so both hubs are
// started several times. Each time, the first round is a warm-up; in each round, a bare server and
// both hubs receive the same load in turn. The cost of a request is the CPU time of the hub, and
// with PostgreSQL the time of both. The median of the ratios of all starts counts, with the range
// in which it is in 19 of 20 cases. The goal is at most 1.1 times the cost before. A result is
// inconclusive if the range contains this value; more starts make the range smaller.
//
// `--planted` is a control: this version is compared with itself, but the second hub burns this
// share of the cost of a poll more for each poll. The bench fails if it does not report that.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createHub } from '../hub/processes.mjs';
import { measureRounds, medianOf, startBareFor } from '../hub/ratios.mjs';
import { requestsOf } from '../hub/requests.mjs';
import { sendEach } from '../shared/client.mjs';
import { startPostgres } from '../shared/database.mjs';
import { atLeast, atMost, createReport } from '../shared/report.mjs';
import { repository } from '../shared/services.mjs';
import { median, micro, rangeOfMedian } from '../shared/statistics.mjs';
import { buildCommit } from './checkout.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'service-root': { type: 'string' },
    planted: { type: 'string' },
    templates: { type: 'string', default: '10000' },
    starts: { type: 'string', default: '7' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});
/** The cost, relative to that before. */
const GOAL = 1.1;
const templates = Number(values.templates);
const starts = Number(values.starts);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const [commit] = positionals;
const { planted } = values;
if ([commit, values['service-root'], planted].filter((given) => given !== undefined).length !== 1) {
  throw new Error('State either a commit, --service-root or --planted.');
}
const onlyKinds = planted === undefined ? values.only?.split(',') : ['since'];

const root = commit === undefined ? path.resolve(values['service-root'] ?? repository) : await buildCommit(commit);
const { report, end } = createReport();
const postgres = await startPostgres();
const created = [];
const memory = { before: 0, after: 0 };

async function withBare(hub, work) {
  const bare = await startBareFor(hub, hub.paths);
  try {
    return await work(bare);
  } finally {
    await bare.stop();
  }
}

/** Measures a process of each version. @returns the results of the rounds, by the kind of load */
async function measureProcesses(before, after) {
  const hubs = [];
  try {
    for (const hub of [before, after]) hubs.push(await hub.start());
    for (const hub of hubs) Object.assign(hub, await requestsOf(hub));
    const kinds = onlyKinds ?? Object.keys(hubs[0].loads);
    for (const { url, loads } of kinds.some((kind) => kind.startsWith('mix')) ? hubs : []) {
      // Otherwise the faster hub would have more of the pages of the mix in memory.
      await sendEach({ url, requests: await loads.mix(), connections });
    }
    return await withBare(hubs[0], async (bare) => {
      const results = {};
      for (const kind of kinds) {
        results[kind] = await measureRounds({ kind, bare, hubs, connections, rounds, seconds });
      }
      memory.before = Math.max(memory.before, hubs[0].memory());
      memory.after = Math.max(memory.after, hubs[1].memory());
      return results;
    });
  } finally {
    await Promise.all(hubs.map((hub) => hub.stop()));
  }
}

/** @param processes the results of the rounds, for each pair of processes */
function reportKind(kind, processes) {
  const middle = (pick) => processes.map((results) => medianOf(results, pick));
  const costs = (index) => {
    const ratio = median(middle(({ bare, hubs }) => bare.cpu / hubs[index].cpu)).toFixed(2);
    const cpu = micro(median(middle(({ hubs }) => hubs[index].cpu)));
    const database = micro(median(middle(({ hubs }) => hubs[index].withDatabase - hubs[index].cpu)));
    return `${ratio} (${cpu}, PostgreSQL ${database})`;
  };
  report(`${kind}: ratio to the bare server: before ${costs(0)}, after ${costs(1)}`);
  const changes = {
    'CPU time of a request': ({ hubs }) => hubs[1].cpu / hubs[0].cpu,
    'with PostgreSQL': ({ hubs }) => hubs[1].withDatabase / hubs[0].withDatabase,
  };
  for (const [title, changeOf] of Object.entries(changes)) {
    const found = middle(changeOf);
    const { low, high } = rangeOfMedian(found);
    report(
      `${kind}: ${title}, relative to before: ${median(found).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`,
      planted === undefined ? atMost(high, GOAL, low <= GOAL && high > GOAL) : atLeast(low, GOAL),
    );
  }
}

/** The environment of a hub that burns the planted share of what a poll costs this hub more. */
async function plantedEnvironment(hub) {
  const { since } = await measureProcesses(hub, hub);
  const cost = medianOf(since, ({ hubs }) => hubs[0].cpu) * 1000;
  const microseconds = (cost * Number(planted)) / 100;
  report(`planted: ${microseconds.toFixed(1)} µs more for each poll, which costs ${cost.toFixed(1)} µs`);
  return {
    NODE_OPTIONS: `--import=${new URL('planted.mjs', import.meta.url)}`,
    PLANTED_MICROSECONDS: `${microseconds}`,
  };
}

try {
  // Earlier versions cannot set the rate limit.
  const limitsRate = fs.readFileSync(path.join(root, 'docs/configuration.md'), 'utf8').includes('REQUESTS_PER_MINUTE');
  const create = async (options) => created.push(await createHub({ templates, postgres, limitsRate, ...options }));
  await create({ root, database: 'before' });
  await create({ database: 'after', environment: planted === undefined ? {} : await plantedEnvironment(created[0]) });
  const processes = [];
  for (let count = 0; count < starts; count += 1) processes.push(await measureProcesses(...created));
  for (const kind of Object.keys(processes[0])) {
    reportKind(
      kind,
      processes.map((results) => results[kind]),
    );
  }
  report(`peak memory: before ${memory.before} MB, after ${memory.after} MB`);
} finally {
  await Promise.all(created.map((hub) => hub.stop()));
  await postgres.stop();
}
end(values.record ? { what: 'compare', variant: commit ?? (planted && `planted-${planted}`) } : undefined, {
  templates,
  starts,
  rounds,
  'seconds per phase': seconds,
  connections,
});
