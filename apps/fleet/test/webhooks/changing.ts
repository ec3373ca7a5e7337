import { randomUUID } from 'node:crypto';
import type { World } from '../world.ts';

/** Requests that change webhooks, each with a webhook of its own. */
export const changingWebhooks = (world: World) => {
  const body = () => ({ name: randomUUID(), url: 'http://localhost:9/hook', events: ['host.unreachable'] });
  const path = async (rest = '') => {
    await world.database.client.webhook.deleteMany(); // their number is bounded
    const created = await world.asAdmin.post('/api/v1/webhooks', body());
    return `/api/v1/webhooks/${created.body.webhook.id}${rest}`;
  };
  return {
    createWebhook: async () => ({ body: body() }),
    updateWebhook: async () => ({ path: await path(), body: { name: randomUUID() } }),
    deleteWebhook: async () => ({ path: await path() }),
    rotateWebhook: async () => ({ path: await path('/rotate') }),
    testWebhook: async () => ({ path: await path('/test') }),
    redeliverWebhook: async () => {
      const of = await path();
      const { delivery } = (await world.asAdmin.post(`${of}/test`)).body;
      return { path: `${of}/deliveries/${delivery.id}/redeliver` };
    },
  };
};
