import { type Metrics, observe, sharedRead } from '@svc/http';
import type { Database } from '../database/client.ts';

/** The sources are counted at most once in this time, in milliseconds, whatever the number of scrapes. */
const READ_MS = 2000;

const states = ['ok', 'failing', 'disabled'] as const;

/** Registers the number of sources by their state. */
export function observeSources(metrics: Metrics, { client }: Database): void {
  const read = sharedRead(READ_MS, async () => {
    const rows = await client.$queryRaw<{ state: string; count: number }[]>`
      SELECT CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN failures > 0 THEN 'failing' ELSE 'ok' END AS state,
        count(*)::int AS count FROM sources GROUP BY 1`;
    return states.map((state) => ({ value: rows.find((row) => row.state === state)?.count ?? 0, labels: { state } }));
  });
  observe(metrics, { name: 'fleet_sources', help: 'Sources of files by their state', labelNames: ['state'] }, read);
}
