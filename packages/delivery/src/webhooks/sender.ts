import { randomUUID } from 'node:crypto';
import type { StatementQuery } from '@svc/database';
import { failedConnection, type Log, type Outbound, runPeriodically, type WakeableTask } from '@svc/http';
import { countDelivered, countFailure, registerDelivery } from '../metrics.ts';
import { signedHeaders } from './signature.ts';
import { type DeliveryTable, type DueDelivery, deliveryTable } from './table.ts';

const NAME = 'webhooks';

/** Times in milliseconds. */
export interface SenderTimings {
  /** The wait between two looks for deliveries that are due. */
  readonly poll: number;
  /** How long a claim lasts. It is longer than an attempt. */
  readonly lease: number;
  /** The waits after failed attempts. After the attempt that follows the last one, there is no further one. */
  readonly retries: readonly number[];
}

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];

const TIMINGS: SenderTimings = {
  poll: SECOND,
  lease: 30 * SECOND,
  retries: [5 * SECOND, 30 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 24 * HOUR],
};

/** The time limit of an attempt, and the most that is read of its response. */
export const WEBHOOK_LIMITS = { destination: 'webhook', timeoutMs: 10_000, maxBytes: 1024 * 1024 } as const;

/** The attempts of a process at the same time. */
const CONCURRENCY = 4;

interface SenderOptions {
  /** Runs statements on the database of the service. */
  readonly query: StatementQuery;
  /** A client with `WEBHOOK_LIMITS` that refuses targets which are not allowed. */
  readonly outbound: Pick<Outbound, 'send'>;
  /** The valid signing secrets of a webhook, the newest first; undefined if its creator must not read the event now. */
  readonly secretsFor: (delivery: Pick<DueDelivery, 'webhook_id' | 'event'>) => Promise<readonly string[] | undefined>;
  /** Disables a webhook. */
  readonly disable: (webhookId: string, reason: string) => Promise<void>;
  readonly log: Log;
  /** The timings of production apply unless given. */
  readonly timings?: Partial<SenderTimings> | undefined;
}

export interface Sender {
  start(): void;
  /** Looks for deliveries at once. */
  wake(): void;
  /** Waits for the attempts in progress. */
  stop(): Promise<void>;
}

interface Answer {
  /** The status of a response; null: there was none. */
  readonly status: number | null;
  readonly reason: string;
}

/** The receiver wants no more messages. */
const GONE = 410;

/**
 * Sends the messages of the table `webhook_deliveries`: each at least once, and those about an object in their order, except
 * that a message can be sent again after a failure, with the same id. All replicas send.
 */
export function createSender({ query, outbound, log, ...options }: SenderOptions): Sender {
  const timings = { ...TIMINGS, ...options.timings };
  const table: DeliveryTable = deliveryTable(query, randomUUID());
  const attempts = new Set<Promise<void>>();
  registerDelivery(NAME);

  const call = async (delivery: DueDelivery, secrets: readonly string[]): Promise<Answer> => {
    const { message_id: id, body } = delivery;
    try {
      const url = new URL(delivery.url);
      const { status } = await outbound.send({
        method: 'POST',
        url,
        headers: signedHeaders({ id, body }, secrets),
        body,
      });
      return { status, reason: `It answered with the status ${status}.` };
    } catch (error) {
      return { status: null, reason: failedConnection('the receiver', error).text };
    }
  };
  const attempt = async (delivery: DueDelivery): Promise<void> => {
    const secrets = await options.secretsFor(delivery);
    if (secrets === undefined) return table.withheld(delivery);
    const { status, reason } = await call(delivery, secrets);
    if (status !== null && status >= 200 && status < 300) {
      await table.delivered(delivery, status);
      return countDelivered(NAME, 1);
    }
    countFailure(NAME);
    const { webhook_id: webhook, message_id: message, failures } = delivery;
    log.warn({ webhook, message, status, reason, failures: failures + 1 }, 'delivery to a webhook failed');
    const pause = timings.retries[failures];
    const retry = timings.retries[delivery.attempts];
    const isOver = pause === undefined || status === GONE;
    // Before the message is due again, which it is as soon as somebody enables the webhook.
    if (isOver) await options.disable(webhook, reason);
    const retrySeconds = isOver ? 0 : retry === undefined ? undefined : retry / 1000;
    await table.failed(delivery, { status, reason, retrySeconds, pauseSeconds: isOver ? 0 : pause / 1000 });
  };
  const begin = (delivery: DueDelivery) => {
    const running = attempt(delivery)
      .catch((error: unknown) => log.warn({ err: error }, 'sending to a webhook failed; will retry'))
      .finally(() => {
        attempts.delete(running);
        task?.wake();
      });
    attempts.add(running);
  };
  const round = async (): Promise<number> => {
    try {
      const free = CONCURRENCY - attempts.size;
      if (free > 0) for (const delivery of await table.claim(free, timings.lease / 1000)) begin(delivery);
    } catch (error) {
      log.warn({ err: error }, 'looking for deliveries to webhooks failed; will retry');
    }
    return timings.poll;
  };
  let task: WakeableTask | undefined;
  return {
    start: () => {
      task ??= runPeriodically(0, round);
    },
    wake: () => task?.wake(),
    stop: async () => {
      await task?.stop();
      await Promise.all(attempts);
      await table.release().catch(() => undefined); // the leases expire
    },
  };
}
