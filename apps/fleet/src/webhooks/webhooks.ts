import {
  createDelivery,
  createSender,
  type Delivery,
  type DeliveryTimings,
  type Sender,
  type SenderTimings,
} from '@svc/delivery';
import { type Log, type Outbound, type PeriodicTask, runPeriodically } from '@svc/http';
import { auditQueryOf } from '../audit/entries.ts';
import type { Database } from '../database/client.ts';
import type { Sealer } from '../database/sealing.ts';
import { problemRecord } from '../events/record.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { hasPresentRole } from '../identity/authority.ts';
import type { Settings } from '../settings/settings.ts';
import { deliveryStore, recordedEvents } from './following.ts';
import { openSecrets } from './secrets.ts';
import { noticeUpdates } from './updates.ts';

/** The timings of production apply unless given. */
export interface WebhookTimings {
  readonly delivery?: Partial<DeliveryTimings>;
  readonly sender?: Partial<SenderTimings>;
  /** Milliseconds between two looks for updates, and for deliveries beyond the bounds. */
  readonly upkeep?: number;
}

interface Options {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly settings: Settings;
  readonly publicUrl: string | undefined;
  readonly log: Log;
  /** A client with `WEBHOOK_LIMITS` that refuses targets which are not allowed. */
  readonly outbound: Pick<Outbound, 'send'>;
  readonly timings?: WebhookTimings | undefined;
}

interface Webhooks {
  /** Stores the messages about recorded events. */
  readonly following: Delivery;
  readonly sender: Sender;
  start(): void;
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;

/** The background work of webhooks: one replica stores messages, and all of them send. */
export function createWebhooks({
  database,
  sealer,
  settings,
  publicUrl,
  log,
  outbound,
  timings = {},
}: Options): Webhooks {
  const query = auditQueryOf(database);
  const sender = createSender({
    query,
    outbound,
    log,
    timings: timings.sender,
    secretsFor: ({ webhook_id }) => validSecrets({ database, sealer, settings }, webhook_id),
    disable: async (id, reason) => {
      log.warn({ webhook: id, reason }, 'a webhook was disabled');
      await disableWebhook(database.client, id, `The last attempt failed. ${reason}`);
    },
  });
  const following = createDelivery({
    name: 'webhooks',
    source: recordedEvents(database),
    target: deliveryStore({ database, publicUrl, onStored: sender.wake }),
    query,
    log,
    timings: timings.delivery,
  });
  const { upkeep = MINUTE_MS } = timings;
  let task: PeriodicTask | undefined;
  return {
    following,
    sender,
    start: () => {
      following.start();
      sender.start();
      task ??= runPeriodically(Math.random() * upkeep, async (ending) => {
        try {
          await noticeUpdates(database);
          await pruneDeliveries(database, ending);
        } catch (error) {
          log.warn({ err: error }, 'the upkeep of webhooks failed; will retry');
        }
        return upkeep;
      });
    },
    stop: async () => {
      await Promise.all([following.stop(), sender.stop(), task?.stop()]);
    },
  };
}

type Client = Pick<Prisma.TransactionClient, '$queryRaw' | '$executeRaw'>;

/** Disables a webhook, and records that as a problem. What waits is kept until somebody enables it. */
const disableWebhook = (client: Client, id: string, reason: string) => client.$queryRaw`
  WITH updated AS (
    UPDATE webhooks SET disabled_at = now(), disabled_reason = ${reason} WHERE id = ${id}::uuid AND disabled_at IS NULL
    RETURNING id, name),
  ${problemRecord({ kind: 'catalog', reason: 'WebhookDisabled', message: `The webhook was disabled. ${reason}` })}
  SELECT count(*)::int AS count FROM recorded`;

/** The secrets that sign messages now; undefined if the creator may not read the objects of the fleet. */
async function validSecrets(
  { database, sealer, settings }: Pick<Options, 'database' | 'sealer' | 'settings'>,
  id: string,
): Promise<readonly string[] | undefined> {
  const { client } = database;
  const [row] = await client.$queryRaw<Stored[]>`
    SELECT id, sealed, created_by_user, created_by_token, coalesce(previous_until > now(), false) AS has_previous
    FROM webhooks WHERE id = ${id}::uuid`;
  if (!row || !(await hasPresentRole(client, row, { role: 'viewer', settings }))) return undefined;
  const { current, previous } = await openSecrets(sealer, row);
  return row.has_previous && previous !== null ? [current, previous] : [current];
}

interface Stored {
  readonly id: string;
  readonly sealed: string;
  readonly created_by_user: string | null;
  readonly created_by_token: string | null;
  readonly has_previous: boolean;
}

/** The bounds of the deliveries of a webhook. */
const MAX_ROWS = 10_000;
const MAX_AGE_DAYS = 7;
/** The maximum number of rows per statement. */
const BATCH = 2000;

/** Deletes deliveries beyond the bounds, and disables webhooks for which more than that wait. @returns the number of deleted rows */
export async function pruneDeliveries({ client }: Database, ending: AbortSignal, maxRows = MAX_ROWS): Promise<number> {
  const webhooks = await client.$queryRaw<{ id: string; oldest: bigint | null; isFull: boolean }[]>`
    SELECT w.id, (SELECT d.seq FROM webhook_deliveries d WHERE d.webhook_id = w.id ORDER BY d.seq DESC OFFSET ${maxRows} LIMIT 1) AS oldest,
      w.disabled_at IS NULL AND EXISTS (
        SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending' OFFSET ${maxRows}) AS "isFull"
    FROM webhooks w`;
  let rows = 0;
  for (const { id, oldest, isFull } of webhooks) {
    if (isFull) await disableWebhook(client, id, `More than ${maxRows} messages wait for it.`);
    for (let batch = BATCH; batch === BATCH && !ending.aborted; rows += batch) {
      batch = await client.$executeRaw`
        DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
          SELECT id FROM webhook_deliveries WHERE webhook_id = ${id}::uuid
            AND (seq <= ${oldest ?? 0n} OR created_at < now() - make_interval(days => ${MAX_AGE_DAYS}))
            AND (lease_until IS NULL OR lease_until < now()) AND (state <> 'pending' OR created_at < now() - make_interval(days => ${MAX_AGE_DAYS}))
          ORDER BY seq LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`;
    }
  }
  return rows;
}
