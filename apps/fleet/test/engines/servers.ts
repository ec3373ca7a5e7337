import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { scaled } from '@svc/testing';
import {
  connectDocker,
  type DockerClient,
  type DockerTimings,
  type HostAddress,
} from '../../src/engines/docker/client.ts';
import { aPair, type Pair } from '../resources/certificates.ts';

/** The time limits of a client with short ones, in milliseconds. */
const SHORT_MS = scaled(500);

const ending: (() => Promise<void>)[] = [];

/** For afterEach: stops all servers and clients. */
export async function endAll(): Promise<void> {
  await Promise.all(ending.splice(0).map((end) => end()));
}

async function listening(server: Server, at: number | string = 0): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  if (typeof at === 'string') server.listen(at);
  else server.listen(at, '127.0.0.1');
  await once(server, 'listening');
  ending.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return typeof at === 'string' ? `unix://${at}` : `tcp://localhost:${(server.address() as AddressInfo).port}`;
}

/** The headers of every response of Docker. */
const DOCKER = { 'Api-Version': '1.47', Server: 'Docker/27.0.0 (linux)' };

/** A fake engine. It responds to pings, and `answer` responds to all other requests. */
export function anEngine(answer: RequestListener, head: Readonly<Record<string, string>> = DOCKER): RequestListener {
  return (req, res) => {
    for (const [name, value] of Object.entries(head)) res.setHeader(name, value);
    if (req.url === '/_ping') res.end('OK');
    else answer(req, res);
  };
}

/** The networks of a fake engine. @returns a function that answers requests for them, and says whether a request was one */
export function aNetworkStore(): (req: IncomingMessage, res: ServerResponse) => boolean {
  const networks = new Map<string, object>();
  return (req, res) => {
    const [, name] = /\/networks\/([\w-]+)$/.exec(req.url ?? '') ?? [];
    if (name === undefined) return false;
    if (req.method === 'GET') {
      const network = networks.get(name);
      res.writeHead(network ? 200 : 404).end(JSON.stringify(network ?? {}));
      return true;
    }
    let text = '';
    req.on('data', (chunk) => {
      text += chunk;
    });
    req.on('end', () => {
      const network = JSON.parse(text);
      networks.set(network.Name, network);
      res.writeHead(201).end('{}');
    });
    return true;
  };
}

/** Serves over plain HTTP on loopback, or at a socket path. @returns the endpoint */
export const serve = (listener: RequestListener, at?: string): Promise<string> => listening(createServer(listener), at);

/** Accepts connections and passes them to `connected`. @returns the endpoint */
export const accept = (connected: (socket: Socket) => void): Promise<string> => listening(createPlainServer(connected));

/** Serves over TLS for clients with the certificate of `client`. */
export async function serveSecurely(listener: RequestListener, client: Pair) {
  const own = aPair('localhost');
  const tls = {
    cert: own.certificate,
    key: own.key,
    ca: client.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  };
  return { endpoint: await listening(createSecureServer(tls, listener)), certificate: own.certificate };
}

/** A client with short timeouts. */
export function clientOf(
  endpoint: string,
  given: Partial<HostAddress> = {},
  timing: Partial<DockerTimings> = {},
): DockerClient {
  const address: HostAddress = { engine: 'docker', endpoint, credentials: null, ...given };
  const client = connectDocker(address, {
    answer: SHORT_MS,
    change: SHORT_MS,
    pullIdle: SHORT_MS,
    retry: 1,
    ...timing,
  });
  ending.push(client.close);
  return client;
}
