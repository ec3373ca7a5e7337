import {
  type DeliveryQuery,
  MAX_WEBHOOKS,
  offsetOf,
  paginationOf,
  TEST_EVENT,
  uuid,
  webhookDeliveryStates,
} from '@svc/contract';
import type { Sealer, StatementQuery } from '@svc/database';
import { invalid, notFound, Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { testBody } from './messages.ts';
import { rowsOf } from './rows.ts';
import { openSecrets, sealSecrets } from './secrets.ts';
import { newSigningSecret } from './signature.ts';

// What administrators do with webhooks. All statements run in the transaction of the request.

/** How long messages also have a signature of the secret before a rotation. */
const OVERLAP_HOURS = 24;

/** The authority of a webhook: who created it, or changed it last. */
export interface WebhookCreator {
  /** The name of the creator, for people. */
  readonly created_by: string;
  readonly created_by_user: string | null;
  /** Only in a service whose tokens can administer webhooks. */
  readonly created_by_token?: string | null;
}

/** The values of the columns of a creator. */
const columnsOf = ({ created_by, created_by_user, created_by_token }: WebhookCreator) => ({
  names: ['created_by', 'created_by_user', ...(created_by_token === undefined ? [] : ['created_by_token'])],
  values: [created_by, created_by_user, ...(created_by_token === undefined ? [] : [created_by_token])],
});

/** `count` parameters from `$first` on: a text and then ids, as `columnsOf` returns them. */
const creatorParameters = (count: number, first: number) =>
  Array.from({ length: count }, (_, index) => `$${first + index}::${index === 0 ? 'text' : 'uuid'}`);

const WEBHOOK = `id, name, url, events, disabled_at IS NULL AS enabled, disabled_reason, failing_since, failure, delivered_at,
  previous_until, created_by, created_at, version`;

const webhook = z.object({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable(),
  failing_since: z.date().nullable(),
  failure: z.string().nullable(),
  delivered_at: z.date().nullable(),
  previous_until: z.date().nullable(),
  created_by: z.string(),
  created_at: z.date(),
  version: z.int(),
});
type Webhook = z.output<typeof webhook>;

const DELIVERY = `r.id, r.message_id, r.event, r.object_id, r.state, r.attempts, CASE WHEN r.state = 'pending' THEN r.next_at END AS next_at,
  r.status, r.failure, r.created_at, r.ended_at`;

const delivery = z.object({
  id: z.string(),
  message_id: z.string(),
  event: z.string(),
  object_id: z.string(),
  state: z.enum(webhookDeliveryStates),
  attempts: z.int(),
  next_at: z.date().nullable(),
  status: z.int().nullable(),
  failure: z.string().nullable(),
  created_at: z.date(),
  ended_at: z.date().nullable(),
});

/** A row of a page with the number of all rows; without `id` on a page beyond the end. */
const listed = z.object({ total: z.int(), id: z.string().nullable() }).loose();

interface Changes {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
}

interface NewWebhook {
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[];
}

/** A webhook, for the audit log. */
interface Named {
  readonly id: string;
  readonly name: string;
}

/** A delivery that a caller requests. */
interface Requested {
  readonly webhook: Named;
  readonly delivery: z.output<typeof delivery>;
}

interface Options {
  /** Runs statements of the transaction. */
  readonly query: StatementQuery;
  readonly service: 'hub' | 'fleet';
  /** The path of the list of webhooks in the API. */
  readonly path: string;
  /** The reason why the service must not connect to a target, as far as its URL shows; undefined if it is allowed. */
  readonly refusalOf: (target: URL) => Error | undefined;
  /**
   * Locks the caller of the request, so that a concurrent end of its rights waits, and then also disables the webhook. It is
   * called before a webhook is locked. @throws 401, 403
   */
  readonly creator: () => Promise<WebhookCreator>;
}

/** Lists all webhooks. */
export const readWebhooks = (query: StatementQuery): Promise<Webhook[]> =>
  rowsOf(query, webhook, `SELECT ${WEBHOOK} FROM webhooks ORDER BY name LIMIT ${MAX_WEBHOOKS}`);

/** Reads a page of the deliveries of a webhook. @throws 404 */
export async function readDeliveries(query: StatementQuery, id: string, { page, limit, state, sort }: DeliveryQuery) {
  await requireWebhook(query, id, '');
  const matching = `webhook_deliveries r WHERE r.webhook_id = $1::uuid AND ($2::text[] IS NULL OR r.state = ANY ($2::text[]))`;
  const direction = sort === 'created_at' ? 'ASC' : 'DESC';
  const rows = await rowsOf(
    query,
    listed,
    `SELECT counted.total, page.* FROM (SELECT count(*)::int AS total FROM ${matching}) counted
     LEFT JOIN (SELECT ${DELIVERY}, r.seq FROM ${matching} ORDER BY r.seq ${direction} LIMIT $3::int OFFSET $4::int) page ON true
     ORDER BY page.seq ${direction}`,
    ...[id, state ?? null, limit, offsetOf({ page, limit })],
  );
  return {
    deliveries: rows.filter((row) => row.id !== null).map((row) => delivery.parse(row)),
    pagination: paginationOf({ page, limit }, rows[0]?.total ?? 0),
  };
}

const locked = z.object({
  id: z.string(),
  name: z.string(),
  sealed: z.string(),
  disabled_at: z.date().nullable(),
  disabled_reason: z.string().nullable(),
});

/** @throws 404 */
async function requireWebhook(query: StatementQuery, id: string, lock: 'FOR NO KEY UPDATE' | '') {
  if (!uuid.safeParse(id).success) throw notFound();
  const [found] = await rowsOf(
    query,
    locked,
    `SELECT id, name, sealed, disabled_at, disabled_reason FROM webhooks WHERE id = $1::uuid ${lock}`,
    id,
  );
  if (!found) throw notFound();
  return found;
}

const only = <T>([row]: readonly T[]): T => {
  if (row === undefined) throw notFound();
  return row;
};

/** The changes of webhooks in a transaction. Each throws 404 for an unknown webhook. */
export function webhookAdministration({ query, service, path, refusalOf, creator }: Options) {
  // Messages are stored meanwhile: their foreign key only needs the id of the webhook.
  const lock = (id: string) => requireWebhook(query, id, 'FOR NO KEY UPDATE');
  const change = async (id: string, set: string, ...values: readonly unknown[]) =>
    only(
      await rowsOf(
        query,
        webhook,
        `UPDATE webhooks SET ${set} WHERE id = $1::uuid RETURNING ${WEBHOOK}`,
        id,
        ...values,
      ),
    );

  /** @throws 400 */
  const refuseTarget = (url: string): void => {
    const refusal = refusalOf(new URL(url));
    if (refusal) throw invalid([{ path: 'url', message: refusal.message }]);
  };

  /** The caller who changes a webhook decides where messages go. The webhook therefore ends with the rights of this caller. */
  const takeOver = async (id: string) => {
    const { names, values } = columnsOf(await creator());
    const before = await lock(id);
    const parameters = creatorParameters(values.length, 2);
    const assignments = names.map((name, index) => `${name} = ${parameters[index]}`);
    await change(id, `${assignments.join(', ')}, version = version + 1`, ...values);
    return before;
  };

  /** Enables a webhook, whose waiting messages are then due. @returns whether it was disabled */
  const enable = async (id: string): Promise<boolean> => {
    const enabled = await rowsOf(
      query,
      z.unknown(),
      `UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL, failures = 0, failing_since = NULL, failure = NULL, retry_at = NULL
       WHERE id = $1::uuid AND disabled_at IS NOT NULL RETURNING id`,
      id,
    );
    if (enabled.length === 0) return false;
    await query(
      `UPDATE webhook_deliveries SET attempts = 0, next_at = now() WHERE webhook_id = $1::uuid AND state = 'pending'`,
      id,
    );
    return true;
  };

  /** @throws 404, 409 */
  const lockEnabled = async (id: string) => {
    const found = await lock(id);
    if (found.disabled_at === null) return found;
    throw new Problem('webhook_disabled', `The webhook is disabled: ${found.disabled_reason ?? ''} Enable it first.`);
  };

  return {
    /** @throws 400, 409 */
    create: async (sealer: Sealer, { name, url, events }: NewWebhook) => {
      refuseTarget(url);
      const { names, values } = columnsOf(await creator());
      await query(`SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtext('webhooks'))`);
      if ((await readWebhooks(query)).length >= MAX_WEBHOOKS) {
        throw new Problem(
          'too_many_webhooks',
          `A ${service} has at most ${MAX_WEBHOOKS} webhooks. Delete one, or add the events to another one.`,
        );
      }
      const [id, secret] = [uuidv7(), newSigningSecret()];
      const { sealed, key_id } = await sealSecrets(sealer, id, { current: secret, previous: null });
      const created = await rowsOf(
        query,
        webhook,
        `INSERT INTO webhooks (id, name, url, events, sealed, key_id, ${names.join(', ')})
         VALUES ($1::uuid, $2, $3, $4::text[], $5, $6, ${creatorParameters(values.length, 7).join(', ')}) RETURNING ${WEBHOOK}`,
        ...[id, name, url, [...new Set(events)], sealed, key_id, ...values],
      );
      return { ...only(created), secret };
    },
    /** @returns the webhook, and whether the change enabled it @throws 400, 404 */
    update: async (id: string, { name, url, events, enabled }: Changes) => {
      if (url !== undefined) refuseTarget(url);
      await takeOver(id);
      if (enabled === false) {
        await query(
          `UPDATE webhooks SET disabled_at = now(), disabled_reason = 'It was disabled by a caller.'
           WHERE id = $1::uuid AND disabled_at IS NULL`,
          id,
        );
      }
      const isEnabled = enabled === true && (await enable(id));
      // Another address has not failed.
      const reset = url === undefined ? '' : ', failures = 0, failing_since = NULL, failure = NULL, retry_at = NULL';
      const changed = await change(
        id,
        `name = coalesce($2, name), url = coalesce($3, url), events = coalesce($4::text[], events)${reset}`,
        ...[name ?? null, url ?? null, events === undefined ? null : [...new Set(events)]],
      );
      return { webhook: changed, isEnabled };
    },
    /** @returns the webhook as it was @throws 404 */
    remove: async (id: string): Promise<Named> => {
      const before = await lock(id);
      await query('DELETE FROM webhooks WHERE id = $1::uuid', id);
      return before;
    },
    /** @throws 404, 409 */
    rotate: async (sealer: Sealer, id: string) => {
      const before = await takeOver(id);
      // A secret whose key is lost cannot be read again. The new one replaces it at once.
      const previous = await openSecrets(sealer, before).then(
        ({ current }) => current,
        () => null,
      );
      const secret = newSigningSecret();
      const { sealed, key_id } = await sealSecrets(sealer, id, { current: secret, previous });
      const until = previous === null ? 'NULL' : `now() + make_interval(hours => ${OVERLAP_HOURS})`;
      return { ...(await change(id, `sealed = $2, key_id = $3, previous_until = ${until}`, sealed, key_id)), secret };
    },
    /** @returns the webhook, and the delivery of a test message @throws 404, 409 */
    test: async (id: string): Promise<Requested> => {
      const found = await lockEnabled(id);
      const messageId = uuidv7();
      const created = await rowsOf(
        query,
        delivery,
        // An object of its own, so that it waits for no other message.
        `INSERT INTO webhook_deliveries AS r (webhook_id, message_id, event, object_id, body)
         VALUES ($1::uuid, $2::uuid, $3, $2::uuid, $4) RETURNING ${DELIVERY}`,
        ...[id, messageId, TEST_EVENT, testBody(found, new Date(), path)],
      );
      return { webhook: found, delivery: only(created) };
    },
    /** @returns the webhook, and the delivery, which is due again @throws 404, 409 */
    redeliver: async (id: string, deliveryId: string): Promise<Requested> => {
      const found = await lockEnabled(id);
      if (!uuid.safeParse(deliveryId).success) throw notFound();
      const updated = await rowsOf(
        query,
        delivery,
        `UPDATE webhook_deliveries r SET state = 'pending', attempts = 0, next_at = now(), ended_at = NULL
         WHERE r.id = $2::uuid AND r.webhook_id = $1::uuid RETURNING ${DELIVERY}`,
        ...[id, deliveryId],
      );
      return { webhook: found, delivery: only(updated) };
    },
  };
}
