// Which deployments workers claim, and how a search finds them.
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createLog } from '@svc/http';
import { byDepth } from '@svc/testing';
import { v7 as uuidv7 } from 'uuid';
import { Unreachable } from '../../src/engines/errors.ts';
import type { Host } from '../../src/generated/prisma/client.ts';
import type { ClusterClients, HostClients } from '../../src/reconciler/engine-clients.ts';
import { type Claim, claimDue, dueDeployments } from '../../src/reconciler/queue.ts';
import { startReconciler } from '../../src/reconciler/reconciler.ts';
import { DEFAULT_TIMINGS as timings } from '../../src/reconciler/timings.ts';
import { startDeploymentWorld } from '../deployments/world.ts';

const MANY = byDepth({ short: 1500, full: 3000, long: 10_000 });
const HOSTS = 50;
/** The planner chooses other joins for other numbers of rows. */
const VARIATION = 1.3;

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const { database } = world;

const claims: Claim[] = [];
afterEach(() => {
  for (const claim of claims.splice(0)) claim.release();
});
const claimIds = async (limit: number) => {
  const claimed = await claimDue(database, { lease: timings.lease, limit }, new AbortController().signal);
  claims.push(...claimed);
  return claimed.map(({ id }) => id);
};

type Target = { readonly host_id: string } | { readonly cluster_id: string };

/** A statement must end before its timeout, also on a busy machine. */
const PER_STATEMENT = 500;
const HOUR_MS = 3_600_000;
const START = Date.now() - HOUR_MS;

/**
 * Deployments on a target, each due a second later than the one before, from `first` seconds on.
 * @returns their ids in this order
 */
async function someDue(count: number, target: Target, { first = 0, due = START } = {}): Promise<string[]> {
  const workload = await fleet.aWorkload();
  const data = Array.from({ length: count }, (_, index) => ({
    id: uuidv7(),
    name: uuidv7(),
    created_by: 'test',
    workload_id: workload.id,
    revision: 1,
    replicas: 1,
    ...target,
    due_at: new Date(due + 1000 * (first + index)),
  }));
  for (let from = 0; from < count; from += PER_STATEMENT) {
    await client.deployment.createMany({ data: data.slice(from, from + PER_STATEMENT) });
  }
  return data.map(({ id }) => id);
}

test('a search claims the deployments that have been due for longest, up to the limit', async () => {
  const one = await fleet.aHost();
  const other = await fleet.aHost();
  const [first, third] = await someDue(2, { host_id: one.id });
  const [second] = await someDue(1, { host_id: other.id }, { first: 0.5 });
  expect(await claimIds(2)).toEqual([first, second]);
  expect(await claimIds(2)).toEqual([third]);
  expect(await claimIds(2)).toEqual([]);
});

test('deployments that are not due, or whose target is not online, are not claimed', async () => {
  const online = await fleet.aHost();
  const offline = await fleet.aHost({ reachability: 'unreachable' });
  await someDue(1, { host_id: offline.id });
  await someDue(1, { host_id: online.id }, { due: Date.now() + HOUR_MS });
  expect(await claimIds(5)).toEqual([]);
});

test.each([
  ['host', 4],
  ['cluster', 6],
] as const)(
  'of a %s, at most %d are claimed at a time, and the others do not delay other targets',
  async (kind, limit) => {
    const targetOf = ({ id }: { id: string }) => (kind === 'host' ? { host_id: id } : { cluster_id: id });
    const create = kind === 'host' ? fleet.aHost : fleet.aCluster;
    const busy = await create();
    const other = await create();
    const waiting = await someDue(20, targetOf(busy));
    const late = await someDue(1, targetOf(other), { first: 100 });
    expect(await claimIds(50)).toEqual([...waiting.slice(0, limit), ...late]);
    expect(await claimIds(50)).toEqual([]);
    await client.deployment.update({
      where: { id: String(waiting[0]) },
      data: { lease_until: null, due_at: new Date(Date.now() + HOUR_MS) },
    });
    expect(await claimIds(50)).toEqual([waiting[limit]]);
  },
);

test('two searches at the same time claim different deployments', async () => {
  for (let count = 0; count < 10; count += 1) await someDue(2, { host_id: (await fleet.aHost()).id });
  const found = (await Promise.all([claimIds(10), claimIds(10), claimIds(10)])).flat();
  expect(new Set(found).size).toBe(found.length);
});

/**
 * A reconciler whose hosts never respond. @returns the ids of the hosts that it contacted so far,
 * and a function that waits for some
 */
function aReconciler({ slowPass }: { readonly slowPass: number }) {
  const contacted = new Set<string>();
  const events = new EventEmitter();
  const never = new AbortController();
  const hosts = {
    of: async ({ id }: Host) => {
      contacted.add(id);
      events.emit('contacted');
      await once(never.signal, 'abort');
      throw new Unreachable('The test ended.');
    },
    close: async () => undefined,
  } as unknown as HostClients;
  const context = {
    database,
    hosts,
    clusters: {} as ClusterClients,
    log: createLog('test', 'silent'),
    sealer: world.sealer,
    defaultLimits: world.services.defaultLimits,
  };
  const reconciler = startReconciler({ ...context, concurrency: 1, timings: { ...timings, idle: 20, slowPass } });
  return {
    contacted,
    hasContacted: async (count: number) => {
      while (contacted.size < count) await once(events, 'contacted');
    },
    stop: () => {
      never.abort();
      return reconciler.stop();
    },
  };
}

test('passes on targets that do not respond do not prevent others', async () => {
  const hosts = [await fleet.aHost(), await fleet.aHost(), await fleet.aHost()];
  for (const { id } of hosts) await someDue(1, { host_id: id });
  const reconciler = aReconciler({ slowPass: 10 });
  try {
    await reconciler.hasContacted(hosts.length);
    expect(reconciler.contacted).toEqual(new Set(hosts.map(({ id }) => id)));
  } finally {
    await reconciler.stop();
  }
});

test('no more passes run concurrently than permitted, unless they are slow', async () => {
  for (let count = 0; count < 3; count += 1) await someDue(1, { host_id: (await fleet.aHost()).id });
  const reconciler = aReconciler({ slowPass: HOUR_MS });
  try {
    await reconciler.hasContacted(1);
    await pause(300); // searches would start further passes
    expect(reconciler.contacted.size).toBe(1);
  } finally {
    await reconciler.stop();
  }
});

describe('a notification', () => {
  const notified = new EventEmitter();
  let subscription: ReturnType<typeof database.subscribeToDue>;
  let host_id: string;

  beforeAll(async () => {
    subscription = database.subscribeToDue(() => notified.emit('due'));
    await once(notified, 'due'); // the connection is open
  });
  beforeEach(async () => {
    host_id = (await fleet.aHost()).id;
  });
  afterAll(() => subscription.close());

  test('follows the creation of a deployment that is due', async () => {
    const due = once(notified, 'due');
    await someDue(1, { host_id });
    await due;
  });

  test('follows a change to the current time, which is stored rounded up to the next millisecond', async () => {
    const [id] = await someDue(1, { host_id }, { due: Date.now() + HOUR_MS });
    const due = once(notified, 'due');
    await client.$executeRaw`
      UPDATE deployments SET due_at = date_trunc('milliseconds', now()) + interval '1 millisecond' WHERE id = ${id}::uuid`;
    await due;
  });
});

test('a search reads as many rows with many deployments as with few', async () => {
  const hosts = [];
  for (let count = 0; count < HOSTS; count += 1) hosts.push(await fleet.aHost());
  for (const { id } of hosts) await someDue(5, { host_id: id });
  const [busy] = hosts;
  const rowsReadNow = async () => {
    await client.$executeRaw`VACUUM ANALYZE deployments`;
    return rowsRead();
  };
  const few = await rowsReadNow();
  for (const { id } of hosts) await someDue(50, { host_id: id }, { due: Date.now() + HOUR_MS });
  expect(await rowsReadNow()).toBeLessThan(VARIATION * few); // 11 times as many deployments
  await someDue(MANY, { host_id: String(busy?.id) }, { first: 10 });
  const many = await rowsReadNow();
  await someDue(2 * MANY, { host_id: String(busy?.id) }, { first: 10 });
  expect(await rowsReadNow()).toBeLessThan(VARIATION * many); // three times as many due ones
});

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** The number of rows of deployments that a search reads, and of those that it passes on. */
async function rowsRead(): Promise<number> {
  const [row] = await client.$queryRaw<{ 'QUERY PLAN': { Plan: Plan }[] }[]>`
    EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${dueDeployments(10)}`;
  const rowsOf = (plan: Plan): number =>
    plan['Actual Loops'] * (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) +
    (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), 0);
  return (row?.['QUERY PLAN'] ?? []).reduce((sum, { Plan: plan }) => sum + rowsOf(plan), 0);
}
