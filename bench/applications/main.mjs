// Do applications in the catalog make the idle syncs of fleets more expensive for the hub?
//
//   pnpm bench:applications [--templates <default 10000>] [--applications <default 200>] [--rounds <default 9>]
//                           [--seconds <per phase, an integer, default 2>] [--record]
//
// Method: two hubs of this version have the same templates, and one of them has applications as well. Fleets request applications only
// after a change of the catalog, so the poll of the templates is the whole idle sync. In each round, both hubs receive the same polls in
// turn, in the opposite order in every second round. The first round is a warm-up. The goal is at most 1.1 times the CPU time without
// applications, PostgreSQL included, for the median of the rounds. A result is inconclusive if the range of the median in 19 of 20 cases
// contains the goal.
import { parseArgs } from 'node:util';
import { createHub } from '../hub/processes.mjs';
import { measureRounds, medianOf, startBareFor } from '../hub/ratios.mjs';
import { requestsOf } from '../hub/requests.mjs';
import { startPostgres } from '../shared/database.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { median, micro, rangeOfMedian } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: {
    templates: { type: 'string', default: '10000' },
    applications: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
});
const GOAL = 1.1;
const CONNECTIONS = 32;
const templates = Number(values.templates);
const applications = Number(values.applications);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

const { report, end } = createReport();
const postgres = await startPostgres();
const created = [];
const hubs = [];

async function compare(bare) {
  for (const kind of ['since', 'cursor']) {
    const results = await measureRounds({ kind, bare, hubs, connections: CONNECTIONS, rounds, seconds });
    const cost = (index) => micro(medianOf(results, (result) => result.hubs[index].withDatabase));
    const ratios = results.map((result) => result.hubs[1].withDatabase / result.hubs[0].withDatabase);
    const { low, high } = rangeOfMedian(ratios);
    const ratio = median(ratios);
    report(
      `${kind}: CPU time of an idle poll with ${applications} applications relative to none: ${ratio.toFixed(2)} ` +
        `(${low.toFixed(2)} to ${high.toFixed(2)}; ${cost(0)} without, ${cost(1)} with)`,
      atMost(ratio, GOAL, low <= GOAL && high > GOAL),
    );
  }
}

try {
  created.push(await createHub({ templates, postgres, database: 'without' }));
  created.push(await createHub({ templates, applications, postgres, database: 'with' }));
  for (const hub of created) hubs.push(await hub.start());
  for (const hub of hubs) Object.assign(hub, await requestsOf(hub));
  const bare = await startBareFor(hubs[0], hubs[0].paths);
  await compare(bare).finally(() => bare.stop());
} finally {
  await Promise.all([...hubs, ...created].map((each) => each.stop()));
  await postgres.stop();
}
end(values.record ? { what: 'applications', variant: templates } : undefined, {
  templates,
  applications,
  rounds,
  'seconds per phase': seconds,
});
