import { eventually } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { closeConnection, holdAnswers, startFakeHub } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const { hub, world, mirror } = await startSyncWorld();
const state = () => world.database.client.catalogSync.findUniqueOrThrow({ where: { id: 1 } });
const holdUpdates = () => {
  const { hold, ...held } = holdAnswers();
  hub.behave(hold);
  return held;
};

test('sync requests during a running sync share one run that starts afterwards', async () => {
  const { arrived, release } = holdUpdates();
  const first = world.sync.run();
  await arrived(1);
  hub.publish(aTemplate({ name: 'published in the meantime' }));
  const others = Array.from({ length: 5 }, () => world.sync.run());
  await release(0);
  await arrived(2);
  await release(1);
  await Promise.all([first, ...others]);
  expect(hub.cursors()).toHaveLength(2);
  expect(await mirror.names()).toEqual(['published in the meantime']);
});

test('a sync request between two runs joins the second run', async () => {
  const first = world.sync.run();
  const second = world.sync.run();
  await first;
  await Promise.all([second, world.sync.run()]);
  expect(hub.cursors()).toHaveLength(2);
});

test('callers that wait behind a failing sync get their own run', async () => {
  const { arrived, release } = holdUpdates();
  const first = world.sync.run();
  await arrived(1);
  const second = world.sync.run();
  hub.behave(closeConnection);
  await release(0);
  await first;
  await expect(second).rejects.toMatchObject({ code: 'hub_unreachable' });
  hub.recover();
  await world.sync.run();
  expect(await state()).toMatchObject({ stale_since: null });
});

test('concurrent sync requests on two replicas all succeed, and the hub receives one request at a time', async () => {
  hub.publish(aTemplate());
  const token = await world.aToken({ role: 'operator' });
  const other = world.aReplica({ hub }).api(`Bearer ${token.secret}`);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? world.asOperator : other).post('/api/v1/catalog/sync')),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(hub.mostAtOnce()).toBe(1);
});

/**
 * Resolves when the lease was requested the given number of times while an open transaction holds
 * it.
 */
async function untilAskedForLease(times: number): Promise<void> {
  const starts = new Set<string>();
  const seen = async () => {
    const rows = await world.database.client.$queryRaw<{ start: string }[]>`
      SELECT query_start::text AS start FROM pg_stat_activity
      WHERE datname = current_database() AND state <> 'idle in transaction' AND query LIKE '%catalog_sync SET lease_owner%'`;
    for (const { start } of rows) starts.add(start);
    return starts.size;
  };
  await eventually(`the lease was requested ${times} times`, seen, { until: (count) => count >= times });
}

describe('two replicas', () => {
  test('that sync for the first time concurrently leave one complete mirror', async () => {
    hub.publish(aTemplate({ name: 'a' }), aTemplate({ name: 'b' }));
    await Promise.all([world.sync.run(), world.aReplica({ hub }).sync.run()]);
    await mirror.expectLike(hub);
    expect((await state()).checked_at?.toISOString()).toBe(hub.checkedAt());
  });

  test('that sync one after the other both respond with everything that existed at their request', async () => {
    const { arrived, release } = holdUpdates();
    const older = world.aReplica({ hub }).sync.run();
    await arrived(1);
    hub.publish(aTemplate({ name: 'there when it was asked' }));
    const newer = world.sync.run();
    await release(0);
    await older;
    expect(await mirror.names()).toEqual([]);
    await arrived(2);
    hub.recover();
    await release(1);
    await newer;
    expect(await mirror.names()).toEqual(['there when it was asked']);
  });

  test('are independent: one syncs after the other fails', async () => {
    const { arrived, release } = holdUpdates();
    const failing = world.aReplica({ hub }).sync.run();
    await arrived(1);
    const waiting = world.sync.run();
    hub.recover();
    await Promise.all([
      release(0, closeConnection),
      expect(failing).rejects.toMatchObject({ code: 'hub_unreachable' }),
    ]);
    await waiting;
    expect(await state()).toMatchObject({ stale_since: null, lease_owner: null, lease_until: null });
  });

  test('do not block in a statement while one waits for the other to store a page', async () => {
    const { client } = world.database;
    let waiting = Promise.resolve();
    await client.$transaction(
      async (transaction) => {
        await transaction.$executeRaw`
          UPDATE catalog_sync SET lease_owner = gen_random_uuid(), lease_until = now() + interval '1 s'`;
        waiting = world.sync.run();
        await Promise.race([waiting, untilAskedForLease(3)]);
      },
      { timeout: 20_000 },
    );
    await waiting;
    expect(await state()).toMatchObject({ stale_since: null, lease_owner: null });
  });

  test('with different hubs leave the complete mirror of one of them', async () => {
    const other = await startFakeHub();
    hub.publish(aTemplate({ name: 'of the first' }));
    other.publish(aTemplate({ name: 'of the second' }));
    const second = world.aReplica({ hub: other });
    for (let round = 0; round < 3; round++) await Promise.all([world.sync.run(), second.sync.run()]);
    await other.stop();
    expect([['of the first'], ['of the second']]).toContainEqual(await mirror.names());
  });
});

describe('when the process stops, the sync', () => {
  test('aborts its request without recording a failure of the hub', async () => {
    const replica = world.aReplica({ hub });
    const { arrived } = holdUpdates();
    const running = replica.sync.run().catch((error: unknown) => error);
    await arrived(1);
    const idle = replica.sync.stop();
    await hub.stopListening();
    await idle;
    await hub.startListening();
    expect(await running).toMatchObject({ code: 'hub_unreachable' });
    expect(await state()).toMatchObject({ stale_since: null, lease_owner: null });
  });

  test('rejects a caller that waits behind the sync of another replica with unavailable', async () => {
    const { arrived, release } = holdUpdates();
    const other = world.aReplica({ hub }).sync.run();
    await arrived(1);
    const { sync } = world.aReplica({ hub });
    const waiting = sync.run().then(
      () => 'synced',
      ({ code }: { code: string }) => code,
    );
    await sync.stop();
    await release(0);
    await other;
    expect(await waiting).toBe('unavailable');
  });
});
