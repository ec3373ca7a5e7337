import { randomUUID } from 'node:crypto';
import { byDepth, depth, seed } from '@svc/testing';
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
import { type Random, randomFrom } from '../random.ts';
import { startWorld } from '../world.ts';

const HISTORIES = byDepth({ short: 1, full: 3, long: 20 });
const STEPS = 40;

const hub = await startFakeHub();
const world = await startWorld({ hub });
const mirror = mirrorIn((sql) => world.database.client.$queryRawUnsafe(sql));
const replicas = [world.sync, world.aReplica({ hub }).sync, world.aReplica({ hub }).sync];
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

/** Changes the catalog of the hub. */
function write({ below, isOneIn, oneOf }: Random, backups: ReturnType<typeof hub.now>[]): void {
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

/**
 * Lets the catalog of the hub change and its requests fail during a sync. @returns a function for
 * the ids that were visible throughout
 */
function changeDuringSync(random: Random, backups: ReturnType<typeof hub.now>[]) {
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

test.each(Array.from({ length: HISTORIES }, (_, index) => seed + index))(
  `with seed %d, the mirror loses no template that the hub keeps, and reaches the state of the hub (depth ${depth})`,
  async (historySeed) => {
    const random = randomFrom(historySeed);
    const backups: ReturnType<typeof hub.now>[] = [];
    hub.reset();
    await mirror.forget();
    for (let step = 0; step < STEPS; step++) {
      hub.setPageSize(1 + random.below(4));
      for (let writes = random.below(4); writes > 0; writes--) write(random, backups);
      const before = await mirror.ids();
      const shownThroughout = changeDuringSync(random, backups);
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
        return replica.run(); // an empty catalog must be read twice before the mirror is emptied
      });
      await mirror.expectLike(hub);
    }
  },
);
