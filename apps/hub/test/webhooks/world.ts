// A hub with its webhooks at work.
import { hubEndpoints } from '@svc/contract/hub';
import { WEBHOOK_LIMITS, type WebhookTimings } from '@svc/delivery';
import { createLog, createOutbound, type OutboundAllowance } from '@svc/http';
import { type Api, type ReceivedMessage, startWebhookReceiver, type WebhookReceiver } from '@svc/testing';
import type { z } from 'zod';
import type { Database } from '../../src/database/client.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { startWorld, testSealer } from '../world.ts';

export const WEBHOOKS = '/api/v1/admin/webhooks';
export const PUBLIC_URL = 'https://hub.example.test';

/** The waits of tests after failed attempts, in milliseconds. */
export const RETRIES = [20, 40, 80];

const TIMINGS: WebhookTimings = { sender: { poll: 20, retries: RETRIES }, upkeep: 50 };

/** What a message about an access request states. */
interface AccessData {
  readonly kind: string;
  readonly id: string;
  readonly org_name: string;
  readonly status: string;
}
export type Received = ReceivedMessage<AccessData>;

interface BackgroundOptions {
  readonly allow?: readonly OutboundAllowance[];
  /** Undefined: there are no encryption keys. */
  readonly sealer?: typeof testSealer | undefined;
}

/** The background work of one process of a hub. */
export function startWebhooks(
  database: Database,
  { allow = ['http', 'loopback'], ...given }: BackgroundOptions = { sealer: testSealer },
) {
  const outbound = createOutbound({ ...WEBHOOK_LIMITS, restrictTo: new Set(allow) });
  const log = createLog('hub', 'silent');
  const webhooks = createWebhooks({ database, sealer: given.sealer, log, outbound, timings: TIMINGS });
  webhooks.start();
  return {
    stop: async () => {
      await webhooks.stop();
      await outbound.close();
    },
  };
}

type Listed = z.output<typeof hubEndpoints.listWebhooks.reply>['webhooks'][number];
type Delivered = z.output<typeof hubEndpoints.listWebhookDeliveries.reply>['deliveries'][number];

export async function startWebhookWorld() {
  const world = await startWorld({ publicUrl: PUBLIC_URL });
  const admin = await world.aUser('superadmin');
  const organization = await world.anOrganization({ slug: 'acme' });
  const member = await world.aMember(organization, 'member');
  const receivers: WebhookReceiver<AccessData>[] = [];
  let count = 0;

  const receiver = async (answer?: (received: Received) => number) => {
    const started = await startWebhookReceiver<AccessData>(answer);
    receivers.push(started);
    return started;
  };
  const create = async (url: string, events: readonly string[] = ['access.requested'], by = admin) => {
    const { status, body } = await by.post(WEBHOOKS, { name: `webhook ${++count}`, url, events });
    expect(status).toBe(201);
    return hubEndpoints.createWebhook.reply.parse(body).webhook;
  };
  /** Requests access to what has a slug, which need not exist. @returns the id of the request */
  const request = async (slug = `category-${++count}`, by: Api = member): Promise<string> => {
    const { status, body } = await by.post('/api/v1/account/access-requests', {
      category_slug: slug,
      reason: 'hunter2 for me@example.test',
    });
    expect(status).toBe(201);
    return body.request.id;
  };
  const decline = async (id: string) => {
    const body = { status: 'declined', answer: 'No, hunter2' };
    expect((await admin.put(`/api/v1/admin/access-requests/${id}`, body)).status).toBe(200);
  };
  const listed = async (id: string): Promise<Listed> =>
    (await admin.get(WEBHOOKS)).body.webhooks.find((each: Listed) => each.id === id);
  const deliveries = async (id: string): Promise<readonly Delivered[]> => {
    const { status, body } = await admin.get(`${WEBHOOKS}/${id}/deliveries`);
    expect(status).toBe(200);
    return body.deliveries;
  };
  return {
    ...world,
    ...{ admin, organization, member, receiver, create, request, decline, listed, deliveries },
    /** Ends all open requests, whose number is bounded, and deletes all webhooks. */
    clear: async () => {
      await world.database.client.webhook.deleteMany();
      await world.database.client.accessRequest.deleteMany();
    },
    stop: async () => {
      await Promise.all(receivers.map(({ stop }) => stop()));
      await world.stop();
    },
  };
}
