// Concurrent writers and pollers, with commits of random duration.
import { byDepth, figure, LONG_TEST_MS } from '@svc/testing';
import { objectKinds } from '../objects.ts';
import { type Race, race } from './race.ts';

const COMMITS = byDepth({ short: 40, full: 2000, long: 20_000 });
const FEWER_COMMITS = byDepth({ short: 16, full: 250, long: 2500 });
const NAIVE_COMMITS = byDepth({ short: 24, full: 200, long: 200 });
/** A naive clock does not lose an object in every race. */
const MAX_NAIVE_RACES = 5;

const NONE = { since: [], cursor: [] };

async function run(given: Race) {
  const result = await race(given);
  const { lost, polls, listed, seconds } = result;
  const losses = (['since', 'cursor'] as const).map(
    (by) => `by ${by} ${lost[by].length} of ${listed} lost in ${polls[by]} syncs`,
  );
  const clock = given.naive ?? 'the catalog clock';
  figure(
    `${given.commits} commits of ${given.of} in ${seconds.toFixed(1)} s, ${given.hubs} hub(s), ${clock}${given.pruning ? ', pruned' : ''}: ${losses.join(', ')}`,
  );
  return result;
}

test.each([
  { of: 'templates', hubs: 2, commits: COMMITS },
  { of: 'templates', hubs: 1, commits: FEWER_COMMITS },
  { of: 'applications', hubs: 2, commits: FEWER_COMMITS },
] as const)(
  'pollers lose no $of during $commits commits through $hubs instance(s) of the hub',
  async (given) => {
    const { lost, stamps } = await run(given);
    expect(lost).toEqual(NONE);
    expect(stamps).toBe(given.commits);
  },
  LONG_TEST_MS,
);

test.each(objectKinds)(
  'pollers lose no %s while the history is pruned continuously',
  async (of) => {
    const { lost } = await run({ of, hubs: 2, commits: FEWER_COMMITS, pruning: true });
    expect(lost).toEqual(NONE);
  },
  LONG_TEST_MS,
);

test.each([
  ['templates', 'now()'],
  ['templates', 'clock_timestamp()'],
  ['applications', 'clock_timestamp()'],
] as const)(
  'the same race loses %s if %s replaces the catalog clock',
  async (of, naive) => {
    const lost = { since: 0, cursor: 0 };
    for (let races = 0; races < MAX_NAIVE_RACES && (lost.since === 0 || lost.cursor === 0); races++) {
      const result = await run({ of, hubs: 2, commits: NAIVE_COMMITS, naive });
      lost.since += result.lost.since.length;
      lost.cursor += result.lost.cursor.length;
    }
    expect(lost.since).toBeGreaterThan(0);
    expect(lost.cursor).toBeGreaterThan(0);
  },
  LONG_TEST_MS,
);
