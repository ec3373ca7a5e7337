import { Counter, Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** A value of a metric. The values of labels must come from fixed sets. */
export interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

interface Observed {
  readonly name: string;
  readonly help: string;
  /** Default: `gauge`. */
  readonly type?: 'gauge' | 'counter';
  readonly labelNames?: readonly string[];
}

/**
 * Registers a metric whose values are read at each scrape. While there are none, the metric has no
 * samples.
 */
export function observe(
  { registry }: Metrics,
  { type = 'gauge', labelNames = [], ...named }: Observed,
  read: () => readonly Sample[] | undefined | Promise<readonly Sample[] | undefined>,
): void {
  const Metric = type === 'gauge' ? Gauge : Counter;
  new Metric({
    ...named,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      const samples = (await read()) ?? [];
      if (labelNames.length === 0) this.remove();
      else this.reset();
      for (const { value, labels = {} } of samples) this.inc(labels, value);
    },
  });
}

/**
 * Shares one read between all metrics and all scrapes of the next `milliseconds`. The result is
 * undefined if the read fails, so that a scrape still returns all other metrics.
 */
export function sharedRead<T>(milliseconds: number, read: () => Promise<T>): () => Promise<T | undefined> {
  let last: { readonly at: number; readonly value: Promise<T | undefined> } | undefined;
  return () => {
    if (!last || performance.now() - last.at > milliseconds) {
      last = { at: performance.now(), value: read().catch(() => undefined) };
    }
    return last.value;
  };
}

/** The state of a pool, as `pg` names it. */
export interface PoolState {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max?: number | undefined };
}

/** Registers the metrics of the pools of database connections, by the names of their purposes. */
export function observePools(metrics: Metrics, pools: Readonly<Record<string, PoolState>>): void {
  observe(
    metrics,
    { name: 'database_pool_connections', help: 'Connections to the database, by state', labelNames: ['pool', 'state'] },
    () =>
      Object.entries(pools).flatMap(([pool, { totalCount, idleCount }]) => [
        { value: idleCount, labels: { pool, state: 'idle' } },
        { value: totalCount - idleCount, labels: { pool, state: 'used' } },
      ]),
  );
  const perPool = (name: string, help: string, figure: (pool: PoolState) => number) =>
    observe(metrics, { name, help, labelNames: ['pool'] }, () =>
      Object.entries(pools).map(([pool, state]) => ({ value: figure(state), labels: { pool } })),
    );
  perPool('database_pool_max_connections', 'Maximum number of connections', ({ options }) => options.max ?? 0);
  perPool('database_pool_waiting', 'Statements that wait for a connection', ({ waitingCount }) => waitingCount);
}

/** The database is asked at most once in this time, whatever the number of scrapes. */
const RESPONSE_MS = 2000;

/**
 * Registers the time that a database needs for `statement`, including the wait for a connection.
 */
export function observeDatabase(metrics: Metrics, statement: () => Promise<unknown>): void {
  const measure = sharedRead(RESPONSE_MS, async () => {
    const started = performance.now();
    await statement();
    return (performance.now() - started) / 1000;
  });
  const help =
    'Time of a minimal statement, including the wait for a connection; missing while the database does not respond';
  observe(metrics, { name: 'database_response_seconds', help }, async () => {
    const value = await measure();
    return value === undefined ? [] : [{ value }];
  });
}
