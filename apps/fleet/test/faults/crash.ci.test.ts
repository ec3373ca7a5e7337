import { setTimeout as pause } from 'node:timers/promises';
import { byDepth, figure, seed } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { aCategory, answerWell, type Behaviour, calls } from '../fake-hub.ts';
import { randomFrom } from '../random.ts';
import { startFaultWorld } from './world.ts';

const ROUNDS = byDepth({ short: 1, full: 3, long: 20 });
const { next, below, some } = randomFrom(seed);
const TEMPLATES = 60;
const PAGE_SIZE = 4;
/** The approximate number of requests of a sync. */
const REQUESTS = 2 + TEMPLATES / PAGE_SIZE;
/** The approximate time between two requests. */
const STEP_MS = 15;

const { hub, mirror, query, aReplica, stop } = await startFaultWorld();
hub.setPageSize(PAGE_SIZE);
afterAll(stop);

/** Adds, changes and withdraws templates, and changes the categories. */
function changeCatalog(round: number) {
  const old = hub.shown();
  hub.withdraw(...some(old, 0.2));
  const changed = some(hub.shown(), 0.7).map((template) => ({ ...template, name: `round ${round} ${template.slug}` }));
  const missing = TEMPLATES - hub.shown().length;
  hub.publish(...changed, ...Array.from({ length: missing }, () => aTemplate()));
  hub.setCategories(aCategory(), aCategory({ name: `round ${round}` }));
}

/** Resolves shortly after the request to the hub with the given number. */
function shortlyAfter(request: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    const count: Behaviour = async (exchange) => {
      if (++seen === request) void pause(next() * STEP_MS).then(resolve);
      await answerWell(exchange);
    };
    for (const call of calls) hub.behave(count, call);
  });
}

test(
  `a fleet process that is killed at any point of a sync loses nothing, and the next sync completes the mirror (rounds: ${ROUNDS}, seed ${seed})`,
  async () => {
    changeCatalog(0);
    let fleet = await aReplica();
    expect((await fleet.sync()).status).toBe(200);
    const backup = hub.now();
    const requestCounts: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const before = await mirror.ids();
      if (round % 5 === 0) hub.restore(backup);
      changeCatalog(round);
      hub.requests.splice(0);
      const killed = shortlyAfter(1 + below(REQUESTS));
      const interrupted = fleet.sync({ full: round % 2 === 0 }).catch(() => undefined);
      await Promise.race([killed, interrupted]);
      await fleet.kill();
      await interrupted;
      requestCounts.push(hub.requests.length);
      hub.recover();

      const after = await mirror.ids();
      const shown = hub.shown().map(({ id }) => id);
      expect(before.filter((id) => shown.includes(id) && !after.includes(id))).toEqual([]);

      fleet = await aReplica();
      // Replicas.full.test.ts tests that the lease expires.
      await query('UPDATE catalog_sync SET lease_until = now()');
      expect((await fleet.sync()).status).toBe(200);
      await mirror.expectLike(hub);
    }
    figure(`fleet killed ${ROUNDS} times, after these numbers of requests of a sync: ${requestCounts.join(' ')}`);
  },
  30_000 + ROUNDS * 10_000,
);
