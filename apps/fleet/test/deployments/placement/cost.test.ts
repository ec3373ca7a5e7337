// How many statements a deployment costs, from its creation to the result of a reconciliation.
import pg from 'pg';
import { readDesired } from '../../../src/reconciler/desired.ts';
import { claimDue } from '../../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../../src/reconciler/timings.ts';
import { writeObserved } from '../../../src/reconciler/write.ts';
import type { startDeploymentWorld } from '../world.ts';

/** The statements of all connections that are opened from now on. */
const statements: string[] = [];
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...given: Parameters<typeof query>) {
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
