// What do many hosts and deployments cost a fleet, and how soon does it act on a change?
//
//   pnpm bench:fleet [--hosts <default 100>] [--deployments <default 1000>]
//                    [--only <phases, comma-separated>] [--samples <default 120>]
//                    [--seconds <of idle and of reads, default 30>] [--burst <default 500>]
//                    [--profile] [--record]
//   pnpm bench:fleet --updates [--rounds <default 4>]
//   pnpm bench:fleet --applications [--rounds <default 4>] [--deployments <of a round, default 600>]
//
// Method: the fleet runs as in production, with its log in a file. The hosts are simulated in
// another process, which answers at once (fleet/engines.mjs), so that only the fleet and PostgreSQL
// are measured. A deployment is one container with a variable and a port; it counts as running
// three seconds after its start. Deployments are created through the API. The bench first creates
// all of them, whatever the selected phases are. With more than 100 hosts, the first phase also
// runs with 100 hosts and 1,000 deployments, and is compared with it. A phase fails if it does not
// reach its end within its time, in which case it reports how far it came, or if a connection of the
// load is opened again.
//
// --updates runs only the phase that compares updates with creations (fleet/updates.mjs), in --rounds
// rounds. It is not among the others, because it requires room on each host.
//
// --applications only compares starts of applications of three parts with those of as many deployments
// (fleet/applications.mjs).
//
// The full size is --hosts 1000 --deployments 10000 --burst 2000. With --profile, the functions
// that need most CPU time are printed after each phase; the profiler itself needs CPU time. With
// --record, the results are written to bench/results.
import { parseArgs } from 'node:util';
import { atMost, createReport } from '../shared/report.mjs';
import { compareApplications } from './applications.mjs';
import { hottest } from './hottest.mjs';
import { PHASES, updates } from './phases.mjs';
import { startWorld } from './world.mjs';

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '100' },
    deployments: { type: 'string' },
    only: { type: 'string', default: Object.keys(PHASES).join() },
    updates: { type: 'boolean', default: false },
    applications: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '4' },
    samples: { type: 'string', default: '120' },
    seconds: { type: 'string', default: '30' },
    burst: { type: 'string', default: '500' },
    profile: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});
const SMALL = { hosts: 100, deployments: 1000 };
const GOAL_MEMORY_MB = 500;
const HOTTEST = 12;

const hosts = Number(values.hosts);
const deployments = Number(values.deployments ?? (values.applications ? 600 : 1000));
const samples = Number(values.samples);
const seconds = Number(values.seconds);
const burst = Number(values.burst);
const rounds = Number(values.rounds);
const selected = values.updates || values.applications ? [] : values.only.split(',');
const unknown = selected.filter((name) => !(name in PHASES));
if (unknown.length > 0) throw new Error(`unknown phase ${unknown[0]}: use ${Object.keys(PHASES).join(', ')}`);

const { report, end } = createReport();
const isLarge = hosts > SMALL.hosts || deployments > SMALL.deployments;

async function withWorld(size, work) {
  // Room for all deployments of a phase, and no more: the fleet fills one host after the other.
  // Each update needs room for an extra instance.
  const more = values.updates ? 2 * size.deployments : 0;
  const cpus = Math.ceil((size.deployments + burst + 4 * samples + more) / size.hosts) + 2;
  const world = await startWorld({ hosts: size.hosts, cpus });
  const stop = () => world.stop().finally(() => process.exit(1));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
  try {
    return await work(world);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, stop);
    await world.stop();
  }
}

/**
 * Runs a phase. It fails if creations are rejected. Prints the hottest functions of the replica
 * that receives the requests.
 */
async function run(name, world, options) {
  report(`--- ${name}`);
  const phase = async () => {
    const found = await { ...PHASES, updates, applications: compareApplications }[name]({ world, report, ...options });
    const rejections = world.rejections.splice(0);
    if (rejections.length > 0)
      report(`${rejections.length} creations were rejected, the first with ${rejections[0]}`, 'fail');
    return found;
  };
  if (!values.profile) return phase();
  const { result, profile } = await world.replicas[0].profile(phase);
  for (const line of hottest(profile, HOTTEST)) report(line);
  return result;
}

function reportMemory(world) {
  const memory = world.noteMemory();
  report(`peak memory of a process of the fleet: ${memory} MB`, atMost(memory, GOAL_MEMORY_MB));
}

const small =
  isLarge && selected.includes('create')
    ? await withWorld(SMALL, (world) => run('create', world, { deployments: SMALL.deployments, isReference: true }))
    : undefined;

await withWorld({ hosts, deployments }, async (world) => {
  if (values.applications) {
    await run('applications', world, { rounds, count: deployments });
    return reportMemory(world);
  }
  const isReference = !selected.includes('create');
  const { ids, cost } = await run('create', world, { deployments, isReference, isSpread: values.updates });
  if (small) {
    const ratio = cost / small.cost;
    report(`CPU per deployment, relative to 100 hosts and 1,000 deployments: ${ratio.toFixed(2)}`, atMost(ratio, 1.3));
  }
  const options = { ids, hosts, samples, seconds, burst };
  for (const name of Object.keys(PHASES).filter((each) => each !== 'create' && selected.includes(each)))
    await run(name, world, options).catch(({ message }) => report(message, 'fail'));
  if (values.updates) {
    await run('updates', world, { ids, rounds, seconds }).catch(({ message }) => report(message, 'fail'));
  }
  reportMemory(world);
});
const variant = values.applications ? 'fleet-applications' : values.updates ? 'fleet-updates' : 'fleet';
const sizes = variant === 'fleet' ? { samples, burst } : { rounds };
end(values.record ? { what: variant } : undefined, {
  ...{ hosts, deployments, seconds },
  ...sizes,
});
