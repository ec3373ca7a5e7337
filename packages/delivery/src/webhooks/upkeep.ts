import type { StatementQuery } from '@svc/database';
import { z } from 'zod';
import { countIn, rowsOf } from './rows.ts';

const named = z.object({ name: z.string() });

/**
 * Disables a webhook. What waits is kept until somebody enables it. @returns its name; undefined if it was disabled before
 */
export async function disableWebhook(query: StatementQuery, id: string, reason: string): Promise<string | undefined> {
  const [disabled] = await rowsOf(
    query,
    named,
    `UPDATE webhooks SET disabled_at = now(), disabled_reason = $2 WHERE id = $1::uuid AND disabled_at IS NULL
     RETURNING name`,
    ...[id, reason],
  );
  return disabled?.name;
}

/** Why a webhook, or another authority of a creator, is disabled when the creator loses the right to it. */
export const LOST_RIGHT = 'Its creator has lost the right to it.';

/**
 * Disables the webhooks of creators who have lost their rights, in the transaction in which they lose them. Another caller can
 * enable them, and becomes their creator.
 */
export const disableWebhooksOf = (
  query: StatementQuery,
  creator: 'created_by_user' | 'created_by_token',
  ids: readonly string[],
): Promise<unknown> =>
  query(
    `UPDATE webhooks SET disabled_at = now(), disabled_reason = $2
     WHERE disabled_at IS NULL AND ${creator} = ANY ($1::uuid[])`,
    ids,
    LOST_RIGHT,
  );

/** The bounds of the deliveries of a webhook. */
const MAX_ROWS = 10_000;
const MAX_AGE_DAYS = 7;
/** The maximum number of rows per statement. */
const BATCH = 2000;

const bounded = z.object({ id: z.string(), oldest: z.string().nullable(), is_full: z.boolean() });

interface PruneOptions {
  readonly query: StatementQuery;
  /** Disables a webhook. */
  readonly disable: (webhookId: string, reason: string) => Promise<unknown>;
  readonly maxRows?: number;
}

/**
 * Deletes deliveries beyond the bounds, and disables webhooks for which more than that wait. @returns the number of deleted rows
 */
export async function pruneDeliveries(
  { query, disable, maxRows = MAX_ROWS }: PruneOptions,
  ending: AbortSignal,
): Promise<number> {
  const webhooks = await rowsOf(
    query,
    bounded,
    `SELECT w.id, (SELECT d.seq FROM webhook_deliveries d WHERE d.webhook_id = w.id ORDER BY d.seq DESC OFFSET $1::int LIMIT 1)::text AS oldest,
       w.disabled_at IS NULL AND EXISTS (
         SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending' OFFSET $1::int) AS is_full
     FROM webhooks w`,
    maxRows,
  );
  let rows = 0;
  for (const { id, oldest, is_full } of webhooks) {
    if (is_full) await disable(id, `More than ${maxRows} messages wait for it.`);
    for (let batch = BATCH; batch === BATCH && !ending.aborted; rows += batch) {
      batch = countIn(
        await query(
          `WITH deleted AS (
             DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
               SELECT id FROM webhook_deliveries WHERE webhook_id = $1::uuid
                 AND (seq <= $2::bigint OR created_at < now() - make_interval(days => ${MAX_AGE_DAYS}))
                 AND (lease_until IS NULL OR lease_until < now())
                 AND (state <> 'pending' OR created_at < now() - make_interval(days => ${MAX_AGE_DAYS}))
               ORDER BY seq LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)) RETURNING 1)
           SELECT count(*)::int AS count FROM deleted`,
          ...[id, oldest ?? '0'],
        ),
      );
    }
  }
  return rows;
}
