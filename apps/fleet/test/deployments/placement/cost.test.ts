// How many statements, transactions and engine calls a deployment costs, from its creation until it runs, and in an update.
import { eventually } from '@svc/testing';
import pg from 'pg';
import { readDesired } from '../../../src/reconciler/desired.ts';
import { claimDue } from '../../../src/reconciler/queue.ts';
import { startReconciler } from '../../../src/reconciler/reconciler.ts';
import { DEFAULT_TIMINGS as timings } from '../../../src/reconciler/timings.ts';
import { writeObserved } from '../../../src/reconciler/write.ts';
import { aSimulatedHost } from '../../reconciler/simulated-host.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import type { startDeploymentWorld } from '../world.ts';

/** The statements of all connections that are opened from now on, without those of the observer. */
const statements: string[] = [];
/** Those of them that were not prepared, without those that only control a transaction or a connection. PostgreSQL plans them each time. */
const unprepared = new Set<string>();
let observer: pg.Client | undefined;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...given: Parameters<typeof query>) {
  if (this === observer) return query.apply(this, given);
  const [statement] = given as unknown as [string | { readonly text: string; readonly name?: string }];
  const { text, name = '' } = typeof statement === 'string' ? { text: statement } : statement;
  statements.push(text.trim().split(/\s+/).slice(0, 4).join(' '));
  if (name === '' && !/^(?:BEGIN|COMMIT|SET enable_seqscan)\b/.test(text)) unprepared.add(text);
  return query.apply(this, given);
} as typeof query;

// Imported now, because a connection copies the function above when it is opened.
const world: { startDeploymentWorld: typeof startDeploymentWorld } = await import('../world.ts');
const fleet = await world.startDeploymentWorld();
const { creation, plansIn } = await import('../plans/world.ts');

/** Those of one call, without the record of the use of a token, which is made once per second, and without those of new connections. */
async function statementsOf<T>(work: () => Promise<T>) {
  statements.length = 0;
  unprepared.clear();
  const result = await work();
  return { result, sent: statements.filter((text) => !/^(?:UPDATE tokens|SET enable_seqscan)\b/.test(text)) };
}

const PORT = { containerPort: 80, protocol: 'TCP' };

test('a creation sends 13 statements, whatever the number of hosts and deployments', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload({ ports: [PORT] });
  const create = () => statementsOf(() => fleet.deploy({ workload_id: id }));
  await create();
  const few = await create();
  expect(few.result.status).toBe(201);
  expect(few.sent).toHaveLength(13);
  expect([...unprepared]).toEqual([]);
  await Promise.all(Array.from({ length: 30 }, () => fleet.aHost()));
  for (let count = 0; count < 10; count += 1) await create();
  const many = await create();
  expect(many.sent).toEqual(few.sent);
});

test('a plan of several creations sends 4 statements for each, and 6 for all, whatever the number of hosts', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload({ ports: [PORT] });
  const { plan } = plansIn(fleet);
  const planned = (count: number) =>
    statementsOf(() =>
      plan(async () => Array.from({ length: count }, (_, index) => creation({ name: `n-${index}`, workload_id: id }))),
    );
  await planned(1);
  const one = await planned(1);
  const few = await planned(11);
  await Promise.all(Array.from({ length: 30 }, () => fleet.aHost()));
  const many = await planned(11);
  expect(many.sent).toEqual(few.sent);
  expect({ one: one.sent.length, few: few.sent.length }).toEqual({ one: 6 + 4, few: 6 + 44 });
});

test('a reconciliation that finds a deployment as desired sends two statements', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload({ ports: [PORT] });
  await fleet.deployed({ workload_id: id });
  const { database, services } = fleet.world;
  const { sent } = await statementsOf(async () => {
    const [claim] = await claimDue(database, { lease: timings.lease, limit: 1 }, new AbortController().signal);
    if (!claim) throw new Error('nothing is due');
    const desired = await readDesired(database, services.settings.sealer, claim);
    if (!desired) throw new Error('the lease was lost');
    const observed = {
      phase: 'running' as const,
      reason: null,
      message: 'runs',
      next: 'settled' as const,
      actions: [],
      volumes: [],
      instances: [],
      endpoints: [],
    };
    await writeObserved(database, claim, { ...desired, observed, timings });
    claim.release();
  });
  expect(sent).toHaveLength(2);
});

const isSearch = (text: string) => text.startsWith('WITH locked AS');

/** A statement outside of a transaction is one. */
function transactionsIn(sent: readonly string[]): number {
  const begins = sent.flatMap((text, index) => (text === 'BEGIN' ? [index] : []));
  const within = begins.reduce((sum, begin) => sum + sent.indexOf('COMMIT', begin) - begin, 0);
  return sent.length - within;
}

/** Some work with a host whose deployments are reconciled. */
async function onReconciledHost(work: (host: Awaited<ReturnType<typeof aSimulatedHost>>) => Promise<void>) {
  const host = await aSimulatedHost();
  const { database, databaseUrl, services, sealer, log } = fleet.world;
  const { hosts, clusters } = services.engineRuntime;
  observer = new pg.Client({ connectionString: databaseUrl });
  await observer.connect();
  const { defaultLimits } = services;
  const context = { database, sealer, log, hosts, clusters, defaultLimits, concurrency: 8 };
  const reconciler = startReconciler({ ...context, timings: { ...SHORT_TIMINGS.reconciler, lease: timings.lease } });
  try {
    await fleet.aHost({ endpoint: host.endpoint });
    await work(host);
  } finally {
    await reconciler.stop();
    await services.engineRuntime.stop();
    await observer.end();
    await host.stop();
  }
}

/** Waits until a deployment is as an expression of SQL states, without a statement of the fleet. */
const untilRow = (what: string, id: string, expression: string) =>
  eventually(what, async () => {
    const { rows } = await (observer as pg.Client).query(`SELECT ${expression} AS so FROM deployments WHERE id = $1`, [
      id,
    ]); // set above
    return rows[0].so === true;
  });

type Calls = Readonly<Record<string, number>>;

/** The calls between two counts, by kind. */
const callsBetween = (before: Calls, after: Calls) =>
  Object.fromEntries(
    Object.entries(after)
      .map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  );

test('a deployment takes seven engine calls and, beside the searches, four transactions from its creation until it runs', () =>
  onReconciledHost(async (host) => {
    const { id: workload_id } = await fleet.aWorkload({ image_tag: '1', ports: [PORT] });
    const run = async () => {
      const { id } = await fleet.deployed({ workload_id });
      await untilRow('the deployment runs', id, `phase = 'running'`);
    };
    await run(); // pulls the image
    const before = await host.calls();
    const { sent } = await statementsOf(run);
    expect([...unprepared]).toEqual([]);
    expect(callsBetween(before, await host.calls())).toEqual({
      'GET /containers/json': 1,
      'GET /images/*/json': 1,
      'POST /containers/create': 1,
      'POST /containers/*/start': 1,
      'GET /containers/*/json': 2,
      'GET /networks/*': 1,
    });
    expect(sent.some(isSearch)).toBe(true);
    // The token of the caller, the creation, and the results of two reconciliations, which a search claims and reads.
    expect(transactionsIn(sent.filter((text) => !isSearch(text)))).toBe(4);
  }));

test('an update with an extra instance takes a reconciliation for each of its steps, and none while it waits', () =>
  onReconciledHost(async (host) => {
    const given = { workload: { ports: [PORT], env_schema: [{ name: 'MODE' }] }, updates: { ready_seconds: 1 } };
    const { id } = await fleet.deployed({ ...given, env: { MODE: 'old' } });
    const hasEnded = `rollout->>'state' = 'succeeded' AND (rollout->>'generation')::int = generation`;
    await untilRow('the first rollout has succeeded', id, hasEnded);
    const before = await host.calls();
    const { sent } = await statementsOf(async () => {
      await fleet.change(id, { env: { MODE: 'new' } });
      await untilRow('the update has succeeded', id, hasEnded);
    });
    // The extra instance is created, ready and proven, then the other one is replaced and ready, then both are proven, and
    // the extra one is removed. The addresses of the outdated instance are withdrawn in a reconciliation of their own.
    const reconciliations = 6;
    expect(callsBetween(before, await host.calls())).toEqual({
      'GET /containers/json': 1,
      'GET /containers/*/json': 16,
      'GET /images/*/json': 2,
      'GET /networks/*': 2,
      'POST /containers/create': 2,
      'POST /containers/*/start': 2,
      'POST /containers/*/stop': 2,
      'DELETE /containers/*': 2,
    });
    expect(sent.filter((text) => text.startsWith('WITH updated AS'))).toHaveLength(reconciliations);
  }));
