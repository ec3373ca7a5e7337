import type { StatementQuery } from '@svc/database';
import { z } from 'zod';

// The tables `webhooks` and `webhook_deliveries`. A delivery is `pending` until it is `delivered`, `failed` after its last
// attempt, or `withheld`, because the creator of the webhook lost the right to read it. All times are those of the database.

/** What the sender makes of a delivery. */
const due = z.object({
  id: z.string(),
  webhook_id: z.string(),
  message_id: z.string(),
  object_id: z.string(),
  event: z.string(),
  body: z.string(),
  url: z.string(),
  attempts: z.int(),
  failures: z.int(),
});
export type DueDelivery = z.output<typeof due>;

const counted = z.object({ count: z.int() });

/** The deliveries of a webhook that a claim examines. */
const WINDOW = 50;

/** A failed attempt. */
interface Failure {
  /** The status of the response; null: there was none. */
  readonly status: number | null;
  readonly reason: string;
  /** Seconds until the next attempt of this delivery; undefined: there is none. */
  readonly retrySeconds: number | undefined;
  /** Seconds in which nothing is sent to the webhook. */
  readonly pauseSeconds: number;
}

export interface DeliveryTable {
  /**
   * Claims deliveries for `seconds`. Of an object, only the oldest one that is pending is claimed, so that they are sent in
   * order. A webhook whose last attempt failed receives one delivery at a time.
   */
  claim(limit: number, seconds: number): Promise<readonly DueDelivery[]>;
  /** Records that the receiver has accepted a delivery, unless another replica has claimed it. */
  delivered(delivery: DueDelivery, status: number): Promise<void>;
  /** The same, of a failed attempt. The next ones of its object wait with it. */
  failed(delivery: DueDelivery, failure: Failure): Promise<void>;
  withheld(delivery: DueDelivery): Promise<void>;
  /** Ends the leases of this process. */
  release(): Promise<void>;
}

export function deliveryTable(query: StatementQuery, owner: string): DeliveryTable {
  const rows = async (sql: string, ...values: readonly unknown[]) =>
    z.array(z.unknown()).parse(await query(sql, ...values));
  const noLease = 'lease_owner = NULL, lease_until = NULL';
  const own = 'd.id = $1::uuid AND d.lease_owner = $2::uuid';
  const inSeconds = (parameter: string) => `now() + make_interval(secs => ${parameter}::float8)`;
  return {
    claim: async (limit, seconds) => {
      const claimed = await rows(
        `UPDATE webhook_deliveries d SET lease_owner = $1::uuid, lease_until = ${inSeconds('$2')}
         FROM webhooks w, (
           SELECT c.id FROM webhooks w CROSS JOIN LATERAL (
             SELECT p.id, p.next_at, p.seq FROM (
               SELECT * FROM webhook_deliveries WHERE webhook_id = w.id AND state = 'pending' AND next_at <= now()
               ORDER BY next_at, seq LIMIT ${WINDOW}) p
             WHERE (p.lease_until IS NULL OR p.lease_until < now())
               AND NOT EXISTS (SELECT FROM webhook_deliveries e
                 WHERE e.webhook_id = w.id AND e.object_id = p.object_id AND e.state = 'pending' AND e.seq < p.seq)
             ORDER BY p.next_at, p.seq LIMIT CASE WHEN w.failures > 0 THEN 1 ELSE $3::int END) c
           WHERE w.disabled_at IS NULL AND (w.retry_at IS NULL OR w.retry_at <= now())
             AND (w.failures = 0 OR NOT EXISTS (SELECT FROM webhook_deliveries l
               WHERE l.webhook_id = w.id AND l.state = 'pending' AND l.lease_until > now()))
           ORDER BY c.next_at, c.seq LIMIT $3::int) c
         WHERE d.id = c.id AND w.id = d.webhook_id AND d.state = 'pending' AND (d.lease_until IS NULL OR d.lease_until < now())
         RETURNING d.id, d.webhook_id, d.message_id, d.object_id, d.event, d.body, w.url, d.attempts, w.failures`,
        ...[owner, seconds, limit],
      );
      return z.array(due).parse(claimed);
    },
    delivered: async ({ id, webhook_id }, status) => {
      await rows(
        `WITH ended AS (
           UPDATE webhook_deliveries d SET state = 'delivered', attempts = attempts + 1, status = $3::int, failure = NULL,
             ended_at = clock_timestamp(), ${noLease} WHERE ${own} AND d.state = 'pending' RETURNING 1)
         UPDATE webhooks SET failures = 0, failing_since = NULL, failure = NULL, retry_at = NULL, delivered_at = clock_timestamp()
         WHERE id = $4::uuid AND EXISTS (SELECT FROM ended)
           AND (failures > 0 OR delivered_at IS NULL OR delivered_at < now() - interval '1 second')
         RETURNING id`,
        ...[id, owner, status, webhook_id],
      );
    },
    failed: async ({ id, webhook_id, object_id, failures }, { status, reason, retrySeconds, pauseSeconds }) => {
      await rows(
        `WITH ended AS (
           UPDATE webhook_deliveries d SET state = CASE WHEN $5::float8 IS NULL THEN 'failed' ELSE 'pending' END,
             attempts = attempts + 1, status = $3::int, failure = $4,
             ended_at = CASE WHEN $5::float8 IS NULL THEN clock_timestamp() END,
             next_at = coalesce(${inSeconds('$5')}, next_at), ${noLease} WHERE ${own} AND d.state = 'pending' RETURNING next_at),
         later AS (
           UPDATE webhook_deliveries d SET next_at = ended.next_at FROM ended
           WHERE d.webhook_id = $6::uuid AND d.object_id = $7::uuid AND d.id <> $1::uuid AND d.state = 'pending'
             AND d.next_at < ended.next_at)
         UPDATE webhooks SET failures = greatest(failures, $9::int + 1), failing_since = coalesce(failing_since, now()), failure = $4,
           retry_at = ${inSeconds('$8')}
         WHERE id = $6::uuid AND EXISTS (SELECT FROM ended) RETURNING id`,
        ...[id, owner, status, reason, retrySeconds ?? null, webhook_id, object_id, pauseSeconds, failures],
      );
    },
    withheld: async ({ id }) => {
      await rows(
        `UPDATE webhook_deliveries d SET state = 'withheld', ended_at = clock_timestamp(), ${noLease} WHERE ${own} RETURNING d.id`,
        ...[id, owner],
      );
    },
    release: async () => {
      await rows(`UPDATE webhook_deliveries d SET ${noLease} WHERE d.lease_owner = $1::uuid RETURNING d.id`, owner);
    },
  };
}

/** The number of deliveries that are pending for webhooks that are not disabled. */
export async function pendingDeliveries(query: StatementQuery): Promise<number> {
  const rows = await query(
    `SELECT count(*)::int AS count FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
     WHERE d.state = 'pending' AND w.disabled_at IS NULL`,
  );
  const [row] = z.array(counted).parse(rows);
  return row?.count ?? 0;
}
