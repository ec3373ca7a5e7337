import { webhookEndpoints } from '../shared/webhooks.ts';

/** What webhooks can report: that an organization requests access, and the end of its request. */
const hubWebhookEvents = ['access.requested', 'access.decided'] as const;
export type HubWebhookEvent = (typeof hubWebhookEvents)[number];

/** Webhooks: other systems that learn what administrators of the hub have to decide. */
export const hubWebhookEndpoints = webhookEndpoints({
  access: 'admin',
  tag: 'admin',
  base: '/api/v1/admin',
  events: hubWebhookEvents,
  example: ['access.requested', 'access.decided'],
  problems: ['encryption_not_configured'],
});
