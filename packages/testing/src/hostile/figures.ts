import type { WireAnswer } from './wire.ts';

/** Counts answers by status, in rows. */
export function createFigures() {
  const rows = new Map<string, Map<string, number>>();
  let row = new Map<string, number>();
  return {
    /** What is counted from now on goes into this row. */
    begin: (title: string) => {
      row = new Map();
      rows.set(title, row);
    },
    count: (answer: WireAnswer | undefined) => {
      const outcome = answer ? `${answer.status}` : 'none';
      row.set(outcome, (row.get(outcome) ?? 0) + 1);
    },
    /** Answers of success in the present row. */
    successes: () => [...row].reduce((sum, [outcome, count]) => (outcome.startsWith('2') ? sum + count : sum), 0),
    /** A line for each row. */
    shown: () => [...rows].map(([title, counts]) => `${title}: ${shownCounts(counts)}`).join('\n'),
  };
}

function shownCounts(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const each = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([outcome, count]) => `${outcome} ${count}x`);
  return `${total} (${each.join(', ')})`;
}
