import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { anyValue } from '../shared/list-query.ts';
import { timestamp } from '../shared/timestamp.ts';
import { id, ignored, line, name, objectVersion, pagination, paging } from '../shared/wire.ts';
import { byId } from './resources/resource.ts';

export const MAX_WEBHOOKS = 20;

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

const events = z
  .array(z.enum(webhookEvents, `must be one of ${webhookEvents.join(', ')}`))
  .min(1, 'must have at least one entry')
  .max(webhookEvents.length, `must have at most ${webhookEvents.length} entries`)
  .meta({ description: 'The events that it reports', examples: [['deployment.failed', 'deployment.recovered']] });

const NOT_A_URL = 'must be an https URL without a user and a fragment, such as https://hooks.example.com/fleet';

const url = line(2000)
  .regex(/^https?:\/\/[^/\\\s?#@]+(?:[/?][^\s#]*)?$/, { message: NOT_A_URL, abort: true })
  .refine((value) => URL.canParse(value), NOT_A_URL)
  .meta({
    description:
      'Where messages are sent with POST. `OUTBOUND_ALLOW` determines what is allowed besides public `https` addresses',
    examples: ['https://hooks.example.com/fleet'],
  });

const webhook = z
  .object({
    id,
    name: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    enabled: z.boolean(),
    disabled_reason: z.string().nullable().meta({ description: 'Why it is disabled; null: it is enabled' }),
    failing_since: timestamp.nullable().meta({ description: 'null: the last attempt succeeded, or there was none' }),
    failure: z.string().nullable().meta({ description: 'Why the last attempt failed' }),
    delivered_at: timestamp
      .nullable()
      .meta({ description: 'When the receiver accepted a message last, to about a second' }),
    previous_until: timestamp
      .nullable()
      .meta({ description: 'After a rotation: until when messages also have a signature of the previous secret' }),
    created_by: z
      .string()
      .meta({ description: 'Who created it, or changed it last. It ends with the rights of this caller' }),
    created_at: timestamp,
    version: objectVersion,
  })
  .meta({ id: 'Webhook' });

const issued = z.object({
  webhook: webhook.extend({
    secret: z.string().meta({ description: 'The signing secret. It is shown only in this response' }),
  }),
});

const deliveryStates = ['pending', 'delivered', 'failed', 'withheld'] as const;

const delivery = z
  .object({
    id,
    message_id: id.meta({ description: 'The header `webhook-id`: the same in each attempt' }),
    event: z.string(),
    object_id: id,
    state: z.enum(deliveryStates).meta({
      description:
        '`failed`: there is no further attempt; `withheld`: the creator of the webhook may not read the event',
    }),
    attempts: z.int(),
    next_at: timestamp.nullable().meta({ description: 'When it is sent next, at the earliest' }),
    status: z.int().nullable().meta({ description: 'The status of the last response; null: there was none' }),
    failure: z.string().nullable(),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const declared = { access: 'settings' as const, tag: 'settings' };
const ofOne = z.strictObject({ id, delivery_id: id });
const readOnly = ignored(
  'id',
  'disabled_reason',
  'failing_since',
  'failure',
  'delivered_at',
  'previous_until',
  'created_by',
  'created_at',
  'version',
);

/** Webhooks: other systems that learn what happens in the fleet. */
export const fleetWebhookEndpoints = {
  listWebhooks: endpoint({
    ...declared,
    operationId: 'listWebhooks',
    method: 'get',
    path: '/api/v1/webhooks',
    summary: 'List the webhooks',
    reply: z.object({ webhooks: z.array(webhook) }),
  }),
  createWebhook: endpoint({
    ...declared,
    operationId: 'createWebhook',
    method: 'post',
    path: '/api/v1/webhooks',
    summary: 'Create a webhook. It reports what happens from now on',
    body: z.strictObject({ name, url, events }).meta({ id: 'NewWebhook' }),
    status: 201,
    reply: issued,
    secret: true,
    problems: ['too_many_webhooks', 'name_taken'],
  }),
  updateWebhook: endpoint({
    ...declared,
    operationId: 'updateWebhook',
    method: 'put',
    path: '/api/v1/webhooks/:id',
    summary: 'Change a webhook; members that are left out do not change. The caller becomes its creator',
    params: byId,
    body: z.strictObject({
      name: name.optional(),
      url: url.optional(),
      events: events.optional(),
      enabled: z.boolean().optional().meta({
        description:
          '`true` sends what waits for a disabled webhook; what happened while it was disabled is not reported',
      }),
      ...readOnly,
    }),
    reply: z.object({ webhook }),
    problems: ['not_found', 'name_taken'],
  }),
  deleteWebhook: endpoint({
    ...declared,
    operationId: 'deleteWebhook',
    method: 'delete',
    path: '/api/v1/webhooks/:id',
    summary: 'Delete a webhook with its deliveries',
    params: byId,
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
  rotateWebhook: endpoint({
    ...declared,
    operationId: 'rotateWebhook',
    method: 'post',
    path: '/api/v1/webhooks/:id/rotate',
    summary:
      'Replace the signing secret. For 24 hours, messages also have a signature of the previous one. The caller becomes the creator',
    params: byId,
    reply: issued,
    secret: true,
    problems: ['not_found'],
  }),
  testWebhook: endpoint({
    ...declared,
    operationId: 'testWebhook',
    method: 'post',
    path: '/api/v1/webhooks/:id/test',
    summary: 'Send a message of the event `webhook.test`, as all others are sent',
    params: byId,
    status: 201,
    reply: z.object({ delivery }),
    problems: ['not_found', 'webhook_disabled'],
  }),
  listWebhookDeliveries: endpoint({
    ...declared,
    operationId: 'listWebhookDeliveries',
    method: 'get',
    path: '/api/v1/webhooks/:id/deliveries',
    summary:
      'List the deliveries of a webhook, the newest first. They are kept for 7 days, and at most 10000 of a webhook',
    params: byId,
    query: z.strictObject({
      ...paging,
      state: anyValue('state', delivery.shape.state),
      sort: z.enum(['created_at', '-created_at']).default('-created_at'),
    }),
    reply: z.object({ deliveries: z.array(delivery), pagination }),
    problems: ['not_found'],
  }),
  redeliverWebhook: endpoint({
    ...declared,
    operationId: 'redeliverWebhook',
    method: 'post',
    path: '/api/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
    summary: 'Send a message again, with the same id',
    params: ofOne,
    reply: z.object({ delivery }),
    problems: ['not_found', 'webhook_disabled'],
  }),
};
