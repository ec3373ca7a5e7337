import { eventually } from '@svc/testing';
import { DEFAULT_TIMINGS, runOnSchedule } from '../../src/catalog/schedule.ts';
import { refuse, startFakeHub } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';

const { hub, world } = await startSyncWorld();
const operator = `Bearer ${(await world.aToken({ role: 'operator' })).secret}`;

/** A replica for one test. Its schedule stops when the test ends. */
function aReplica(at = hub) {
  const replica = world.aReplica({ hub: at });
  return { ...replica, asOperator: replica.api(operator) };
}
let replica: ReturnType<typeof aReplica>;
beforeEach(() => {
  replica = aReplica();
});

const state = async () => (await world.asViewer.get(SYNC)).body;
const nextTry = async () => Date.parse((await state()).next_try_at);

/** The times at which syncs started at the hub, as soon as there are this many. */
async function beginnings(count: number): Promise<readonly number[]> {
  const begun = () => hub.requests.filter(({ call }) => call === 'organization').map(({ at }) => at);
  return eventually(`${count} syncs have started`, begun, { until: ({ length }) => length >= count });
}

/** Syncs the replicas on a schedule until the work is done. */
async function scheduled<T>(
  replicas: readonly Pick<typeof replica, 'sync' | 'syncEvery'>[],
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  for (const { syncEvery } of replicas) syncEvery(seconds);
  try {
    return await work();
  } finally {
    await Promise.all(replicas.map(({ sync }) => sync.stop()));
  }
}

test('without a schedule no sync is planned', async () => {
  await replica.sync.run();
  expect(await state()).toMatchObject({ next_try_at: null });
});

test('the first scheduled sync runs at once, and the next one is planned an interval later with a jitter of ten percent', async () => {
  const planned = await scheduled([replica], 1000, async () => {
    await eventually('a sync is planned', state, { until: ({ next_try_at }) => next_try_at !== null });
    const { next_try_at, last_success_at } = await state();
    return Date.parse(next_try_at) - Date.parse(last_success_at);
  });
  expect(planned).toBeGreaterThanOrEqual(900_000);
  expect(planned).toBeLessThan(1_110_000);
});

test('several replicas sync once per interval in total', async () => {
  const INTERVAL_MS = 300;
  const replicas = [replica, aReplica(), aReplica()];
  const begun = await scheduled(replicas, INTERVAL_MS / 1000, () => beginnings(6));
  const gaps = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
  // The clocks of hub and database have milliseconds.
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(INTERVAL_MS * 0.9 - 2);
});

test('a requested sync runs at any time, and reschedules the next one', async () => {
  await scheduled([replica], 1000, async () => {
    await beginnings(1);
    expect((await replica.asOperator.post(SYNC)).status).toBe(200);
    expect(await nextTry()).toBeGreaterThanOrEqual(Date.parse((await state()).last_success_at) + 900_000);
  });
  expect(await beginnings(2)).toHaveLength(2);
});

test('another hub or key is synced at once, regardless of the plan for the former one', async () => {
  await scheduled([replica], 1000, () => beginnings(1));
  const other = await startFakeHub();
  await scheduled([aReplica(other)], 1000, () =>
    eventually('the other hub has received a request', () => other.requests.length > 0),
  );
  await other.stop();
  expect(await state()).toMatchObject({ status: 'fresh' });
});

test('a shorter sync interval counts from the last sync, not from the former plan', async () => {
  await scheduled([replica], 1000, () => beginnings(1));
  await scheduled([aReplica()], 0.1, () => beginnings(2));
  expect(await state()).toMatchObject({ status: 'fresh' });
});

/**
 * Resolves when other scheduled work, which is always due and succeeds, was done this many times.
 */
async function otherRounds(count: number): Promise<void> {
  let done = 0;
  const due = async () => 0;
  const work = async () => {
    done += 1;
  };
  const rounds = runOnSchedule({ due, work, log: world.log, timings: DEFAULT_TIMINGS });
  await eventually(`other work was done ${count} times`, () => done >= count);
  await rounds.stop();
}

test('after a database failure a sync is retried less often than after a success', async () => {
  const { client } = world.database;
  await client.$executeRaw`CREATE SEQUENCE tries`;
  await client.$executeRaw`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM nextval('tries'); RAISE disk_full; END $$`;
  await client.$executeRaw`CREATE TRIGGER refuse BEFORE UPDATE ON catalog_sync EXECUTE FUNCTION refuse()`;
  const tries = async () => {
    const [row] = await client.$queryRaw<{ count: number }[]>`
      SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS count FROM tries`;
    return row?.count ?? 0;
  };
  await scheduled([replica], 0.1, async () => {
    await eventually('a sync was tried', async () => (await tries()) > 0);
    await otherRounds(10);
  });
  expect(await tries()).toBeLessThan(5);
  expect(hub.requests).toEqual([]);
  await client.$executeRaw`DROP FUNCTION refuse CASCADE`;
  await client.$executeRaw`DROP SEQUENCE tries`;
});

describe('after failures of the sync,', () => {
  beforeEach(async () => {
    hub.behave(refuse('internal'), 'organization');
    await world.database.client.event.deleteMany();
  });

  /** Seconds between a failed requested sync and the next attempt, from the state. */
  const failOnce = async () => {
    expect((await replica.asOperator.post(SYNC)).status).toBe(502);
    const { next_try_at, last_failure } = await state();
    return (Date.parse(next_try_at) - Date.parse(last_failure.at)) / 1000;
  };

  test('each attempt is planned later than the one before, also by another replica', async () => {
    await scheduled([replica], 1000, async () => {
      await beginnings(1);
      for (const most of [10, 20, 40, 80, 160, 320, 640, 900, 900]) {
        const seconds = await failOnce();
        expect(seconds).toBeGreaterThanOrEqual(most / 2 - 0.01);
        expect(seconds).toBeLessThanOrEqual(most + 1);
      }
    });
  });

  test.each([
    ['seconds', () => '3600'],
    ['a date', () => new Date(Date.now() + 3_600_000).toUTCString()],
  ])('the next attempt is not before Retry-After, in %s', async (_, header) => {
    hub.behave(refuse('rate_limited', '', { 'Retry-After': header() }), 'organization');
    await scheduled([replica], 1000, async () => {
      await beginnings(1);
      const seconds = await failOnce();
      expect(seconds).toBeGreaterThanOrEqual(3598);
      expect(seconds).toBeLessThanOrEqual(3602);
    });
  });

  test('the schedule waits for the next attempt, and a requested sync does not', async () => {
    hub.behave(refuse('unavailable', '', { 'Retry-After': '3600' }), 'organization');
    await scheduled([replica, aReplica()], 0.1, async () => {
      await eventually('a sync has failed', state, { until: ({ last_failure }) => last_failure !== null });
      expect((await replica.asOperator.post(SYNC)).status).toBe(502);
    });
    expect(await beginnings(2)).toHaveLength(2);
  });

  test('the warning about a stale mirror ends without a recovery when no hub is configured any more', async () => {
    const events = () => world.database.client.event.findMany();
    await failOnce();
    expect(await events()).toMatchObject([{ reason: 'MirrorStale', resolved_at: null }]);
    const without = world.aReplica();
    await scheduled([without], 1000, () =>
      eventually('the warning is resolved', async () => (await events())[0]?.resolved_at !== null),
    );
    expect(await events()).toMatchObject([{ reason: 'MirrorStale', resolved_at: expect.any(Date) }]);
  });

  test('a restart keeps the plan, and a successful sync ends the backoff', async () => {
    await scheduled([replica], 0.1, async () => {
      await eventually('a sync has failed', state, { until: ({ last_failure }) => last_failure !== null });
    });
    await world.database.client.$executeRaw`UPDATE catalog_sync SET next_at = now() + interval '0.5 s'`;
    const planned = await nextTry();
    hub.recover();
    const [, second] = await scheduled([aReplica()], 0.1, () => beginnings(3));
    expect(second).toBeGreaterThanOrEqual(planned);
    expect(await state()).toMatchObject({ status: 'fresh' });
  });
});
