// How fast do applications of three parts start, relative to as many deployments?
//
// Rounds of deployments and of applications alternate, in the opposite order in every second round, so that both see the same
// noise. A round of applications has a third as many applications as a round has deployments, so that both have as many containers.
// An application consists of a database and of two parts that need it to be ready, with its address and a generated value. It has
// started when all its parts run. Everything is deleted after its measurement.
import { setTimeout as delay } from 'node:timers/promises';
import { cpuDuring } from '../shared/measure.mjs';
import { atLeast } from '../shared/report.mjs';
import { isNoisy, median } from '../shared/statistics.mjs';
import { ms, partsOf, seconds } from './costs.mjs';

const PARTS = 3;
/** The rate of parts, relative to that of deployments. */
const GOAL = 0.5;
const CLIENTS = 16;
/** The time before each measurement, in which the fleet finishes what it began. */
const SETTLE_MS = 5000;
const timeFor = (count) => 60_000 + count * 500;

const part = (name, rest = {}) => ({
  ...{ name, image_name: `team/${name}`, image_tag: '1', cpu_request: '1', memory_request: '1Gi' },
  ...{ ports: [{ containerPort: 8080 }], env: [{ name: 'PASSWORD', value: `\${generated.password}` }] },
  ...rest,
});
const needsDatabase = {
  needs: [{ part: 'database', until: 'ready' }],
  env: [{ name: 'DATABASE_URL', value: `db://app:\${generated.password|url}@\${parts.database.address.8080}/app` }],
};
const SPEC = {
  generated: [{ name: 'password' }],
  parts: [part('database'), part('web', needsDatabase), part('worker', needsDatabase)],
};

/** Compares applications with deployments. `count` is the number of containers of each. */
export async function compareApplications({ world, report, rounds, count }) {
  const applications = Math.floor(count / PARTS);
  const work = {
    deployments: async () => {
      const ids = await world.create(PARTS * applications, CLIENTS);
      return { ids, remove: () => world.remove(ids, timeFor(ids.length)) };
    },
    applications: async () => {
      const created = await world.createApplications(applications, CLIENTS, SPEC);
      const ids = await world.partsOf(created);
      return { ids, remove: () => world.removeApplications(created, timeFor(ids.length)) };
    },
  };
  const rates = { deployments: [], applications: [] };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? Object.keys(work) : Object.keys(work).reverse();
    for (const what of order)
      rates[what].push(await measure({ world, report, what: `round ${round + 1}, ${what}` }, work[what]));
  }
  const ratios = rates.applications.map((rate, round) => rate / rates.deployments[round]);
  report(
    `containers of ${applications} applications of ${PARTS} parts per second, relative to those of ${PARTS * applications} deployments: ` +
      `${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
    atLeast(median(ratios), GOAL, median(ratios) < GOAL && isNoisy(rates.deployments)),
  );
}

/** Some work until what it creates runs. @returns the number of containers per second */
async function measure({ world, report, what }, begin) {
  await delay(SETTLE_MS);
  const started = performance.now();
  const { result, ...costs } = await cpuDuring(world, async () => {
    const created = await begin();
    return { ...created, running: await world.untilRunning(created.ids, timeFor(created.ids.length)) };
  });
  const { ids, remove, running } = result;
  const elapsed = performance.now() - started;
  const rate = (running.count * 1000) / elapsed;
  report(
    `${what}: ${running.count} of ${ids.length} containers run after ${seconds(elapsed)}, ${rate.toFixed(1)} per second; ` +
      `CPU of each: ${partsOf(costs, (total) => ms(total / ids.length))}`,
    running.reached ? '' : 'fail',
  );
  const { reached, count } = await remove();
  if (!reached) report(`${what}: ${count} were not deleted`, 'fail');
  return rate;
}
