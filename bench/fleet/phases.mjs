// The phases of the bench of the fleet. Each receives the world, `report`, the ids of all
// deployments, and its sizes.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuDuring } from '../shared/measure.mjs';
import { atLeast, atMost } from '../shared/report.mjs';
import { isNoisy, median, p99, percent } from '../shared/statistics.mjs';
import { ms, partsOf, seconds } from './costs.mjs';
import { countInstances } from './instances.mjs';
import { compareUpdates } from './updates.mjs';
import { onEach } from './world.mjs';

const GOALS = {
  perSecond: 50,
  cpuMs: 25,
  firstCallMs: 200,
  idleShare: 0.2,
  slowerReads: 5,
  slowerDeployments: 2,
  returnMs: 60_000,
  takeOverMs: 30_000,
};
const CLIENTS = 16;
const BURST_CLIENTS = 64;
/**
 * The time that a deployment may take, beside the three seconds after which it counts as running.
 */
const EACH_MS = 200;
const AT_LEAST_MS = 30_000;
const READS_PER_SECOND = 20;
const READ_ROUNDS = 5;
/** Deployments per second beside which a phase measures something else. */
const LOAD_PER_SECOND = 50;
/** Deployments per second whose times are measured. */
const SAMPLES_PER_SECOND = 5;
/** Of the hosts, which one in this many hangs. */
const ONE_IN = 10;
/** The lease of a worker on a deployment. */
const LEASE_MS = 15_000;
/** The time before a phase that requires an idle fleet, in which it finishes what it began. */
const SETTLE_MS = 5000;

const timeFor = (count) => AT_LEAST_MS + count * EACH_MS;

/**
 * Creates all deployments, as fast as the fleet answers.
 * @param isSpread whether they are created on all hosts in turn, with room for more on each of them
 * @returns their ids, and the CPU time of each in milliseconds
 */
async function create({ world, report, deployments, isReference, isSpread = false }) {
  const callsBefore = await world.engineCalls();
  const started = performance.now();
  const { result, ...costs } = await cpuDuring(world, async () => {
    const ids = await world.create(deployments, CLIENTS, isSpread ? world.targets : undefined);
    const accepted = performance.now() - started;
    return { ids, accepted, running: await world.untilRunning(ids, timeFor(deployments)) };
  });
  const { ids, accepted, running } = result;
  const elapsed = performance.now() - started;
  const rate = (running.count * 1000) / elapsed;
  const cost = costs.withDatabase / deployments;
  const title = `${deployments} deployments: ${running.count} run after ${seconds(elapsed)}, accepted in ${seconds(accepted)}`;
  report(
    `${title}, ${rate.toFixed(1)} per second`,
    isReference ? '' : reachedAll(running, atLeast(rate, GOALS.perSecond)),
  );
  report(
    `CPU per deployment: ${partsOf(costs, (total) => ms(total / deployments))}`,
    isReference ? '' : atMost(cost, GOALS.cpuMs),
  );
  report(`engine calls per deployment: ${(((await world.engineCalls()) - callsBefore) / deployments).toFixed(1)}`);
  return { ids, cost };
}

/** A phase that did not reach its end fails. */
const reachedAll = ({ reached }, verdict) => (reached ? verdict : 'fail');

/** Creates deployments one at a time while the fleet is idle. */
async function firstCall({ world, report, samples }) {
  await delay(SETTLE_MS);
  const answered = new Map();
  for (let index = 0; index < samples; index += 1) {
    const { deployment } = await world.ask('POST', '/deployments', world.newDeployment());
    answered.set(deployment.id, performance.timeOrigin + performance.now());
    await delay(100 + 200 * Math.random());
  }
  const ids = [...answered.keys()];
  const running = await world.untilRunning(ids, timeFor(samples));
  const calls = await world.engines.ask('GET', '/first-calls');
  const times = ids.map((id) => Math.max(0, (calls[id] ?? Number.POSITIVE_INFINITY) - answered.get(id)));
  report(
    `${samples} creations answered to their first engine call: median ${ms(median(times))}, p99 ${ms(p99(times))}`,
    reachedAll(running, atMost(p99(times), GOALS.firstCallMs)),
  );
  await remove(world, report, ids);
}

async function remove(world, report, ids) {
  const started = performance.now();
  const { result, ...costs } = await cpuDuring(world, () => world.remove(ids, timeFor(ids.length)));
  const each = partsOf(costs, (total) => ms(total / ids.length));
  report(
    `deletion of ${ids.length} deployments: ${result.count} left after ${seconds(performance.now() - started)}; CPU of each: ${each}`,
    result.reached ? '' : 'fail',
  );
}

/** Nothing is requested, and all deployments run. */
async function idle({ world, report, ids, seconds: duration }) {
  await delay(SETTLE_MS);
  const before = await world.engineCalls();
  const costs = await cpuDuring(world, () => delay(1000 * duration));
  const calls = (await world.engineCalls()) - before;
  const share = costs.withDatabase / (1000 * duration);
  report(
    `idle with ${ids.length} deployments for ${duration} s: ${partsOf(costs, (total) => percent(total / 1000 / duration))} of a core, ` +
      `${(calls / duration).toFixed(0)} engine calls per second`,
    atMost(share, GOALS.idleShare),
  );
}

/**
 * Reads at a fixed rate from a process of its own.
 * @returns the p99 of each round in milliseconds, and the number of failed requests and
 * reconnects
 */
async function readAtRate(client, { world, path, key, milliseconds }) {
  const found = { rounds: [], failed: 0 };
  for (let round = 0; round < READ_ROUNDS; round += 1) {
    client.send({
      url: world.url,
      connections: 4,
      requests: [{ path, key }],
      perSecond: READS_PER_SECOND,
      milliseconds: milliseconds / READ_ROUNDS,
    });
    const [{ results, reconnects }] = await once(client, 'message');
    found.failed += reconnects + results.filter(([, status]) => status !== 200).length;
    found.rounds.push(p99(results.map(([latency]) => latency)));
  }
  return found;
}

/**
 * A viewer's list and the readiness, first while the fleet is idle, and then while deployments are
 * created.
 */
async function reads({ world, report, seconds: duration }) {
  const clients = [1, 2].map(() => fork(new URL('../shared/load-process.mjs', import.meta.url)));
  const milliseconds = (1000 * duration) / 3;
  const readBoth = () =>
    Promise.all([
      readAtRate(clients[0], { world, path: '/api/v1/deployments?limit=20', key: world.viewer, milliseconds }),
      readAtRate(clients[1], { world, path: '/readyz', milliseconds }),
    ]);
  try {
    await readBoth(); // the first requests of a connection are slow
    const quiet = await readBoth();
    const count = Math.round((LOAD_PER_SECOND * milliseconds) / 1000);
    const started = performance.now();
    const [busy, { ids, created }] = await Promise.all([
      readBoth(),
      world.createAtRate(count, LOAD_PER_SECOND).then((ids) => ({ ids, created: performance.now() - started })),
    ]);
    report(`meanwhile ${ids.length} of ${count} deployments were accepted in ${seconds(created)}`);
    for (const [index, what] of ["a viewer's list of 20", '/readyz'].entries()) {
      const { rounds, failed } = busy[index];
      const [before, after] = [median(quiet[index].rounds), median(rounds)];
      const ratio = after / before;
      report(
        `${what}: p99 ${ms(before)} while idle, ${ms(after)} under load, ratio ${ratio.toFixed(1)}, ${failed} failed`,
        failed > 0
          ? 'fail'
          : atMost(ratio, GOALS.slowerReads, ratio > GOALS.slowerReads && isNoisy(quiet[index].rounds)),
      );
    }
    await world.untilRunning(ids, timeFor(count));
    await remove(world, report, ids);
  } finally {
    for (const client of clients) client.disconnect();
  }
}

/**
 * One in ten hosts stops to answer, and answers again later. Meanwhile deployments are created on
 * the others.
 */
async function hang({ world, report, ids, hosts, samples }) {
  const numbers = Array.from({ length: hosts }, (_, index) => index).filter((index) => index % ONE_IN === 3);
  const hanging = numbers.map((number) => world.hostIds[number]);
  const control = (command) => world.engines.ask('POST', `/${command}`, { hosts: numbers });
  const others = await emptiest(world, hanging);
  const sampled = [];
  const sampleTimes = async () => {
    const created = await world.createAtRate(samples, SAMPLES_PER_SECOND, others);
    sampled.push(...created);
    return [...(await world.timesToRunning(created, AT_LEAST_MS)).values()];
  };
  const quiet = await sampleTimes();
  const judge = (what, times) => {
    const ratio = p99(times) / p99(quiet);
    report(
      `${what}: ${times.length} of ${samples} new deployments on other hosts run, p99 ${ms(p99(times))}, ` +
        `ratio ${ratio.toFixed(2)}; before: p99 ${ms(p99(quiet))}`,
      reachedAll({ reached: times.length === samples }, atMost(ratio, GOALS.slowerDeployments)),
    );
  };
  const changed = (
    await world.query('SELECT DISTINCT ON (host_id) id FROM deployments WHERE host_id = ANY ($1) AND id = ANY ($2)', [
      hanging,
      ids,
    ])
  ).map(({ id }) => id);
  await control('hang');
  const started = performance.now();
  try {
    await restart(world, changed);
    judge(`${numbers.length} hosts hang`, await sampleTimes());
  } finally {
    await control('resume');
  }
  const returned = performance.now();
  report(`they have hung for ${seconds(returned - started)}, with ${changed.length} restarts requested`);
  const converge = async () => {
    const left = await world.untilConverged(GOALS.returnMs);
    const elapsed = seconds(performance.now() - returned);
    report(`everything has converged ${elapsed} after their return: ${left} left`, atMost(left, 0));
  };
  const [after] = await Promise.all([sampleTimes(), converge()]);
  judge(`${numbers.length} hosts return`, after);
  await remove(world, report, sampled);
  await reportInstances(world, report);
}

/** The half of the hosts with the fewest deployments, as targets. */
async function emptiest(world, without) {
  const rows = await world.query(
    `SELECT h.id FROM hosts h LEFT JOIN deployments d ON d.host_id = h.id WHERE h.id <> ALL ($1)
     GROUP BY h.id ORDER BY count(d.id), h.id`,
    [without],
  );
  return rows.slice(0, Math.ceil(rows.length / 2)).map(({ id }) => ({ host_id: id }));
}

/** Restarts deployments: their instances are replaced. */
const restart = (world, ids) => onEach(ids, CLIENTS, (id) => world.ask('POST', `/deployments/${id}/restart`));

/** Two replicas work, and one of them is killed. */
async function replicas({ world, report, ids, samples }) {
  await world.startReplica();
  const restarted = ids.slice(0, samples);
  const half = () => world.createAtRate(samples, LOAD_PER_SECOND);
  const created = await half();
  await Promise.all([
    restart(world, restarted),
    half().then((more) => created.push(...more)),
    delay(500).then(() => world.killOldest()),
  ]);
  const killed = performance.now();
  const left = await world.untilConverged(LEASE_MS + GOALS.takeOverMs);
  const late = Math.max(0, performance.now() - killed - LEASE_MS);
  report(
    `one of two replicas was killed during ${2 * samples} creations and ${samples} restarts: ${left} left ` +
      `${seconds(late)} after its leases have expired`,
    atMost(left, 0),
  );
  await reportInstances(world, report);
  await remove(world, report, created);
}

async function reportInstances(world, report) {
  const rows = await world.query('SELECT id, replicas, generation FROM deployments');
  const { existing, wanted, twice, stale, missing, surplus } = countInstances(
    await world.engines.ask('GET', '/creations'),
    rows,
  );
  report(
    `instances: ${existing} exist of ${wanted}, ${missing} missing, ${surplus} surplus, ${twice} existed twice, ` +
      `${stale} created by a stale request`,
    atMost(missing + surplus + twice + stale, 0),
  );
}

/** Many clients create deployments at once. */
async function burst({ world, report, burst: count }) {
  const started = performance.now();
  const { result, ...costs } = await cpuDuring(world, () => world.requestEach(count, BURST_CLIENTS));
  const elapsed = performance.now() - started;
  const failed = result.filter(({ status }) => status >= 500);
  const refused = result.filter(({ status }) => status >= 400 && status < 500);
  report(
    `${BURST_CLIENTS} clients create ${count} deployments in ${seconds(elapsed)}: ${failed.length} × 5xx, ${refused.length} × 4xx; ` +
      `CPU of each: ${partsOf(costs, (total) => ms(total / count))}`,
    atMost(failed.length + refused.length, 0),
  );
  const ids = result.filter(({ status }) => status < 300).map(({ text }) => JSON.parse(text).deployment.id);
  const running = await world.untilRunning(ids, timeFor(count));
  report(
    `${running.count} of them run ${seconds(performance.now() - started)} after the first request`,
    running.reached ? '' : 'fail',
  );
  await remove(world, report, ids);
  await reportInstances(world, report);
}

/** In the order in which they run. */
export const PHASES = { create, 'first-call': firstCall, idle, reads, hang, replicas, burst };

/** Updates are compared with creations. */
export async function updates(given) {
  await compareUpdates(given);
  await reportInstances(given.world, given.report);
}
