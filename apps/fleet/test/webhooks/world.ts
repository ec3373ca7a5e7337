// A fleet with its webhooks at work, and receivers that verify each message.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEBHOOK_LIMITS } from '@svc/delivery';
import { createOutbound, type OutboundAllowance } from '@svc/http';
import { Webhook } from 'standardwebhooks';
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

/** What a receiver was sent. */
export interface Received {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly id: string; readonly name: string; readonly reason?: string };
  readonly signature: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A receiver that answers with the status that `answer` gives. */
export async function aReceiver(answer: (received: Received) => number = () => 204) {
  const received: Received[] = [];
  const server = createServer(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
    const message: Received = {
      ...{ ...JSON.parse(text), id: headers['webhook-id'] },
      ...{ text, headers, signature: headers['webhook-signature'] ?? '' },
    };
    const status = answer(message);
    received.push(message);
    res.writeHead(status, status === 302 ? { Location: '/elsewhere' } : {}).end();
  });
  const listen = (port: number) => new Promise<void>((done) => void server.listen(port, '127.0.0.1', done));
  await listen(0);
  const { port } = server.address() as AddressInfo; // it listens on a port
  const stop = async () => {
    const closed = new Promise((done) => void server.close(done));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}/hook?of=fleet`, received, stop, restart: () => listen(port) };
}

/** Throws unless a message has a valid signature with the secret. */
export const verify = (secret: string, { text, headers }: Received) => new Webhook(secret).verify(text, { ...headers });

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
