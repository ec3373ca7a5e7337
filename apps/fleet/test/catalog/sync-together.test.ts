import { once } from 'node:events';
import { aTemplate } from '../a-template.ts';
import { type Exchange, type FakeHub, startFakeHub } from '../fake-hub.ts';
import { startWorld, type World } from '../world.ts';

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

/** The hub makes its answers at once and keeps them until they are let go, one by one, in the order of arrival. */
function holdAnswers() {
  const waiting: Exchange[] = [];
  const arrivals: (() => void)[] = [];
  hub.behave((exchange) => {
    waiting.push(exchange);
    for (const arrived of arrivals.splice(0)) arrived();
  });
  return {
    arrived: async (number: number) => {
      while (waiting.length < number) await new Promise<void>((resolve) => arrivals.push(resolve));
    },
    letGo: async (index: number) => {
      const exchange = waiting[index];
      if (!exchange) throw new Error(`no answer ${index} is waiting`);
      exchange.res.writeHead(200, { 'Content-Type': 'application/json' }).end(exchange.good);
      await once(exchange.res, 'close');
    },
  };
}

const names = async () => {
  const rows = await world.database.client.catalogTemplate.findMany({ orderBy: { sort_name: 'asc' } });
  return rows.map(({ sort_name }) => sort_name);
};
const state = () => world.database.client.catalogSync.findUniqueOrThrow({ where: { id: 1 } });

test('syncs that are asked for while one runs share one that starts afterwards', async () => {
  const { arrived, letGo } = holdAnswers();
  const first = world.sync.run();
  await arrived(1);
  hub.publish(aTemplate({ name: 'published in the meantime' }));
  const others = Array.from({ length: 5 }, () => world.sync.run());
  await letGo(0);
  await arrived(2);
  await letGo(1);
  await Promise.all([first, ...others]);
  expect(hub.requests).toHaveLength(2);
  expect(await names()).toEqual(['published in the meantime']);
});

test('a sync that is asked for between two runs joins the second', async () => {
  const first = world.sync.run();
  const second = world.sync.run();
  await first;
  await Promise.all([second, world.sync.run()]);
  expect(hub.requests).toHaveLength(2);
});

test('those who wait behind a sync that fails get one of their own', async () => {
  const { arrived, letGo } = holdAnswers();
  const first = world.sync.run();
  await arrived(1);
  const second = world.sync.run();
  hub.behave(({ res }) => void res.destroy());
  await letGo(0);
  await first;
  await expect(second).rejects.toMatchObject({ code: 'hub_unreachable' });
  hub.recover();
  await world.sync.run();
  expect(await state()).toMatchObject({ stale_since: null });
});

test('many at the same moment all succeed, and the hub is asked for one at a time', async () => {
  hub.publish(aTemplate());
  const answers = await Promise.all(Array.from({ length: 20 }, () => world.asOperator.post('/api/v1/catalog/sync')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(hub.mostAtOnce()).toBe(1);
});

describe('two replicas', () => {
  test('that sync for the first time at once leave one whole mirror', async () => {
    hub.publish(aTemplate({ name: 'a' }), aTemplate({ name: 'b' }));
    await Promise.all([world.sync.run(), world.aReplica({ hub }).sync.run()]);
    expect(await names()).toEqual(['a', 'b']);
    expect((await state()).checked_at?.toISOString()).toBe(hub.checkedAt());
  });

  test('an old answer that comes late does not undo what another replica stored', async () => {
    const template = aTemplate({ name: 'old' });
    hub.publish(template);
    await world.sync.run();
    hub.publish({ ...template, name: 'older' });
    const { arrived, letGo } = holdAnswers();
    const late = world.sync.run();
    await arrived(1);
    hub.recover();
    hub.publish({ ...template, name: 'new' });
    await world.aReplica({ hub }).sync.run();
    await letGo(0);
    await late;
    expect(await names()).toEqual(['new']);
  });

  test('a sync answers with all that was there when it began, also when another replica’s older one came first', async () => {
    const { arrived, letGo } = holdAnswers();
    const older = world.aReplica({ hub }).sync.run();
    await arrived(1);
    hub.publish(aTemplate({ name: 'there when it began' }));
    const newer = world.sync.run();
    await arrived(2);
    await letGo(0);
    await older;
    hub.recover();
    await letGo(1);
    await newer;
    expect(await names()).toEqual(['there when it began']);
  });

  test('with different hubs leave the mirror of one of them, whole', async () => {
    const other = await startFakeHub();
    hub.publish(aTemplate({ name: 'of the first' }));
    other.publish(aTemplate({ name: 'of the second' }));
    const second = world.aReplica({ hub: other });
    for (let round = 0; round < 3; round++) await Promise.all([world.sync.run(), second.sync.run()]);
    await other.stop();
    expect([['of the first'], ['of the second']]).toContainEqual(await names());
  });
});

test('a fetch that is broken off at the end of the process is not held against the hub', async () => {
  const replica = world.aReplica({ hub });
  const { arrived } = holdAnswers();
  const running = replica.sync.run().catch((error: unknown) => error);
  await arrived(1);
  const idle = replica.sync.stop();
  await hub.goAway();
  await idle;
  await hub.comeBack();
  expect(await running).toMatchObject({ code: 'hub_unreachable' });
  expect(await state()).toMatchObject({ stale_since: null });
});
