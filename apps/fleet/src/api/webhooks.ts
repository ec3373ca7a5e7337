import { fleetEndpoints } from '@svc/contract/fleet';
import { statementsOf } from '@svc/database';
import { readDeliveries, readWebhooks, webhookAdministration } from '@svc/delivery';
import { endProblems } from '../events/record.ts';
import { creatorOf } from '../identity/authority.ts';
import { type ChangeContext, changeRoute } from './request/change.ts';
import { route } from './request/context.ts';

/** The webhooks in the transaction of a change. */
const webhooksIn = ({ transaction, principal, refusalOf }: ChangeContext) =>
  webhookAdministration({
    query: statementsOf(transaction),
    service: 'fleet',
    path: fleetEndpoints.listWebhooks.path,
    refusalOf,
    creator: () => creatorOf(transaction, principal),
  });

export const listWebhooks = route(fleetEndpoints.listWebhooks, async ({ database: { client } }) => ({
  webhooks: await readWebhooks(statementsOf(client)),
}));

export const createWebhook = changeRoute(fleetEndpoints.createWebhook, async (context, { body }) => ({
  webhook: await webhooksIn(context).create(context.settings.sealer, body),
}));

export const updateWebhook = changeRoute(fleetEndpoints.updateWebhook, async (context, { params: { id }, body }) => {
  const { webhook, isEnabled } = await webhooksIn(context).update(id, body);
  if (isEnabled) await endProblems(context.transaction, id);
  return { webhook };
});

export const deleteWebhook = changeRoute(fleetEndpoints.deleteWebhook, async (context, { params: { id } }) => {
  context.recording.objectName = (await webhooksIn(context).remove(id)).name;
  await endProblems(context.transaction, id);
  return undefined;
});

export const rotateWebhook = changeRoute(fleetEndpoints.rotateWebhook, async (context, { params: { id } }) => ({
  webhook: await webhooksIn(context).rotate(context.settings.sealer, id),
}));

export const testWebhook = changeRoute(fleetEndpoints.testWebhook, async (context, { params: { id } }) => {
  const { webhook, delivery } = await webhooksIn(context).test(id);
  context.recording.objectName = webhook.name;
  return { delivery };
});

export const listWebhookDeliveries = route(
  fleetEndpoints.listWebhookDeliveries,
  ({ database: { client } }, { params: { id }, query }) => readDeliveries(statementsOf(client), id, query),
);

export const redeliverWebhook = changeRoute(fleetEndpoints.redeliverWebhook, async (context, { params }) => {
  const { webhook, delivery } = await webhooksIn(context).redeliver(params.id, params.delivery_id);
  context.recording.objectName = webhook.name;
  return { delivery };
});
