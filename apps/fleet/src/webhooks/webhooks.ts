import { type Sealer, statementsOf } from '@svc/database';
import {
  createDelivery,
  createWebhookSending,
  type Delivery,
  type DeliveryTimings,
  disableWebhook,
  type WebhookTimings as SendingTimings,
  type WebhookSending,
} from '@svc/delivery';
import type { Log, Outbound } from '@svc/http';
import { auditQueryOf } from '../audit/entries.ts';
import type { Database } from '../database/client.ts';
import { problemRecord } from '../events/record.ts';
import { hasPresentRole, type RecordedCreator } from '../identity/authority.ts';
import type { Settings } from '../settings/settings.ts';
import { deliveryStore, recordedEvents } from './following.ts';
import { noticeUpdates } from './updates.ts';

/** The timings of production apply unless given. */
export interface WebhookTimings extends SendingTimings {
  readonly delivery?: Partial<DeliveryTimings>;
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

interface Webhooks extends Pick<WebhookSending, 'start' | 'stop'> {
  /** Stores the messages about recorded events. */
  readonly following: Delivery;
}

/** The background work of webhooks: one replica stores messages, and all of them send. */
export function createWebhooks(options: Options): Webhooks {
  const { database, sealer, settings, publicUrl, log, outbound, timings = {} } = options;
  const query = auditQueryOf(database);
  const sending = createWebhookSending({
    query,
    sealer,
    outbound,
    log,
    timings,
    mayRead: (id) => mayRead(database, settings, id),
    disable: (id, reason) => disableAndRecord(database, id, reason),
    upkeep: () => noticeUpdates(database),
  });
  const following = createDelivery({
    name: 'webhooks',
    source: recordedEvents(database),
    target: deliveryStore({ database, publicUrl, onStored: sending.wake }),
    query,
    log,
    timings: timings.delivery,
  });
  return {
    following,
    start: () => {
      following.start();
      sending.start();
    },
    stop: async () => {
      await Promise.all([following.stop(), sending.stop()]);
    },
  };
}

/** Whether the creator of a webhook may read the objects of the fleet now. */
async function mayRead({ client }: Database, settings: Settings, id: string): Promise<boolean> {
  const [creator] = await client.$queryRaw<RecordedCreator[]>`
    SELECT created_by_user, created_by_token FROM webhooks WHERE id = ${id}::uuid`;
  return creator !== undefined && hasPresentRole(client, creator, { role: 'viewer', settings });
}

/** Disables a webhook, and records that as a problem. */
const disableAndRecord = ({ client }: Database, id: string, reason: string): Promise<void> =>
  client.$transaction(async (transaction) => {
    const name = await disableWebhook(statementsOf(transaction), id, reason);
    if (name === undefined) return;
    const message = `The webhook was disabled. ${reason}`;
    await transaction.$queryRaw`
      WITH updated AS (SELECT ${id}::uuid AS id, ${name}::text AS name),
      ${problemRecord({ kind: 'catalog', reason: 'WebhookDisabled', message })}
      SELECT count(*)::int AS count FROM recorded`;
  });
