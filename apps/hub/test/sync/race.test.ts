// Concurrent writers and pollers, with commits of random duration.
import { byDepth, figure, LONG_TEST_MS } from '@svc/testing';
import { type Race, race } from './race.ts';

const COMMITS = byDepth({ short: 40, full: 2000, long: 20_000 });
const FEWER_COMMITS = byDepth({ short: 16, full: 250, long: 2500 });
const NAIVE_COMMITS = byDepth({ short: 24, full: 200, long: 200 });
/** A naive clock does not lose a template in every race. */
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
    `${given.commits} commits in ${seconds.toFixed(1)} s, ${given.hubs} hub(s), ${clock}${given.pruning ? ', pruned' : ''}: ${losses.join(', ')}`,
  );
  return result;
}

test.each([
  { hubs: 2, commits: COMMITS },
  { hubs: 1, commits: FEWER_COMMITS },
])(
  'pollers lose nothing during $commits commits through $hubs instance(s) of the hub',
  async (given) => {
    const { lost, stamps } = await run(given);
    expect(lost).toEqual(NONE);
    expect(stamps).toBe(given.commits);
  },
  LONG_TEST_MS,
);

test(
  'pollers lose nothing while the history is pruned continuously',
  async () => {
    const { lost } = await run({ hubs: 2, commits: FEWER_COMMITS, pruning: true });
    expect(lost).toEqual(NONE);
  },
  LONG_TEST_MS,
);

test.each(['now()', 'clock_timestamp()'] as const)(
  'the same race loses templates if %s replaces the catalog clock',
  async (naive) => {
    const lost = { since: 0, cursor: 0 };
    for (let races = 0; races < MAX_NAIVE_RACES && (lost.since === 0 || lost.cursor === 0); races++) {
      const result = await run({ hubs: 2, commits: NAIVE_COMMITS, naive });
      lost.since += result.lost.since.length;
      lost.cursor += result.lost.cursor.length;
    }
    expect(lost.since).toBeGreaterThan(0);
    expect(lost.cursor).toBeGreaterThan(0);
  },
  LONG_TEST_MS,
);
