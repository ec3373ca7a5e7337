import type { StatementQuery } from '@svc/database';
import { type Metrics, observe, processMetrics, sharedRead } from '@svc/http';
import { Counter } from 'prom-client';
import { pendingDeliveries } from './webhooks/table.ts';

const delivered = new Counter({
  name: 'delivery_rows_total',
  help: 'Number of rows that a target has confirmed',
  labelNames: ['delivery'] as const,
  registers: [processMetrics],
});

const failed = new Counter({
  name: 'delivery_failures_total',
  help: 'Number of attempts to deliver that failed',
  labelNames: ['delivery'] as const,
  registers: [processMetrics],
});

/** Starts the counters of a delivery, so that its first failure is an increase. */
export function registerDelivery(delivery: string): void {
  delivered.inc({ delivery }, 0);
  failed.inc({ delivery }, 0);
}

export const countDelivered = (delivery: string, rows: number): void => delivered.inc({ delivery }, rows);
export const countFailure = (delivery: string): void => failed.inc({ delivery });

/** The database is asked at most once in this time, whatever the number of scrapes. */
const READ_MS = 2000;

/** What is observed of a delivery. */
interface Observed {
  readonly name: string;
  /** The age of the oldest row that is not delivered, in seconds; 0 if there is none. */
  lag(): Promise<number>;
}

/** Registers the lag of deliveries, which has no samples without one. */
export function observeDeliveries(metrics: Metrics, deliveries: readonly Observed[]): void {
  const read = sharedRead(READ_MS, () =>
    Promise.all(deliveries.map(async ({ name, lag }) => ({ value: await lag(), labels: { delivery: name } }))),
  );
  const help = 'Age of the oldest row that is not delivered; 0 if there is none';
  observe(metrics, { name: 'delivery_lag_seconds', help, labelNames: ['delivery'] }, read);
}

/** Registers the number of messages that wait for webhooks. */
export function observeWebhooks(metrics: Metrics, query: StatementQuery): void {
  const read = sharedRead(READ_MS, async () => [{ value: await pendingDeliveries(query) }]);
  observe(metrics, { name: 'webhook_messages_pending', help: 'Number of messages that wait for webhooks' }, read);
}
