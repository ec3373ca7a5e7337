// How many statements, transactions and engine calls a deployment costs, from its creation until it runs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '@svc/testing';
import pg from 'pg';
import { readDesired } from '../../../src/reconciler/desired.ts';
import { claimDue } from '../../../src/reconciler/queue.ts';
import { startReconciler } from '../../../src/reconciler/reconciler.ts';
import { DEFAULT_TIMINGS as timings } from '../../../src/reconciler/timings.ts';
import { writeObserved } from '../../../src/reconciler/write.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import type { startDeploymentWorld } from '../world.ts';

/** The statements of all connections that are opened from now on, without those of the observer. */
const statements: string[] = [];
let observer: pg.Client | undefined;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...given: Parameters<typeof query>) {
  if (this === observer) return query.apply(this, given);
  const [statement] = given as unknown as [string | { readonly text: string }];
  statements.push(
    (typeof statement === 'string' ? statement : statement.text).trim().split(/\s+/).slice(0, 4).join(' '),
  );
  return query.apply(this, given);
} as typeof query;

// Imported now, because a connection copies the function above when it is opened.
const world: { startDeploymentWorld: typeof startDeploymentWorld } = await import('../world.ts');
const fleet = await world.startDeploymentWorld();

/** Those of one call, without the record of the use of a token, which is made once per second. */
async function statementsOf<T>(work: () => Promise<T>) {
  statements.length = 0;
  const result = await work();
  return { result, sent: statements.filter((text) => !text.startsWith('UPDATE tokens')) };
}

const PORT = { containerPort: 80, protocol: 'TCP' };

test('a creation sends 11 statements, whatever the number of hosts and deployments', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload({ ports: [PORT] });
  const create = () => statementsOf(() => fleet.deploy({ workload_id: id }));
  await create();
  const few = await create();
  expect(few.result.status).toBe(201);
  expect(few.sent).toHaveLength(11);
  await Promise.all(Array.from({ length: 30 }, () => fleet.aHost()));
  for (let count = 0; count < 10; count += 1) await create();
  const many = await create();
  expect(many.sent).toEqual(few.sent);
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

/** A host in a process of its own, whose containers run as soon as they are started. */
async function aSimulatedHost() {
  const script = path.join(import.meta.dirname, '../../../../../bench/fleet/engines.mjs');
  const child = fork(script, [], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], execArgv: [] });
  const [line] = await once(createInterface({ input: child.stdout ?? process.stdin }), 'line');
  const { control, endpoints }: { control: string; endpoints: [string] } = JSON.parse(line);
  return {
    endpoint: endpoints[0],
    /** The number of requests so far, by kind. */
    calls: async () => (await (await fetch(`${control}/calls`)).json()) as Record<string, number>, // see engines.mjs
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

const isSearch = (text: string) => text.startsWith('WITH locked AS');

/** A statement outside of a transaction is one. */
function transactionsIn(sent: readonly string[]): number {
  const begins = sent.flatMap((text, index) => (text === 'BEGIN' ? [index] : []));
  const within = begins.reduce((sum, begin) => sum + sent.indexOf('COMMIT', begin) - begin, 0);
  return sent.length - within;
}

test('a deployment takes six engine calls and, beside the searches, four transactions from its creation until it runs', async () => {
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
    const { id: workload_id } = await fleet.aWorkload({ image_tag: '1', ports: [PORT] });
    const run = async () => {
      const { id } = await fleet.deployed({ workload_id });
      await eventually('the deployment runs', async () => {
        const { rows } = await (observer as pg.Client).query('SELECT phase FROM deployments WHERE id = $1', [id]); // set above
        return rows[0].phase === 'running';
      });
    };
    await run(); // pulls the image
    const before = await host.calls();
    const { sent } = await statementsOf(run);
    const after = await host.calls();
    const calls = Object.entries(after).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]);
    expect(Object.fromEntries(calls.filter(([, count]) => count !== 0))).toEqual({
      'GET /containers/json': 1,
      'GET /images/*/json': 1,
      'POST /containers/create': 1,
      'POST /containers/*/start': 1,
      'GET /containers/*/json': 2,
    });
    expect(sent.some(isSearch)).toBe(true);
    // The token of the caller, the creation, and the results of two reconciliations, which a search claims and reads.
    expect(transactionsIn(sent.filter((text) => !isSearch(text)))).toBe(4);
  } finally {
    await reconciler.stop();
    await services.engineRuntime.stop();
    await observer.end();
    await host.stop();
  }
});
