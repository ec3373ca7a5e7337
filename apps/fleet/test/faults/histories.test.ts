// Random histories that a number makes: FAULT_ROUNDS=20 tries as many (3 by default).
import { randomUUID } from 'node:crypto';
import { aTemplate } from '../a-template.ts';
import { mirrorIn } from '../catalog/mirror.ts';
import {
  aCategory,
  answerWell,
  type Behaviour,
  breakOff,
  calls,
  closeConnection,
  refuse,
  startFakeHub,
} from '../fake-hub.ts';
import { startWorld } from '../world.ts';

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? '3');
const STEPS = 40;

const hub = await startFakeHub();
const world = await startWorld({ hub });
const mirror = mirrorIn((sql) => world.database.client.$queryRawUnsafe(sql));
const replicas = [world.sync, world.aReplica({ hub }).sync, world.aReplica({ hub }).sync];
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

/** Numbers that look random and are the same each time (mulberry32). */
function dice(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** From 0, below that. */
    below: (limit: number) => Math.floor(next() * limit),
    isOneIn: (count: number) => next() * count < 1,
    oneOf: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T, // there is one
  };
}

type Dice = ReturnType<typeof dice>;

/** Something that happens to the hub's catalog. */
function write({ below, isOneIn, oneOf }: Dice, backups: ReturnType<typeof hub.now>[]): void {
  const shown = hub.shown();
  if (isOneIn(8)) backups.push(hub.now());
  if (isOneIn(12) && backups.length > 0) hub.restore(oneOf(backups));
  else if (isOneIn(20)) hub.changeOrganization({ id: randomUUID() });
  else if (isOneIn(5)) hub.setCategories(...Array.from({ length: below(4) }, () => aCategory()));
  else if (isOneIn(3) && shown.length > 3) hub.withdraw(oneOf(shown), oneOf(shown));
  else if (isOneIn(2) && shown.length > 0) hub.publish({ ...oneOf(shown), name: `renamed ${below(1000)}` });
  else hub.publish(...Array.from({ length: 1 + below(3) }, () => aTemplate()));
}

const failures: readonly Behaviour[] = [
  refuse('unavailable'),
  refuse('validation_failed'),
  refuse('invalid_token'),
  closeConnection,
  breakOff,
];

/** What the hub does while a sync runs: it is written to now and then, and may fail. Tells what it showed all the time. */
function liveThrough(random: Dice, backups: ReturnType<typeof hub.now>[]) {
  const failAt = random.isOneIn(2) ? random.below(12) : Number.POSITIVE_INFINITY;
  let always = new Set(hub.shown().map(({ id }) => id));
  let requests = 0;
  const behaviour: Behaviour = async (exchange) => {
    if (random.isOneIn(3)) write(random, backups);
    const shown = new Set(hub.shown().map(({ id }) => id));
    always = new Set([...always].filter((id) => shown.has(id)));
    await (requests++ === failAt ? random.oneOf(failures) : answerWell)(exchange);
  };
  for (const call of calls) hub.behave(behaviour, call);
  return () => always;
}

test.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))(
  'in history %d the mirror lacks nothing that it had and the hub went on showing, and becomes what the hub shows',
  async (seed) => {
    const random = dice(seed);
    const backups: ReturnType<typeof hub.now>[] = [];
    hub.reset();
    await mirror.forget();
    for (let step = 0; step < STEPS; step++) {
      hub.setPageSize(1 + random.below(4));
      for (let writes = random.below(4); writes > 0; writes--) write(random, backups);
      const before = await mirror.ids();
      const shownThroughout = liveThrough(random, backups);
      const synced = await random
        .oneOf(replicas)
        .run({ full: random.isOneIn(6) })
        .then(
          () => true,
          () => false,
        );
      const after = await mirror.ids();
      expect(before.filter((id) => shownThroughout().has(id) && !after.includes(id))).toEqual([]);
      hub.recover();
      if (!synced && random.isOneIn(2)) continue;
      const replica = random.oneOf(replicas);
      await replica.run().catch((error: unknown) => {
        if (hub.shown().length > 0) throw error;
        return replica.run(); // a hub that is empty says so twice
      });
      await mirror.expectLike(hub);
    }
  },
  120_000,
);
