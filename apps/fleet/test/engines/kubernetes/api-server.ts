import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ClusterAddress } from '../../../src/engines/kubernetes/client.ts';
import { aPair, type Pair } from '../../resources/certificates.ts';
import { answer } from './api-server/answer.ts';
import { Cluster, NAMESPACE } from './api-server/cluster.ts';
import { answerOtherwise, type Meddling } from './api-server/meddling.ts';
import { type Received, received } from './api-server/request.ts';

export type { Meddling } from './api-server/meddling.ts';

export type { Change } from './api-server/store.ts';

export interface ApiServerOptions {
  /** Its own certificate, of which it is the authority, too. */
  readonly pair?: Pair;
  /** Whose certificates are taken for a credential. */
  readonly clientAuthority?: string;
  /** The namespaces that are there. */
  readonly namespaces?: readonly string[];
}

const TOKEN = 'c4n4ry-token-of-the-cluster';
const USER = 'system:serviceaccount:fleet:fleet';

/** Something on loopback that answers like an API server, with a cluster behind it that is all in memory. */
export class ApiServer extends Cluster {
  url = '';
  /** The certificate of its authority. */
  readonly ca: string;
  readonly token: string = TOKEN;
  /** By how much its clock is ahead of ours. */
  aheadMs = 0;
  /** Every request, without its credentials. */
  readonly requests: Received[] = [];
  readonly #users = new Map([[TOKEN, USER]]);
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #failures: unknown[] = [];
  #meddle: (request: Received) => Meddling | undefined = () => undefined;

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
    this.url = `https://localhost:${(this.#server.address() as AddressInfo).port}`; // it listens on a port
    return this;
  }

  /** @throws what it has failed with itself, if it has */
  stop = async (): Promise<void> => {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    if (this.#failures.length > 0) throw this.#failures[0];
  };

  /** From now on another token is the right one. */
  rotate(token: string): void {
    this.#users.clear();
    this.#users.set(token, USER);
  }

  /** Answers some requests otherwise, until told to stop; what is to happen before one is answered, too. */
  meddle(how: (request: Received) => Meddling | undefined): void {
    this.#meddle = how;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await received(incoming, this.#users);
    this.requests.push(request);
    const meddling = this.#meddle(request);
    if (meddling !== undefined) {
      answerOtherwise(meddling, response);
      return;
    }
    response.setHeader('date', new Date(Date.now() + this.aheadMs).toUTCString());
    const { version } = this.store;
    answer(this, request, response);
    if (this.store.version !== version) this.move();
  }
}

export const startApiServer = (options: ApiServerOptions = {}): Promise<ApiServer> => new ApiServer(options).start();

/** The address of a cluster, for whoever has its token. */
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
