import type { WireResponse } from './wire.ts';

/** Counts responses by status, in rows. */
export function createFigures() {
  const rows = new Map<string, Map<string, number>>();
  let row = new Map<string, number>();
  return {
    /** Starts a row. */
    begin: (title: string) => {
      row = new Map();
      rows.set(title, row);
    },
    count: (response: WireResponse | undefined) => {
      const outcome = response ? `${response.status}` : 'none';
      row.set(outcome, (row.get(outcome) ?? 0) + 1);
    },
    /** The number of successful responses in the current row. */
    successes: () => [...row].reduce((sum, [outcome, count]) => (outcome.startsWith('2') ? sum + count : sum), 0),
    /** One line per row. */
    shown: () => [...rows].map(([title, counts]) => `${title}: ${shownCounts(counts)}`).join('\n'),
  };
}

function shownCounts(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const each = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([outcome, count]) => `${outcome} ${count}x`);
  return `${total} (${each.join(', ')})`;
}
