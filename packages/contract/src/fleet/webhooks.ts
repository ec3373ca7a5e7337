import { webhookEndpoints } from '../shared/webhooks.ts';

/** What webhooks can report. The end of a problem is an event of its own. */
const webhookEvents = [
  'deployment.failed',
  'deployment.recovered',
  'deployment.rolled_back',
  'deployment.update_available',
  'host.unreachable',
  'host.recovered',
  'cluster.unreachable',
  'cluster.recovered',
  'plan.needs_approval',
  'source.failed',
  'source.recovered',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Webhooks: other systems that learn what happens in the fleet. */
export const fleetWebhookEndpoints = webhookEndpoints({
  access: 'settings',
  tag: 'settings',
  base: '/api/v1',
  events: webhookEvents,
  example: ['deployment.failed', 'deployment.recovered'],
});
