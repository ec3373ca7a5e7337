// Does the hub need more CPU per request than in an earlier version?
//
//   pnpm bench:compare <commit> [--templates <default 10000>] [--rounds <default 5>]
//                      [--seconds <per phase, an integer, default 2>]
//                      [--connections <default 32>]
//                      [--only <kinds of load, comma-separated>] [--record]
//   pnpm bench:compare --service-root <checkout that is built> ...
//
// Method: both versions run on Node of this bench, with databases of the same catalog on one
// PostgreSQL server. In each round, a bare server and both hubs receive the same load in turn. The
// cost of a request is the CPU time of the hub, and with PostgreSQL the time of both. The medians
// of the ratios of each round count. A result is inconclusive if the bare server varies by more
// than 25 % between rounds.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startHub } from '../hub/processes.mjs';
import { isBareNoisy, measureRounds, medianOf, startBareFor } from '../hub/ratios.mjs';
import { requestsOf } from '../hub/requests.mjs';
import { startPostgres } from '../shared/database.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { micro } from '../shared/statistics.mjs';
import { buildCommit } from './checkout.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'service-root': { type: 'string' },
    templates: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});
/** A hub that needs at most this much more than the earlier one needs as much, within noise. */
const GOAL = 1.1;
const templates = Number(values.templates);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const [commit] = positionals;
if ((commit === undefined) === (values['service-root'] === undefined)) {
  throw new Error('State either a commit or --service-root.');
}

const root = commit === undefined ? path.resolve(values['service-root']) : await buildCommit(commit);
const { report, end } = createReport();
const postgres = await startPostgres();
const running = [];
const start = async (given) => {
  const hub = await startHub({ templates, postgres, ...given });
  running.push(hub);
  const { paths, loads } = await requestsOf(hub);
  return { ...hub, paths, loads };
};

function reportKind(kind, results) {
  const [before, after] = [0, 1].map((index) => ({
    ratio: medianOf(results, ({ bare, hubs }) => bare.cpu / hubs[index].cpu),
    cpu: medianOf(results, ({ hubs }) => hubs[index].cpu),
    database: medianOf(results, ({ hubs }) => hubs[index].withDatabase - hubs[index].cpu),
  }));
  const costs = ({ ratio, cpu, database }) => `${ratio.toFixed(2)} (${micro(cpu)}, PostgreSQL ${micro(database)})`;
  const change = medianOf(results, ({ hubs }) => hubs[1].cpu / hubs[0].cpu);
  const withDatabase = medianOf(results, ({ hubs }) => hubs[1].withDatabase / hubs[0].withDatabase);
  report(`${kind}: ratio to the bare server: before ${costs(before)}, after ${costs(after)}`);
  report(
    `${kind}: CPU time of a request, relative to before: ${change.toFixed(2)}, with PostgreSQL ${withDatabase.toFixed(2)}`,
    atMost(Math.max(change, withDatabase), GOAL, isBareNoisy(results)),
  );
}

try {
  const before = await start({ root, database: 'before' });
  const after = await start({ database: 'after' });
  const bare = await startBareFor(after, after.paths);
  try {
    for (const kind of values.only?.split(',') ?? Object.keys(after.loads)) {
      reportKind(kind, await measureRounds({ kind, bare, hubs: [before, after], connections, rounds, seconds }));
    }
  } finally {
    await bare.stop();
  }
  report(`peak memory: before ${before.memory()} MB, after ${after.memory()} MB`);
} finally {
  await Promise.all(running.map((hub) => hub.stop()));
  await postgres.stop();
}
end(values.record ? { what: 'compare', variant: commit } : undefined, {
  templates,
  rounds,
  'seconds per phase': seconds,
  connections,
});
