import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ClusterAddress } from '../../../src/engines/kubernetes/client.ts';
import { aPair, type Pair } from '../../resources/certificates.ts';
import { answer } from './api-server/answer.ts';
import { Cluster, NAMESPACE } from './api-server/cluster.ts';
import { type InjectedResponse, sendInjected } from './api-server/injected-response.ts';
import { type Received, received } from './api-server/request.ts';

export type { InjectedResponse } from './api-server/injected-response.ts';

export type { Change } from './api-server/store.ts';

export interface ApiServerOptions {
  /** The server certificate, which is also its own CA. */
  readonly pair?: Pair;
  /** A CA whose client certificates are accepted as credentials. */
  readonly clientAuthority?: string;
  /** The namespaces that exist at the start. */
  readonly namespaces?: readonly string[];
}

const TOKEN = 'c4n4ry-token-of-the-cluster';
const USER = 'system:serviceaccount:fleet:fleet';

/** A fake API server on loopback, with a cluster in memory. */
export class ApiServer extends Cluster {
  url = '';
  /** The CA certificate of the server. */
  readonly ca: string;
  readonly token: string = TOKEN;
  /**
   * The difference between the clock of the server and the local clock, in milliseconds. Positive
   * if the server is ahead.
   */
  aheadMs = 0;
  /** All received requests, without their credentials. */
  readonly requests: Received[] = [];
  readonly #users = new Map([[TOKEN, USER]]);
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #failures: unknown[] = [];
  #injectedFor: (request: Received) => InjectedResponse | undefined = () => undefined;

  constructor({ pair = aPair('localhost'), clientAuthority, namespaces = [NAMESPACE] }: ApiServerOptions) {
    super(namespaces);
    this.ca = pair.certificate;
    const asks = clientAuthority && { ca: clientAuthority, requestCert: true, rejectUnauthorized: true };
    this.#server = createServer({ cert: pair.certificate, key: pair.key, ...asks }, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => this.#failures.push(error));
    });
    this.#server.on('tlsClientError', () => undefined);
    this.#server.on('secureConnection', (socket: Socket) => {
      this.#sockets.add(socket.on('error', () => undefined));
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    // The server listens on a port.
    this.url = `https://localhost:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  /** Stops the server. @throws the first internal error of the server, if there was one */
  stop = async (): Promise<void> => {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    if (this.#failures.length > 0) throw this.#failures[0];
  };

  /** Replaces the valid token. */
  rotate(token: string): void {
    this.#users.clear();
    this.#users.set(token, USER);
  }

  /**
   * Replaces the responses to some requests from now on. The function may also change the cluster
   * before a request is processed.
   */
  inject(how: (request: Received) => InjectedResponse | undefined): void {
    this.#injectedFor = how;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await received(incoming, this.#users);
    this.requests.push(request);
    const injected = this.#injectedFor(request);
    if (injected !== undefined) {
      sendInjected(injected, response);
      return;
    }
    response.setHeader('date', new Date(Date.now() + this.aheadMs).toUTCString());
    const { version } = this.store;
    answer(this, request, response);
    if (this.store.version !== version) this.settle();
  }
}

export const startApiServer = (options: ApiServerOptions = {}): Promise<ApiServer> => new ApiServer(options).start();

/** The address of a cluster, with its token. */
export const addressOf = (
  { url, ca, token }: Pick<ApiServer, 'url' | 'ca' | 'token'>,
  given: Partial<ClusterAddress> = {},
): ClusterAddress => ({
  server: url,
  ca_certificate: ca,
  namespace: NAMESPACE,
  gpu_resource_name: 'nvidia.com/gpu',
  auth: { kind: 'token', token },
  ...given,
});
