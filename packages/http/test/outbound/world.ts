import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import type { Outgoing } from '@svc/contract';
import { createOutbound, type OutboundOptions } from '../../src/index.ts';

/** The credential of every request. */
export const TOKEN = 'svcc_0123456789abcdef';
const ending: (() => Promise<void>)[] = [];

/** For afterEach: closes all targets and outbounds. */
export async function endAll(): Promise<void> {
  jest.restoreAllMocks();
  await Promise.all(ending.splice(0).map((end) => end()));
}

/** A server on a loopback address that records its requests. @param onData receives the bytes of their bodies */
export async function startTarget(listener: RequestListener, onData: (chunk: Buffer) => void = () => undefined) {
  const asked: { method: string | undefined; url: string | undefined; body: string }[] = [];
  const server: Server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) {
      onData(chunk);
      body += chunk;
    }
    asked.push({ method: req.method, url: req.url, body });
    listener(req, res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ending.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // It listens on a port.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A loopback port that closes and counts all connections. */
export async function startListener() {
  const connected = jest.fn((socket: Socket) => void socket.destroy());
  const server = net.createServer(connected).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ending.push(async () => void server.close());
  return { port: (server.address() as AddressInfo).port, connected }; // it listens on a port
}

/** An outbound with limits for tests. */
export function anOutbound(options: Partial<OutboundOptions> = {}) {
  const outbound = createOutbound({ timeoutMs: 5000, maxBytes: 1000, ...options });
  ending.push(outbound.close);
  return (url: string, more: Partial<Outgoing> = {}) =>
    outbound.send({ method: 'GET', url: new URL(url), headers: { authorization: `Bearer ${TOKEN}` }, ...more });
}

/** Why a request failed: all messages in the chain of causes. */
export const reasonOf = (sending: Promise<unknown>): Promise<string> =>
  sending.then(
    () => 'none',
    (error: unknown) => {
      const messages: string[] = [];
      // instanceof Error does not work: Jest runs tests in another realm than Node itself.
      for (let next = error as Partial<Error> | undefined; next; next = next.cause as Partial<Error> | undefined) {
        messages.push(`${next.name}: ${next.message}`);
      }
      return messages.join('; ');
    },
  );

/**
 * Makes every socket report `address` as its remote address, because no name resolves to a
 * link-local address in tests.
 */
export function connectingTo(address: string): void {
  const { connect } = net;
  jest.spyOn(net, 'connect').mockImplementation((...given: unknown[]) => {
    const socket: Socket = Reflect.apply(connect, net, given);
    return Object.defineProperty(socket, 'remoteAddress', { value: address });
  });
}
