import type { Metrics } from '@svc/http';
import { Gauge } from 'prom-client';
import type { Database } from '../database/client.ts';
import { failureKinds } from './outcome.ts';

interface Figures {
  readonly templates: number;
  readonly age: number | null;
  readonly success: number | null;
  readonly failure: number | null;
  readonly failure_kind: string | null;
  readonly failures: number;
  readonly stale: number;
}

/** The figures of the mirror, read from the database when they are asked for: every replica tells the same. */
export const observeSync =
  (database: Database) =>
  ({ registry }: Metrics): void => {
    const read = oncePerScrape(() => readFigures(database));
    const gauge = (name: string, help: string, figure: (figures: Figures) => number | null) =>
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          const figures = await read();
          const value = figures && figure(figures);
          this.remove();
          if (typeof value === 'number') this.set(value);
        },
      });
    gauge('catalog_mirror_templates', 'Templates in the mirror', ({ templates }) => templates);
    gauge('catalog_sync_age_seconds', 'Seconds since the last good sync', ({ age }) => age);
    gauge('catalog_sync_last_success_timestamp_seconds', 'When the last good sync was', ({ success }) => success);
    gauge('catalog_sync_failures', 'Failed syncs since the last good one', ({ failures }) => failures);
    gauge('catalog_sync_stale', '1 while the last sync was a failure', ({ stale }) => stale);
    new Gauge({
      name: 'catalog_sync_last_failure_timestamp_seconds',
      help: `When the last failed sync was, and why: ${failureKinds.join(', ')}`,
      labelNames: ['kind'],
      registers: [registry],
      async collect() {
        const figures = await read();
        this.reset();
        if (figures?.failure && figures.failure_kind) this.set({ kind: figures.failure_kind }, figures.failure);
      },
    });
  };

const SCRAPE_MS = 500;

/** What is read once for all the gauges of one scrape; undefined while the database is away, which hides no other figure. */
function oncePerScrape<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let last: { readonly at: number; readonly value: Promise<T | undefined> } | undefined;
  return () => {
    if (!last || performance.now() - last.at > SCRAPE_MS) {
      last = { at: performance.now(), value: read().catch(() => undefined) };
    }
    return last.value;
  };
}

async function readFigures({ client }: Database): Promise<Figures | undefined> {
  const [figures] = await client.$queryRaw<Figures[]>`
    SELECT (SELECT count(*)::int FROM catalog_templates) AS templates,
           extract(epoch FROM now() - last_success_at)::float8 AS age,
           extract(epoch FROM last_success_at)::float8 AS success,
           extract(epoch FROM last_failure_at)::float8 AS failure,
           failure_kind, failures, (stale_since IS NOT NULL)::int AS stale
    FROM catalog_sync`;
  return figures;
}
