import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** What a receiver was sent. `Data` are the members that a test reads. */
export interface ReceivedMessage<Data = { readonly id: string; readonly name: string; readonly reason?: string }> {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Data;
  readonly signature: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A receiver of webhooks. */
export interface WebhookReceiver<Data> {
  readonly url: string;
  readonly received: ReceivedMessage<Data>[];
  stop(): Promise<void>;
}

/** Starts a receiver that answers with the status that `answer` gives. */
export async function startWebhookReceiver<Data = ReceivedMessage['data']>(
  answer: (received: ReceivedMessage<Data>) => number = () => 204,
): Promise<WebhookReceiver<Data>> {
  const received: ReceivedMessage<Data>[] = [];
  const server = createServer(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
    const message: ReceivedMessage<Data> = {
      ...{ ...JSON.parse(text), id: headers['webhook-id'] },
      ...{ text, headers, signature: headers['webhook-signature'] ?? '' },
    };
    const status = answer(message);
    received.push(message);
    res.writeHead(status, status === 302 ? { Location: '/elsewhere' } : {}).end();
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const stop = async () => {
    const closed = new Promise((done) => void server.close(done));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}/hook?of=test`, received, stop };
}

/** Verifies a message as a receiver does. @throws unless it has a valid signature with the secret */
export const verifyMessage = (secret: string, { text, headers }: Pick<ReceivedMessage, 'text' | 'headers'>): unknown =>
  new Webhook(secret).verify(text, { ...headers });
