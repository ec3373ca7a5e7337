import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { anyValue } from './list-query.ts';
import type { ProblemCode } from './problems.ts';
import { timestamp } from './timestamp.ts';
import { id, ignored, line, name, objectVersion, pagination, paging } from './wire.ts';

/** The maximum number of webhooks of a service. */
export const MAX_WEBHOOKS = 20;

/** The event of a test message, which each webhook receives on request. */
export const TEST_EVENT = 'webhook.test';

const eventsOf = <const E extends readonly string[]>(events: E, example: readonly E[number][]) =>
  z
    .array(z.enum(events, `must be one of ${events.join(', ')}`))
    .min(1, 'must have at least one entry')
    .max(events.length, `must have at most ${events.length} entries`)
    .meta({ description: 'The events that it reports', examples: [[...example]] });

const NOT_A_URL = 'must be an https URL without a user and a fragment, such as https://hooks.example.com/messages';

const url = line(2000)
  .regex(/^https?:\/\/[^/\\\s?#@]+(?:[/?][^\s#]*)?$/, { message: NOT_A_URL, abort: true })
  .refine((value) => URL.canParse(value), NOT_A_URL)
  .meta({
    description:
      'Where messages are sent with POST. `OUTBOUND_ALLOW` determines what is allowed besides public `https` addresses',
    examples: ['https://hooks.example.com/messages'],
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

export type Webhook = z.output<typeof webhook>;

const issuedWebhook = webhook.extend({
  secret: z.string().meta({ description: 'The signing secret. It is shown only in this response' }),
});
export type IssuedWebhook = z.output<typeof issuedWebhook>;

const issued = z.object({ webhook: issuedWebhook });

export const webhookDeliveryStates = ['pending', 'delivered', 'failed', 'withheld'] as const;

const delivery = z
  .object({
    id,
    message_id: id.meta({ description: 'The header `webhook-id`: the same in each attempt' }),
    event: z.string(),
    object_id: id,
    state: z.enum(webhookDeliveryStates).meta({
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
export type WebhookDelivery = z.output<typeof delivery>;

const deliveryQuery = z.strictObject({
  ...paging,
  state: anyValue('state', delivery.shape.state),
  sort: z.enum(['created_at', '-created_at']).default('-created_at'),
});
export type DeliveryQuery = z.output<typeof deliveryQuery>;

const byId = z.strictObject({ id });
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

interface Given<A extends string, E extends readonly string[]> {
  readonly access: A;
  readonly tag: string;
  /** Where the paths begin. */
  readonly base: string;
  /** What the webhooks of the service can report. */
  readonly events: E;
  /** Some of them, as an example. */
  readonly example: readonly E[number][];
  /** Problems that a service has in addition, where secrets are created or used. */
  readonly problems?: readonly ProblemCode[];
}

/** The endpoints of the webhooks of a service: other systems that learn what happens there. */
export function webhookEndpoints<A extends string, const E extends readonly string[]>({
  access,
  tag,
  base,
  events: reported,
  example,
  problems = [],
}: Given<A, E>) {
  const declared = { access, tag };
  const events = eventsOf(reported, example);
  return {
    listWebhooks: endpoint({
      ...declared,
      operationId: 'listWebhooks',
      method: 'get',
      path: `${base}/webhooks`,
      summary: 'List the webhooks',
      reply: z.object({ webhooks: z.array(webhook) }),
    }),
    createWebhook: endpoint({
      ...declared,
      operationId: 'createWebhook',
      method: 'post',
      path: `${base}/webhooks`,
      summary: 'Create a webhook. It reports what happens from now on',
      body: z.strictObject({ name, url, events }).meta({ id: 'NewWebhook' }),
      status: 201,
      reply: issued,
      secret: true,
      problems: ['too_many_webhooks', 'name_taken', ...problems],
    }),
    updateWebhook: endpoint({
      ...declared,
      operationId: 'updateWebhook',
      method: 'put',
      path: `${base}/webhooks/:id`,
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
      path: `${base}/webhooks/:id`,
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
      path: `${base}/webhooks/:id/rotate`,
      summary:
        'Replace the signing secret. For 24 hours, messages also have a signature of the previous one. The caller becomes the creator',
      params: byId,
      reply: issued,
      secret: true,
      problems: ['not_found', ...problems],
    }),
    testWebhook: endpoint({
      ...declared,
      operationId: 'testWebhook',
      method: 'post',
      path: `${base}/webhooks/:id/test`,
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
      path: `${base}/webhooks/:id/deliveries`,
      summary:
        'List the deliveries of a webhook, the newest first. They are kept for 7 days, and at most 10000 of a webhook',
      params: byId,
      query: deliveryQuery,
      reply: z.object({ deliveries: z.array(delivery), pagination }),
      problems: ['not_found'],
    }),
    redeliverWebhook: endpoint({
      ...declared,
      operationId: 'redeliverWebhook',
      method: 'post',
      path: `${base}/webhooks/:id/deliveries/:delivery_id/redeliver`,
      summary: 'Send a message again, with the same id',
      params: ofOne,
      reply: z.object({ delivery }),
      problems: ['not_found', 'webhook_disabled'],
    }),
  };
}
