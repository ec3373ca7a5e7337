// Random histories of updates with the real planner and the real state of a rollout. Each rule is also removed, which must be found.
import { byDepth } from '@svc/testing';
import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import { type Chance, type Given, type Removed, Update, untilEnd } from './model.ts';

const RUNS = byDepth({ short: 40, full: 400, long: 20_000 });

const range = (count: number) => [...Array(count).keys()];
const all = (count: number, body: string) => range(count).map((ordinal) => `${ordinal} ${body} running`);

/** A source of numbers that a seed determines. */
function chanceOf(seed: number): Chance {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const updates = fc.record({
  replicas: fc.integer({ min: 1, max: 4 }),
  extra: fc.boolean(),
  seed: fc.integer({ min: 0, max: 2 ** 31 }),
});

type Drawn = Pick<Given, 'replicas' | 'extra'> & { readonly seed: number };

/** A history in which workers are killed at random. */
function history({ seed, ...given }: Drawn, more: Pick<Given, 'program' | 'oldCrash'>, removed?: Removed): Update {
  const chance = chanceOf(seed);
  const update = new Update({ ...given, ...more }, chance, removed);
  return untilEnd(update, ({ steps }) => (chance(6) === 0 ? steps + 1 + chance(3) : undefined));
}

/** An update that ends in this state with instances of one body; with an extra instance, no fewer serve than before. */
function ends(update: Update, { replicas, extra }: Drawn, state: string, body: 'old' | 'new'): void {
  expect({ state: update.state, containers: update.containers }).toEqual({ state, containers: all(replicas, body) });
  expect(update.fewest).toBeGreaterThanOrEqual(extra ? replicas : replicas - 1);
}

/** A good update succeeds. */
const good = (drawn: Drawn, removed?: Removed): void =>
  ends(history(drawn, { program: 'runs' }, removed), drawn, 'succeeded', 'new');

/** After an update to a program that ends at once, the old generation runs again. */
const broken = (drawn: Drawn, removed?: Removed): void =>
  ends(history(drawn, { program: 'ends' }, removed), drawn, 'rolled_back', 'old');

/** Instances of both generations crash at times: the rollout ends all the same, with the number of replicas. */
function unsteady(drawn: Drawn, removed?: Removed): void {
  const update = history(drawn, { program: 'crashes at times', oldCrash: false }, removed);
  expect(update.containers).toHaveLength(drawn.replicas);
}

test('a good update replaces all instances within its allocation, and interrupts no client', () => {
  assertProperty(
    fc.property(updates, (drawn) => good(drawn)),
    RUNS,
  );
});

test('an update to a program that ends returns to the earlier generation', () => {
  assertProperty(
    fc.property(updates, (drawn) => broken(drawn)),
    RUNS,
  );
});

test('an update to a program that crashes at times ends with the number of replicas', () => {
  assertProperty(
    fc.property(updates, (drawn) => unsteady(drawn)),
    RUNS,
  );
});

/** Old instances that crash during an update to a program that ends are started again, so that none is lost. */
function steadfast(drawn: Drawn, removed?: Removed): void {
  const { replicas, extra, seed } = drawn;
  const update = new Update({ replicas, extra, program: 'ends', oldCrash: true }, chanceOf(seed), removed);
  for (let count = 0; count < 200 && update.state !== 'returning'; count += 1) {
    update.pass();
    const left = update.containers.filter((container) => container.includes('old')).length;
    expect(left).toBeGreaterThanOrEqual(extra ? replicas : replicas - 1);
  }
}

test('an update to a program that ends replaces no old instance that crashes meanwhile', () => {
  assertProperty(
    fc.property(updates, (drawn) => steadfast(drawn)),
    RUNS,
  );
});

test.each<[string, (drawn: Drawn, removed: Removed) => void, Removed]>([
  [
    'the extra instance must be ready before others end',
    good,
    {
      found: (found) => (found.details.State.Running ? { ...found, at: found.at + 3_600_000 } : found),
      rules: (rules) => ({ ...rules, isProven: true }),
    },
  ],
  [
    'addresses are withdrawn before an instance ends',
    good,
    {
      rules: (rules) => ({ ...rules, withdrawn: range(5).map((ordinal) => `web-decade01-${ordinal}`) }),
    },
  ],
  ['an old instance ends before its successor is created', good, { overlaps: true }],
  [
    'the extra instance is removed at the end',
    good,
    {
      steps: (steps) => steps.filter((step) => step.do !== 'remove'),
    },
  ],
  [
    'instances that serve no more are created again',
    good,
    {
      steps: (steps) => steps.filter((step) => step.do !== 'create' || step.replaces !== undefined),
    },
  ],
  ['a new container is started', good, { steps: (steps) => steps.filter((step) => step.do !== 'start') }],
  [
    'each new instance must work before the next one is replaced',
    broken,
    {
      found: (found) => {
        const State = { ...found.details.State, Status: 'running', Running: true };
        return { ...found, at: found.at + 3_600_000, details: { ...found.details, State } };
      },
      rules: (rules) => ({ ...rules, isProven: true }),
    },
  ],
  [
    'an old instance that is down is started as it is',
    steadfast,
    {
      steps: (steps) =>
        steps.map((step) =>
          step.do === 'start' && step.isOutdated
            ? { do: 'create', rendered: step.rendered, replaces: step.found }
            : step,
        ),
    },
  ],
])('the properties do not hold without the rule that %s', (_title, property, removed) => {
  const check = () =>
    assertProperty(
      fc.property(updates, (drawn) => property(drawn, removed)),
      RUNS,
    );
  expect(check).toThrow();
});

test.each(range(3).flatMap((index) => [true, false].map((extra) => [index + 1, extra] as const)))(
  'a worker that is killed before any step of an update of %d replicas (extra: %s) leaves what another one completes',
  (replicas, extra) => {
    const given = { replicas, extra, program: 'runs' as const };
    const { steps, containers } = untilEnd(new Update(given, chanceOf(1)));
    for (const step of range(steps)) {
      const update = new Update(given, chanceOf(1));
      while (update.pass(step + 1) && update.steps < steps); // until the worker is killed
      untilEnd(update);
      expect({ step, state: update.state, containers: update.containers }).toEqual({
        step,
        state: 'succeeded',
        containers,
      });
    }
  },
);

test('a backup that is restored at any time of an update leads to the generation of the backup', () => {
  const given = { replicas: 2, extra: true, program: 'runs' as const };
  for (const passes of range(20)) {
    const update = new Update(given, chanceOf(1));
    for (const _ of range(passes)) update.pass();
    update.restoreBackup();
    expect(untilEnd(update).containers).toEqual(all(2, 'old'));
  }
});
