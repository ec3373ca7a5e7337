// A fleet with its webhooks at work.
import { randomUUID } from 'node:crypto';
import { WEBHOOK_LIMITS } from '@svc/delivery';
import { createOutbound, type OutboundAllowance } from '@svc/http';
import { createWebhooks, type WebhookTimings } from '../../src/webhooks/webhooks.ts';
import { startWorld, type World } from '../world.ts';

export const RETRIES = [20, 40, 80, 160, 320];

const TIMINGS = { delivery: { poll: 20, firstRetry: 20 }, sender: { poll: 20, retries: RETRIES }, upkeep: 50 };

/** The background work of one process of the fleet. */
export function webhooksOf(
  { database, sealer, services, log }: Pick<World, 'database' | 'sealer' | 'services' | 'log'>,
  given: { readonly allow?: readonly OutboundAllowance[]; readonly timings?: WebhookTimings } = {},
) {
  const { allow = ['http', 'loopback'], timings = TIMINGS } = given;
  const outbound = createOutbound({ ...WEBHOOK_LIMITS, restrictTo: new Set(allow) });
  const { settings } = services;
  const publicUrl = 'https://fleet.example.test';
  const webhooks = createWebhooks({ database, sealer, settings, publicUrl, log, outbound, timings });
  return {
    ...webhooks,
    stop: async () => {
      await webhooks.stop();
      await outbound.close();
    },
  };
}

export async function startWebhookWorld() {
  const world = await startWorld();
  const { client } = world.database;
  let count = 0;

  const create = async (url: string, events: readonly string[], by = world.asAdmin) => {
    const { status, body } = await by.post('/api/v1/webhooks', { name: `webhook ${++count}`, url, events });
    expect(status).toBe(201);
    return body.webhook as { readonly id: string; readonly name: string; readonly secret: string };
  };
  /** Records the beginning of a problem, or its end, as the reconciler does. */
  const record = (kind: string, objectId: string, reason: string) => client.$executeRaw`
    INSERT INTO events (id, kind, object_id, name, severity, reason, message)
    VALUES (${randomUUID()}::uuid, ${kind}, ${objectId}::uuid, ${`name of ${objectId}`},
      ${['Recovered', 'RolledBack', 'NeedsApproval'].includes(reason) ? 'normal' : 'warning'}, ${reason}, 'a message with hunter2')`;
  return { ...world, client, create, record };
}
