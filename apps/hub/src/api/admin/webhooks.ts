import type { Endpoint, Reply } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { statementsOf } from '@svc/database';
import { readDeliveries, readWebhooks, type WebhookCreator, webhookAdministration } from '@svc/delivery';
import { Prisma } from '../../generated/prisma/client.ts';
import { callerOf } from '../../identity/caller.ts';
import type { Principal } from '../../identity/principal.ts';
import { requireAdministrator } from '../../identity/service-tokens.ts';
import { recorded } from '../request/change.ts';
import { type RequestContext, route } from '../request/context.ts';

type Transaction = Prisma.TransactionClient;
type Webhooks = ReturnType<typeof webhookAdministration>;

/** The caller as the creator of a webhook. A demotion waits, and then also disables the webhook. @throws 403 */
async function creatorOf(transaction: Transaction, principal: Principal): Promise<WebhookCreator> {
  const { id, email } = callerOf(principal);
  await requireAdministrator(transaction, id, Prisma.sql`FOR SHARE`);
  return { created_by: email ?? `user ${id}`, created_by_user: id };
}

interface Change<E extends Endpoint> {
  readonly endpoint: E;
  /** @returns the reply, and the id of the webhook for the audit log */
  readonly work: (webhooks: Webhooks) => Promise<{ readonly id: string; readonly reply: Reply<E> }>;
}

/** Changes a webhook and writes the audit entry in one transaction. */
const change = <E extends Endpoint>(context: RequestContext, { endpoint, work }: Change<E>): Promise<Reply<E>> =>
  context.database.client.$transaction(async (transaction) => {
    const webhooks = webhookAdministration({
      query: statementsOf(transaction),
      service: 'hub',
      path: hubEndpoints.listWebhooks.path,
      refusalOf: context.refusalOf,
      creator: () => creatorOf(transaction, context.principal),
    });
    return recorded({ ...context, transaction }, endpoint, await work(webhooks));
  });

export const listWebhooks = route(hubEndpoints.listWebhooks, async ({ database: { client } }) => ({
  webhooks: await readWebhooks(statementsOf(client)),
}));

export const createWebhook = route(hubEndpoints.createWebhook, async (context, { body }) => {
  const sealer = await context.keys.sealer();
  return change(context, {
    endpoint: hubEndpoints.createWebhook,
    work: async (webhooks) => {
      const webhook = await webhooks.create(sealer, body);
      return { id: webhook.id, reply: { webhook } };
    },
  });
});

export const updateWebhook = route(hubEndpoints.updateWebhook, (context, { params: { id }, body }) =>
  change(context, {
    endpoint: hubEndpoints.updateWebhook,
    work: async (webhooks) => {
      const { webhook } = await webhooks.update(id, body);
      return { id: webhook.id, reply: { webhook } };
    },
  }),
);

export const deleteWebhook = route(hubEndpoints.deleteWebhook, (context, { params: { id } }) =>
  change(context, {
    endpoint: hubEndpoints.deleteWebhook,
    work: async (webhooks) => ({ id: (await webhooks.remove(id)).id, reply: undefined }),
  }),
);

export const rotateWebhook = route(hubEndpoints.rotateWebhook, async (context, { params: { id } }) => {
  const sealer = await context.keys.sealer();
  return change(context, {
    endpoint: hubEndpoints.rotateWebhook,
    work: async (webhooks) => {
      const webhook = await webhooks.rotate(sealer, id);
      return { id: webhook.id, reply: { webhook } };
    },
  });
});

export const testWebhook = route(hubEndpoints.testWebhook, (context, { params: { id } }) =>
  change(context, {
    endpoint: hubEndpoints.testWebhook,
    work: async (webhooks) => {
      const { webhook, delivery } = await webhooks.test(id);
      return { id: webhook.id, reply: { delivery } };
    },
  }),
);

export const listWebhookDeliveries = route(
  hubEndpoints.listWebhookDeliveries,
  ({ database: { client } }, { params: { id }, query }) => readDeliveries(statementsOf(client), id, query),
);

export const redeliverWebhook = route(hubEndpoints.redeliverWebhook, (context, { params }) =>
  change(context, {
    endpoint: hubEndpoints.redeliverWebhook,
    work: async (webhooks) => {
      const { webhook, delivery } = await webhooks.redeliver(params.id, params.delivery_id);
      return { id: webhook.id, reply: { delivery } };
    },
  }),
);
