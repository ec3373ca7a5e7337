import type { Input } from '@svc/contract';
import { fleetEndpoints, MAX_WEBHOOKS } from '@svc/contract/fleet';
import { newSigningSecret } from '@svc/delivery';
import { invalid, notFound, Problem, pickDefined } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { isOneOf, type List, readPage } from '../database/lists.ts';
import { Prisma, type Webhook, type WebhookDelivery } from '../generated/prisma/client.ts';
import { creatorOf } from '../identity/authority.ts';
import { targetErrors } from '../identity/outbound-targets.ts';
import { isUuid } from '../resources/kind.ts';
import { TEST_EVENT, testBody } from '../webhooks/messages.ts';
import { openSecrets, sealSecrets } from '../webhooks/secrets.ts';
import { type ChangeContext, changeRoute } from './request/change.ts';
import { type RequestContext, route } from './request/context.ts';

type Transaction = Prisma.TransactionClient;

/** How long messages also have a signature of the secret before a rotation. */
const OVERLAP = Prisma.sql`interval '24 hours'`;

const presentWebhook = (row: Webhook) => ({ ...row, enabled: row.disabled_at === null });

const presentDelivery = (row: WebhookDelivery) => ({
  ...row,
  state: row.state as 'pending', // a check of the database is not needed: the reply is validated
  next_at: row.state === 'pending' ? row.next_at : null,
});

export const listWebhooks = route(fleetEndpoints.listWebhooks, async ({ database: { client } }) => ({
  webhooks: (await client.webhook.findMany({ orderBy: { name: 'asc' }, take: MAX_WEBHOOKS })).map(presentWebhook),
}));

/** @throws 400 */
function refuseTarget(context: Pick<RequestContext, 'principal' | 'refusalOf'>, url: string): void {
  const errors = targetErrors(context, 'url', new URL(url));
  if (errors.length > 0) throw invalid(errors);
}

export const createWebhook = changeRoute(fleetEndpoints.createWebhook, async (context, { body }) => {
  const { transaction, principal, settings } = context;
  refuseTarget(context, body.url);
  const creator = await creatorOf(transaction, principal);
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('webhooks'))`;
  if ((await transaction.webhook.count()) >= MAX_WEBHOOKS) {
    throw new Problem('too_many_webhooks', `A fleet has at most ${MAX_WEBHOOKS} webhooks.`);
  }
  const [id, secret] = [uuidv7(), newSigningSecret()];
  const sealed = await sealSecrets(settings.sealer, id, { current: secret, previous: null });
  const events = [...new Set(body.events)];
  const webhook = await transaction.webhook.create({ data: { id, ...body, events, ...sealed, ...creator } });
  return { webhook: { ...presentWebhook(webhook), secret } };
});

/** @throws 404 */
async function lockWebhook(transaction: Transaction, id: string): Promise<Webhook> {
  if (!isUuid(id)) throw notFound();
  const rows = await transaction.$queryRaw<unknown[]>`SELECT FROM webhooks WHERE id = ${id}::uuid FOR UPDATE`;
  if (rows.length === 0) throw notFound();
  return transaction.webhook.findUniqueOrThrow({ where: { id } });
}

/** The caller who changes a webhook decides where messages go. The webhook therefore ends with the rights of this caller. */
async function takeOver({ transaction, principal }: ChangeContext, id: string): Promise<Webhook> {
  const creator = await creatorOf(transaction, principal); // locks the caller before the webhook, as the end of the rights does
  const before = await lockWebhook(transaction, id);
  await transaction.webhook.update({ where: { id }, data: { ...creator, version: { increment: 1 } } });
  return before;
}

export const updateWebhook = changeRoute(fleetEndpoints.updateWebhook, async (context, { params: { id }, body }) => {
  const { transaction } = context;
  if (body.url !== undefined) refuseTarget(context, body.url);
  await takeOver(context, id);
  const changes = pickDefined(body, ['name', 'url', 'events']);
  if (body.enabled === false) {
    await transaction.$executeRaw`
      UPDATE webhooks SET disabled_at = now(), disabled_reason = 'It was disabled by a caller.'
      WHERE id = ${id}::uuid AND disabled_at IS NULL`;
  }
  if (body.enabled) await enable(transaction, id);
  // Another address has not failed.
  const reset = body.url === undefined ? {} : { failures: 0, failing_since: null, failure: null, retry_at: null };
  return {
    webhook: presentWebhook(await transaction.webhook.update({ where: { id }, data: { ...changes, ...reset } })),
  };
});

/** Enables a webhook, whose waiting messages are then due. */
async function enable(transaction: Transaction, id: string): Promise<void> {
  const enabled = await transaction.$executeRaw`
    UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL, failures = 0, failing_since = NULL, failure = NULL, retry_at = NULL
    WHERE id = ${id}::uuid AND disabled_at IS NOT NULL`;
  if (enabled === 0) return;
  await endProblem(transaction, id);
  await transaction.$executeRaw`
    UPDATE webhook_deliveries SET attempts = 0, next_at = now() WHERE webhook_id = ${id}::uuid AND state = 'pending'`;
}

const endProblem = (transaction: Transaction, id: string) => transaction.$executeRaw`
  UPDATE events SET resolved_at = clock_timestamp()
  WHERE object_id = ${id}::uuid AND severity = 'warning' AND resolved_at IS NULL`;

export const deleteWebhook = changeRoute(fleetEndpoints.deleteWebhook, async (context, { params: { id } }) => {
  const { transaction, recording } = context;
  recording.objectName = (await lockWebhook(transaction, id)).name;
  await endProblem(transaction, id);
  await transaction.webhook.delete({ where: { id } });
  return undefined;
});

export const rotateWebhook = changeRoute(fleetEndpoints.rotateWebhook, async (context, { params: { id } }) => {
  const { transaction, settings } = context;
  const before = await takeOver(context, id);
  const { current: previous } = await openSecrets(settings.sealer, before);
  const secret = newSigningSecret();
  const { sealed, key_id } = await sealSecrets(settings.sealer, id, { current: secret, previous });
  await transaction.$executeRaw`
    UPDATE webhooks SET sealed = ${sealed}, key_id = ${key_id}, previous_until = now() + ${OVERLAP} WHERE id = ${id}::uuid`;
  const webhook = await transaction.webhook.findUniqueOrThrow({ where: { id } });
  return { webhook: { ...presentWebhook(webhook), secret } };
});

/** @throws 404, 409 */
async function lockEnabled(transaction: Transaction, id: string): Promise<Webhook> {
  const webhook = await lockWebhook(transaction, id);
  if (webhook.disabled_at === null) return webhook;
  throw new Problem('webhook_disabled', `The webhook is disabled: ${webhook.disabled_reason ?? ''} Enable it first.`);
}

export const testWebhook = changeRoute(fleetEndpoints.testWebhook, async (context, { params: { id } }) => {
  const { transaction, recording } = context;
  const webhook = await lockEnabled(transaction, id);
  recording.objectName = webhook.name;
  const message_id = uuidv7();
  // An object of its own, so that it waits for no other message.
  const data = {
    webhook_id: id,
    message_id,
    event: TEST_EVENT,
    object_id: message_id,
    body: testBody(webhook, new Date()),
  };
  return { delivery: presentDelivery(await transaction.webhookDelivery.create({ data })) };
});

const deliveryList: List<Input<typeof fleetEndpoints.listWebhookDeliveries>['query']> = {
  table: Prisma.sql`webhook_deliveries`,
  columns: Prisma.sql`r.id, r.message_id, r.event, r.object_id, r.state, r.attempts, CASE WHEN r.state = 'pending' THEN r.next_at END AS next_at,
    r.status, r.failure, r.created_at, r.ended_at`,
  rules: {
    filters: { state: isOneOf(Prisma.sql`r.state`) },
    sorts: { created_at: (direction) => Prisma.sql`r.seq ${direction}` },
  },
};

export const listWebhookDeliveries = route(
  fleetEndpoints.listWebhookDeliveries,
  async ({ database: { client } }, { params: { id }, query }) => {
    if (!isUuid(id) || !(await client.webhook.findUnique({ where: { id }, select: { id: true } }))) throw notFound();
    const list = { ...deliveryList, always: Prisma.sql`r.webhook_id = ${id}::uuid` };
    const { rows, pagination } = await readPage(client, list, query);
    return { deliveries: fleetEndpoints.listWebhookDeliveries.reply.shape.deliveries.parse(rows), pagination };
  },
);

export const redeliverWebhook = changeRoute(fleetEndpoints.redeliverWebhook, async (context, { params }) => {
  const { transaction, recording } = context;
  const { id, delivery_id } = params;
  recording.objectName = (await lockEnabled(transaction, id)).name;
  if (!isUuid(delivery_id)) throw notFound();
  const updated = await transaction.$executeRaw`
    UPDATE webhook_deliveries SET state = 'pending', attempts = 0, next_at = now(), ended_at = NULL
    WHERE id = ${delivery_id}::uuid AND webhook_id = ${id}::uuid`;
  if (updated === 0) throw notFound();
  return {
    delivery: presentDelivery(await transaction.webhookDelivery.findUniqueOrThrow({ where: { id: delivery_id } })),
  };
});
