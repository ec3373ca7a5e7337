import { aTemplate } from '../a-template.ts';
import { aCategory, type Call, calls, closeConnection, holdAnswers, refuse } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const { hub, world, mirror } = await startSyncWorld();
const state = () => world.database.client.catalogSync.findUniqueOrThrow({ where: { id: 1 } });

/** Ends the lease, as if its run had not renewed it in time. */
const expireLease = () =>
  world.database.client.$executeRaw`UPDATE catalog_sync SET lease_until = now() - interval '1 s'`;

/**
 * A run of another replica that waits for the response of the hub to a call, and whose lease was
 * taken and released.
 */
async function aSupersededRun(call: Call) {
  const template = aTemplate({ name: 'old' });
  hub.publish(template, aTemplate({ name: 'gone soon' }));
  hub.setCategories(aCategory({ name: 'old' }));
  await world.sync.run();
  hub.publish({ ...template, name: 'older' });
  hub.setCategories(aCategory({ name: 'older' }));
  hub.changeOrganization({ tier: 'older' });
  const { hold, arrived, release } = holdAnswers();
  hub.behave(hold, call);
  const run = world.aReplica({ hub }).sync.run();
  const ended = run.then(
    () => 'synced',
    ({ code }: { code: string }) => code,
  );
  await arrived(1);
  hub.recover();
  hub.publish({ ...template, name: 'new' });
  hub.withdraw(...hub.shown().filter(({ name }) => name === 'gone soon'));
  hub.setCategories(aCategory({ name: 'new' }));
  hub.changeOrganization({ tier: 'new' });
  await expireLease();
  await world.sync.run();
  await mirror.expectLike(hub);
  return { ended, release };
}

describe.each(calls)('a run that lost its lease while it waited for the response of the hub (%s)', (call) => {
  test('stores nothing of the response', async () => {
    const { ended, release } = await aSupersededRun(call);
    const before = await mirror.rows();
    hub.behave(refuse('unavailable'), 'organization'); // so that it cannot start another run
    await release(0);
    await ended;
    expect(await mirror.rows()).toEqual(before);
  });

  test('restarts, and resolves when the new run succeeds', async () => {
    const { ended, release } = await aSupersededRun(call);
    hub.publish(aTemplate({ name: 'there by then' }));
    await release(0);
    expect(await ended).toBe('synced');
    await mirror.expectLike(hub);
  });

  test('reports a failure to its caller, and does not change the state', async () => {
    const { ended, release } = await aSupersededRun(call);
    await release(0, closeConnection);
    expect(await ended).toBe('hub_unreachable');
    expect(await state()).toMatchObject({ stale_since: null, failures: 0, last_failure_at: null });
  });
});

test('a run takes over the lease of a run that died, after the lease has expired', async () => {
  await world.database.client.$executeRaw`
    UPDATE catalog_sync SET lease_owner = gen_random_uuid(), lease_until = now() + interval '0.5 s'`;
  const { lease_until } = await state();
  await world.sync.run();
  const { last_success_at } = await state();
  expect(last_success_at?.getTime()).toBeGreaterThan(lease_until?.getTime() ?? Number.NaN);
});
