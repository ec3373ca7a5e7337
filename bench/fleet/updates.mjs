// What does an update of a running deployment cost, relative to its creation, and what do policies of
// updates cost while nothing happens?
//
// Rounds of creations and of updates alternate. Each begins with another image of all workloads, so
// that both pull it. A creation ends when its first rollout has succeeded. An update has the default
// policy: an extra instance proves the new image, then the instance is replaced. What the fleet needs
// in the same time while nothing happens is subtracted from both.
import { setTimeout as delay } from 'node:timers/promises';
import { cpuDuring } from '../shared/measure.mjs';
import { atMost } from '../shared/report.mjs';
import { isNoisy, median, percent } from '../shared/statistics.mjs';
import { ms, partsOf, seconds } from './costs.mjs';

const GOALS = { ratio: 1.5, idleRatio: 1.1 };
const IDLE_ROUNDS = 3;
const CLIENTS = 16;
/** The time before each measurement, in which the fleet finishes what it began. */
const SETTLE_MS = 5000;
/** The time for rollouts: three times `ready_seconds`, and the time of the work. */
const timeFor = (count) => 60_000 + count * 500;

/** The policies of all deployments, and the statement that sets them. */
const POLICIES = {
  'as those of earlier versions': `updates = '{}', rollout = NULL`,
  'with policies': 'updates = k.updates, rollout = k.rollout',
  'with automatic updates': `updates = k.updates || '{"from": "template"}', rollout = k.rollout`,
};

/** Compares creations with updates, and the policies while nothing happens. */
export async function compareUpdates({ world, report, ids, rounds, seconds: duration }) {
  await world.untilRolledOut(ids, timeFor(0));
  const size = Math.floor(ids.length / rounds);
  const found = { creations: [], 'updates with an extra instance': [], 'updates without one': [] };
  for (let round = 0; round < rounds; round += 1) {
    const share = await idleShare(world, ids, duration);
    const chosen = ids.slice(round * size, (round + 1) * size);
    const created = [];
    const update = (order) => () => world.update(chosen, CLIENTS, order).then(() => chosen);
    const work = {
      creations: async () => created.push(...(await world.create(size, CLIENTS))) && created,
      'updates with an extra instance': update('auto'),
      'updates without one': update('stop_first'),
    };
    for (const [what, begin] of Object.entries(work)) {
      const { reached, elapsed, calls, ...costs } = await costOf(world, begin);
      const net = withoutIdle(costs, share, elapsed);
      const each = partsOf(net, (total) => ms(total / size));
      report(
        `round ${round + 1}, ${size} ${what} in ${seconds(elapsed)}: CPU of each: ${each}, ${ms(costs.withDatabase / size)} with what ` +
          `an idle fleet needs; ${(calls / size).toFixed(1)} engine calls`,
        reached ? '' : 'fail',
      );
      found[what].push(net.withDatabase / size);
      // They leave the room on the hosts to the extra instances of updates.
      await world.remove(created.splice(0), timeFor(size));
    }
  }
  const { creations, ...others } = found;
  for (const [what, costs] of Object.entries(others)) {
    const ratios = costs.map((cost, round) => cost / creations[round]);
    report(
      `CPU of ${what}, relative to creations: ${median(ratios).toFixed(2)} (median of ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
      atMost(median(ratios), GOALS.ratio),
    );
  }
  await idlePolicies({ world, report, duration });
}

/** Some work until the rollouts of the deployments that it returns have succeeded. */
async function costOf(world, begin) {
  await world.newImages();
  await delay(SETTLE_MS);
  const callsBefore = await world.engineCalls();
  const started = performance.now();
  const { result, ...costs } = await cpuDuring(world, async () => {
    const ids = await begin();
    return world.untilRolledOut(ids, timeFor(ids.length));
  });
  const elapsed = performance.now() - started;
  return { ...costs, reached: result.reached, elapsed, calls: (await world.engineCalls()) - callsBefore };
}

/** The share of a core that an idle fleet needs while the bench waits as for rollouts. */
async function idleShare(world, ids, duration) {
  await delay(SETTLE_MS);
  const started = performance.now();
  const never = -1;
  const { cpu, withDatabase } = await cpuDuring(world, () =>
    world.until(() => world.rolledOut(ids), never, 1000 * duration),
  );
  const elapsed = performance.now() - started;
  return { cpu: cpu / elapsed, withDatabase: withDatabase / elapsed };
}

const withoutIdle = ({ cpu, withDatabase }, share, elapsed) => ({
  cpu: cpu - share.cpu * elapsed,
  withDatabase: withDatabase - share.withDatabase * elapsed,
});

/** What the fleet needs while nothing happens, with each policy in turn. */
async function idlePolicies({ world, report, duration }) {
  await world.query('CREATE TEMPORARY TABLE kept AS SELECT id, updates, rollout FROM deployments');
  const found = Object.fromEntries(Object.keys(POLICIES).map((name) => [name, []]));
  for (let round = 0; round < IDLE_ROUNDS; round += 1) {
    for (const [name, columns] of Object.entries(POLICIES)) {
      await world.query(`UPDATE deployments d SET ${columns} FROM kept k WHERE k.id = d.id`);
      await delay(2 * SETTLE_MS);
      const { withDatabase } = await cpuDuring(world, () => delay(1000 * duration));
      found[name].push(withDatabase / (1000 * duration));
    }
  }
  const [[, reference]] = Object.entries(found);
  for (const [name, shares] of Object.entries(found)) {
    const ratio = median(shares) / median(reference);
    const text = `idle, deployments ${name}: ${shares.map((share) => percent(share)).join(', ')} of a core`;
    if (shares === reference) report(text);
    else
      report(
        `${text}, ratio ${ratio.toFixed(2)}`,
        atMost(ratio, GOALS.idleRatio, isNoisy(reference) || isNoisy(shares)),
      );
  }
}
