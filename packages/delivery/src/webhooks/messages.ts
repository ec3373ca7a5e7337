import { TEST_EVENT } from '@svc/contract';
import type { StatementQuery } from '@svc/database';
import { countIn } from './rows.ts';

/** A message about an event, as the table of deliveries receives it. */
export interface WebhookMessage {
  /** The id of the message and of its event, a UUID. A webhook receives a message with an id once. */
  readonly id: string;
  readonly event: string;
  /** The messages about an object are sent in their order. */
  readonly object_id: string;
  /** When it happened: webhooks that were created later do not receive it. Default: all webhooks receive it. */
  readonly at?: Date;
  readonly body: string;
}

/** The body of a message. `data` contains no values, because a receiver is outside the service. */
export const bodyOf = (type: string, at: Date, data: object): string =>
  JSON.stringify({ type, timestamp: at.toISOString(), data });

/** The address of a page of the console; null if the address of the service is not known. */
export const pageUrl = (publicUrl: string | undefined, path: string): string | null =>
  publicUrl === undefined ? null : new URL(path, `${publicUrl.replace(/\/$/, '')}/`).href;

/** The body of a test message. `path` is that of the list of webhooks in the API. */
export const testBody = (webhook: { readonly id: string; readonly name: string }, at: Date, path: string): string =>
  bodyOf(TEST_EVENT, at, { kind: 'webhooks', id: webhook.id, name: webhook.name, path, url: null });

/**
 * Stores a delivery of each message for each webhook that reports it and is enabled. A message about an object waits at least as
 * long as the earlier ones about it. @param query runs statements of the transaction in which the event is recorded, or in
 * which the position after it is stored @returns the number of deliveries
 */
export async function storeMessages(query: StatementQuery, messages: readonly WebhookMessage[]): Promise<number> {
  const listed = messages.map((message, place) => ({ ...message, place }));
  const stored = await query(
    `WITH stored AS (
       INSERT INTO webhook_deliveries (webhook_id, message_id, event, object_id, body, next_at)
       SELECT w.id, m.id, m.event, m.object_id, m.body, greatest(clock_timestamp(), (
         SELECT max(p.next_at) FROM webhook_deliveries p
         WHERE p.webhook_id = w.id AND p.object_id = m.object_id AND p.state = 'pending'))
       FROM jsonb_to_recordset($1::jsonb) AS m (place int, id uuid, event text, object_id uuid, at timestamptz, body text)
         JOIN webhooks w ON w.disabled_at IS NULL AND m.event = ANY (w.events) AND (m.at IS NULL OR m.at >= w.created_at)
       ORDER BY m.place ON CONFLICT (webhook_id, message_id) DO NOTHING RETURNING 1)
     SELECT count(*)::int AS count FROM stored`,
    JSON.stringify(listed),
  );
  return countIn(stored);
}
