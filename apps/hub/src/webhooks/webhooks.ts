import { type Sealer, statementsOf } from '@svc/database';
import {
  createWebhookSending,
  disableWebhook,
  LOST_RIGHT,
  type WebhookSending,
  type WebhookTimings,
} from '@svc/delivery';
import type { Log, Outbound } from '@svc/http';
import type { Database } from '../database/client.ts';
import { isAdministrator } from '../identity/service-tokens.ts';

interface Options {
  readonly database: Pick<Database, 'client'>;
  /** Undefined: `ENCRYPTION_KEYS` is not set, and messages wait. */
  readonly sealer: Sealer | undefined;
  readonly log: Log;
  /** A client with `WEBHOOK_LIMITS` that refuses targets which are not allowed. */
  readonly outbound: Pick<Outbound, 'send'>;
  readonly timings?: WebhookTimings | undefined;
}

/** The background work of webhooks. The messages are stored by the requests that they are about. */
export function createWebhooks({ database, ...options }: Options): WebhookSending {
  const query = statementsOf(database.client);
  const disable = (id: string, reason: string) => disableWebhook(query, id, reason);
  return createWebhookSending({ ...options, query, disable, mayRead: (id) => mayRead(database, id, disable) });
}

/**
 * Whether the creator of a webhook is an administrator now. A demotion by an earlier version of the hub, and the deletion of a
 * user with SQL, do not disable the webhook, so that it is disabled here.
 */
async function mayRead(
  { client }: Pick<Database, 'client'>,
  id: string,
  disable: (id: string, reason: string) => Promise<unknown>,
): Promise<boolean> {
  const rows = await client.$queryRaw<unknown[]>`
    SELECT FROM webhooks w JOIN users u ON u.id = w.created_by_user WHERE w.id = ${id}::uuid AND ${isAdministrator}`;
  if (rows.length > 0) return true;
  await disable(id, LOST_RIGHT);
  return false;
}
