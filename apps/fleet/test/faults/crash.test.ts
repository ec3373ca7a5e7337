// The long form: FAULT_ROUNDS=20 (3 by default). FAULT_FIGURES=1 prints what was measured.
import { setTimeout as pause } from 'node:timers/promises';
import { figure } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { aCategory, answerWell, type Behaviour, calls } from '../fake-hub.ts';
import { startFaultWorld } from './world.ts';

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? '3');
const TEMPLATES = 60;
const PAGE_SIZE = 4;
/** Of one sync, about. */
const REQUESTS = 2 + TEMPLATES / PAGE_SIZE;
/** What the fleet does between two requests takes about as long. */
const STEP_MS = 15;

const { hub, mirror, query, aReplica, stop } = await startFaultWorld();
hub.setPageSize(PAGE_SIZE);
afterAll(stop);

const some = <T>(items: readonly T[], share: number) => items.filter(() => Math.random() < share);

/** Something new, something changed, something gone, other categories. */
function changeMuch(round: number) {
  const old = hub.shown();
  hub.withdraw(...some(old, 0.2));
  const changed = some(hub.shown(), 0.7).map((template) => ({ ...template, name: `round ${round} ${template.slug}` }));
  const missing = TEMPLATES - hub.shown().length;
  hub.publish(...changed, ...Array.from({ length: missing }, () => aTemplate()));
  hub.setCategories(aCategory(), aCategory({ name: `round ${round}` }));
}

/** Resolves a moment after the hub's request with that number, of whatever kind. */
function somewhereAfter(request: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    const count: Behaviour = async (exchange) => {
      if (++seen === request) void pause(Math.random() * STEP_MS).then(resolve);
      await answerWell(exchange);
    };
    for (const call of calls) hub.behave(count, call);
  });
}

test(
  `${ROUNDS} fleets are killed somewhere in a sync: the mirror lacks nothing that it had and the hub shows, and the next one brings all`,
  async () => {
    changeMuch(0);
    let fleet = await aReplica();
    expect((await fleet.sync()).status).toBe(200);
    const backup = hub.now();
    const gotTo: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const before = await mirror.ids();
      if (round % 5 === 0) hub.restore(backup);
      changeMuch(round);
      hub.requests.splice(0);
      const killed = somewhereAfter(1 + Math.floor(Math.random() * REQUESTS));
      const interrupted = fleet.sync({ full: round % 2 === 0 }).catch(() => undefined);
      await Promise.race([killed, interrupted]);
      await fleet.kill();
      await interrupted;
      gotTo.push(hub.requests.length);
      hub.recover();

      const after = await mirror.ids();
      const shown = hub.shown().map(({ id }) => id);
      expect(before.filter((id) => shown.includes(id) && !after.includes(id))).toEqual([]);

      fleet = await aReplica();
      await query('UPDATE catalog_sync SET lease_until = now()'); // its end is waited for elsewhere
      expect((await fleet.sync()).status).toBe(200);
      await mirror.expectLike(hub);
    }
    figure(`kill -9 of the fleet, ${ROUNDS} times, after so many requests of a sync: ${gotTo.join(' ')}`);
  },
  30_000 + ROUNDS * 10_000,
);
