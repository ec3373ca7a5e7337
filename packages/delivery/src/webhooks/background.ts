import type { Sealer, StatementQuery } from '@svc/database';
import { type Log, type Outbound, type PeriodicTask, runPeriodically } from '@svc/http';
import { z } from 'zod';
import { rowsOf } from './rows.ts';
import { openSecrets } from './secrets.ts';
import { createSender, type SenderTimings } from './sender.ts';
import { pruneDeliveries } from './upkeep.ts';

/** The timings of production apply unless given. */
export interface WebhookTimings {
  readonly sender?: Partial<SenderTimings>;
  /** Milliseconds between two runs of the upkeep. */
  readonly upkeep?: number;
}

interface Options {
  /** Runs statements on the database of the service. */
  readonly query: StatementQuery;
  /** Undefined: the service has no keys, so that nothing is sent. The messages wait. */
  readonly sealer: Sealer | undefined;
  /** A client with `WEBHOOK_LIMITS` that refuses targets which are not allowed. */
  readonly outbound: Pick<Outbound, 'send'>;
  readonly log: Log;
  /** Whether the creator of a webhook may read what it reports, now. */
  readonly mayRead: (webhookId: string) => Promise<boolean>;
  /** Disables a webhook as `disableWebhook` does, and records that. */
  readonly disable: (webhookId: string, reason: string) => Promise<unknown>;
  /** What the service does once a minute in addition. */
  readonly upkeep?: () => Promise<unknown>;
  readonly timings?: WebhookTimings | undefined;
}

/** The background work of webhooks in a process. */
export interface WebhookSending {
  start(): void;
  /** Looks for deliveries at once. */
  wake(): void;
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;

/** Sends the messages that are stored, and keeps the deliveries within their bounds. All replicas do both. */
export function createWebhookSending({ query, sealer, outbound, log, mayRead, ...options }: Options): WebhookSending {
  const { upkeep = MINUTE_MS, sender: timings } = options.timings ?? {};
  const disable = async (id: string, reason: string) => {
    log.warn({ webhook: id, reason }, 'a webhook was disabled');
    await options.disable(id, reason);
  };
  const sender =
    sealer &&
    createSender({
      query,
      outbound,
      log,
      timings,
      secretsFor: async ({ webhook_id }) =>
        (await mayRead(webhook_id)) ? validSecrets(query, sealer, webhook_id) : undefined,
      disable: (id, reason) => disable(id, `The last attempt failed. ${reason}`),
    });
  let task: PeriodicTask | undefined;
  return {
    start: () => {
      sender?.start();
      task ??= runPeriodically(Math.random() * upkeep, async (ending) => {
        try {
          await options.upkeep?.();
          await pruneDeliveries({ query, disable }, ending);
        } catch (error) {
          log.warn({ err: error }, 'the upkeep of webhooks failed; will retry');
        }
        return upkeep;
      });
    },
    wake: () => sender?.wake(),
    stop: async () => {
      await Promise.all([sender?.stop(), task?.stop()]);
    },
  };
}

const stored = z.object({ id: z.string(), sealed: z.string(), has_previous: z.boolean() });

/** The secrets that sign messages now; undefined if the webhook was deleted. */
async function validSecrets(query: StatementQuery, sealer: Sealer, id: string): Promise<readonly string[] | undefined> {
  const [row] = await rowsOf(
    query,
    stored,
    'SELECT id, sealed, coalesce(previous_until > now(), false) AS has_previous FROM webhooks WHERE id = $1::uuid',
    id,
  );
  if (!row) return undefined;
  const { current, previous } = await openSecrets(sealer, row);
  return row.has_previous && previous !== null ? [current, previous] : [current];
}
