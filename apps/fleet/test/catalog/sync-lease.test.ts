import { createLog, createOutbound } from '@svc/http';
import { connectHub } from '../../src/catalog/hub.ts';
import { createSync } from '../../src/catalog/sync.ts';
import { aTemplate } from '../a-template.ts';
import {
  aCategory,
  type Call,
  calls,
  closeConnection,
  type FakeHub,
  holdAnswers,
  refuse,
  startFakeHub,
} from '../fake-hub.ts';
import { startWorld, type World } from '../world.ts';
import { mirrorIn } from './mirror.ts';

const patient = createOutbound({ timeoutMs: 25_000, maxBytes: 4_000_000 });
let hub: FakeHub;
let world: World;

beforeEach(async () => {
  hub = await startFakeHub();
  world = await startWorld({ hub });
});
afterEach(async () => {
  await world.stop();
  await hub.stop();
});

afterAll(() => patient.close());

const mirror = mirrorIn((sql) => world.database.client.$queryRawUnsafe(sql));
const state = () => world.database.client.catalogSync.findUniqueOrThrow({ where: { id: 1 } });

/** Another replica, which waits longer for an answer than a test takes. */
function aPatientReplica() {
  const { database } = world;
  const connected = connectHub({ url: hub.url, apiKey: hub.key, send: patient.send });
  return createSync({
    database,
    hubNow: async () => ({ hub: connected, intervalSeconds: 0 }),
    log: createLog('fleet', 'silent'),
  });
}

/** As if the run that has the lease had given no sign of life for too long. */
const expireLease = () =>
  world.database.client.$executeRaw`UPDATE catalog_sync SET lease_until = now() - interval '1 s'`;

/** A run of another replica that waits for the hub's answer to a call, and lost its lease to a run that is over. */
async function aRunThatWasOvertaken(call: Call) {
  const template = aTemplate({ name: 'old' });
  hub.publish(template, aTemplate({ name: 'gone soon' }));
  hub.setCategories(aCategory({ name: 'old' }));
  await world.sync.run();
  hub.publish({ ...template, name: 'older' });
  hub.setCategories(aCategory({ name: 'older' }));
  hub.changeOrganization({ tier: 'older' });
  const { hold, arrived, letGo } = holdAnswers();
  hub.behave(hold, call);
  const run = aPatientReplica().run();
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
  return { ended, letGo };
}

describe.each(calls)('a run that lost its lease while it waited for the hub’s answer (%s)', (call) => {
  test('writes nothing of what it was answered', async () => {
    const { ended, letGo } = await aRunThatWasOvertaken(call);
    const before = await mirror.rows();
    hub.behave(refuse('unavailable'), 'organization'); // it can't begin another run either
    await letGo(0);
    await ended;
    expect(await mirror.rows()).toEqual(before);
  });

  test('begins anew, and says so when that is done', async () => {
    const { ended, letGo } = await aRunThatWasOvertaken(call);
    hub.publish(aTemplate({ name: 'there by then' }));
    await letGo(0);
    expect(await ended).toBe('synced');
    await mirror.expectLike(hub);
  });

  test('tells its caller of a failure, and leaves the state to who has the lease', async () => {
    const { ended, letGo } = await aRunThatWasOvertaken(call);
    await letGo(0, closeConnection);
    expect(await ended).toBe('hub_unreachable');
    expect(await state()).toMatchObject({ stale_since: null, failures: 0, last_failure_at: null });
  });
});

test('a lease that a dead run left is taken when it is over', async () => {
  await world.database.client.$executeRaw`
    UPDATE catalog_sync SET lease_owner = gen_random_uuid(), lease_until = now() + interval '1 s'`;
  const { lease_until } = await state();
  await world.sync.run();
  const { last_success_at } = await state();
  expect(last_success_at?.getTime()).toBeGreaterThan(lease_until?.getTime() ?? Number.NaN);
});
