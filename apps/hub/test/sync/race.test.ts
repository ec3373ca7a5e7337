// Writers and pollers at the same time, with commits that take a random while. RACE_COMMITS=20000 is the long form (2000
// otherwise), RACE_FIGURES=1 prints what happened.
import { type Race, race } from './race.ts';

const COMMITS = Number(process.env.RACE_COMMITS ?? 2000);
const TIME_LIMIT_MS = 60_000 + COMMITS * 60;

const NONE = { since: [], cursor: [] };

async function run(given: Race) {
  const result = await race(given);
  const { lost, polls, listed, seconds } = result;
  if (process.env.RACE_FIGURES) {
    const figures = (['since', 'cursor'] as const).map(
      (by) => `by ${by} ${lost[by].length} of ${listed} lost in ${polls[by]} syncs`,
    );
    const clock = given.naive ?? 'the clock of the catalog';
    process.stderr.write(
      `${given.commits} commits in ${seconds.toFixed(1)} s, ${given.hubs} hub(s), ${clock}${given.pruning ? ', pruned' : ''}: ${figures.join(', ')}\n`,
    );
  }
  return result;
}

test.each([
  { hubs: 2, commits: COMMITS },
  { hubs: 1, commits: Math.ceil(COMMITS / 8) },
])(
  'nothing is lost by who polls while others make $commits commits, with $hubs instance(s) of the hub',
  async (given) => {
    const { lost, stamps } = await run(given);
    expect(lost).toEqual(NONE);
    expect(stamps).toBe(given.commits);
  },
  TIME_LIMIT_MS,
);

test(
  'nothing is lost either while history is forgotten all the time',
  async () => {
    const { lost } = await run({ hubs: 2, commits: Math.ceil(COMMITS / 8), pruning: true });
    expect(lost).toEqual(NONE);
  },
  TIME_LIMIT_MS,
);

test.each(['now()', 'clock_timestamp()'] as const)(
  'the same race loses templates where %s takes the place of the catalog’s clock',
  async (naive) => {
    const { lost } = await run({ hubs: 2, commits: 200, naive });
    expect(lost.since.length).toBeGreaterThan(0);
    expect(lost.cursor.length).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);
