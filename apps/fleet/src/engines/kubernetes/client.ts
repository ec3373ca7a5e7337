import { type Dialled, dial, type Exchange, type Streaming } from '@svc/http';
import type { Bounds } from '../bounds.ts';
import { chunksOf } from '../chunks.ts';
import { EngineFailure } from '../errors.ts';
import { notAnEngine, unreachableBy } from '../unreachable.ts';
import { jsonOf, wholeOf } from '../whole.ts';
import { scrubberOf } from '../words.ts';
import { type ClusterAddress, TIMING, type Timing } from './address.ts';
import { type ApiAnswer, type ApiRequest, type Apis, apisOver } from './apis.ts';
import { askedOf } from './asked.ts';
import type { Client, Streamed } from './cluster-client.ts';
import { refusedWith } from './refused.ts';

/** A client for the API server of a cluster. Nothing is called yet. */
export function connect(address: ClusterAddress, timing: Partial<Timing> = {}): Client {
  const { server, ca_certificate: ca, auth, restrictTo } = address;
  const identity = auth.kind === 'client_certificate' ? { cert: auth.certificate, key: auth.key } : {};
  const dialled = dial({ target: new URL(server), restrictTo, tls: { ...(ca !== null && { ca }), ...identity } });
  return new ClusterClient({ address, timing: { ...TIMING, ...timing }, dialled, clock: { ahead: 0 } }, {});
}

interface Connection {
  readonly address: ClusterAddress;
  readonly timing: Timing;
  readonly dialled: Dialled;
  /** Milliseconds by which the server's clock is ahead of ours. */
  readonly clock: { ahead: number };
}

class ClusterClient implements Client {
  readonly #connection: Connection;
  readonly #bounds: Bounds;
  #apis: Promise<Apis> | undefined;

  constructor(connection: Connection, bounds: Bounds) {
    this.#connection = connection;
    this.#bounds = bounds;
  }

  get address() {
    return this.#connection.address;
  }

  get timing() {
    return this.#connection.timing;
  }

  now = () => Date.now() + this.#connection.clock.ahead;

  within = (signal: AbortSignal | undefined): Client =>
    new ClusterClient(this.#connection, { ...this.#bounds, signal });

  whileHeld = (mustHold: () => void): Client => new ClusterClient(this.#connection, { ...this.#bounds, mustHold });

  close = () => this.#connection.dialled.close();

  apis(): Promise<Apis> {
    this.#apis ??= apisOver(this.#server, (request) => this.#send(request));
    return this.#apis;
  }

  async open({ path, query, accept = '*/*', idleMs, signal }: Streamed): Promise<AsyncGenerator<Buffer, void, void>> {
    const url = new URL(`${this.#server}${path}?${new URLSearchParams(query)}`);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DOMException('', 'TimeoutError')), this.timing.answer);
    const request = { method: 'GET' as const, headers: { accept }, idleMs, signal: this.#until(late.signal, signal) };
    try {
      const answer = await this.#exchange(url, request);
      if (answer.status === 200) return chunksOf(answer.body, (work) => this.#guarded(work));
      throw await this.#refusal('GET', url, answer);
    } finally {
      clearTimeout(timer);
    }
  }

  /** One bounded exchange. */
  async #send({ method, url, body }: ApiRequest): Promise<ApiAnswer> {
    const idleMs = method === 'GET' ? this.timing.answer : this.timing.change;
    const request = { method, headers: headersFor(method, url), idleMs, ...(body !== undefined && { body }) };
    const answer = await this.#exchange(url, { ...request, signal: this.#until(AbortSignal.timeout(idleMs)) });
    if (answer.status < 200 || answer.status >= 300) throw await this.#refusal(method, url, answer);
    const text = await this.#textOf(answer);
    if (!isOfApiServer(jsonOf(text))) throw notAnEngine('Kubernetes API server');
    return { status: answer.status, text };
  }

  async #exchange(url: URL, request: Omit<Exchange, 'path'>): Promise<Streaming> {
    this.#bounds.mustHold?.();
    const { auth } = this.address;
    const authorization = auth.kind === 'token' ? { authorization: `Bearer ${auth.token}` } : {};
    const headers = { 'user-agent': 'fleet', ...request.headers, ...authorization };
    const path = `${url.pathname}${url.search}`;
    const answer = await this.#guarded(() => this.#connection.dialled.exchange({ ...request, path, headers }));
    const at = Date.parse(String(answer.headers.date));
    if (!Number.isNaN(at)) this.#connection.clock.ahead = at - Date.now();
    return answer;
  }

  async #refusal(method: string, url: URL, answer: Streaming): Promise<EngineFailure> {
    return refusedWith({ status: answer.status, text: await this.#textOf(answer), asked: askedOf(method, url) });
  }

  /** An answer that repeats who asked must not carry that on. */
  async #textOf({ body }: Streaming): Promise<string> {
    const { auth } = this.address;
    const text = await this.#guarded(() => wholeOf(body));
    return auth.kind === 'token' ? scrubberOf([auth.token])(text) : text;
  }

  get #server() {
    return this.address.server.replace(/\/+$/, '');
  }

  #until(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
    return AbortSignal.any([...signals, this.#bounds.signal].filter((one) => one !== undefined));
  }

  /** Whatever a connection fails with is said as what it means; an end that was asked for stays what it is. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#bounds.signal?.throwIfAborted();
      throw error instanceof EngineFailure ? error : unreachableBy(error, 'Kubernetes API server');
    }
  }
}

/** All that is ever patched is applied. What secrets hold is never read back: of them only the metadata is asked for. */
function headersFor(method: string, url: URL): Record<string, string> {
  const { resource, verb } = askedOf(method, url);
  const kind = verb === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return {
    accept: resource === 'secrets' ? `application/json;as=${kind};g=meta.k8s.io;v=v1` : 'application/json',
    'content-type': verb === 'apply' ? 'application/apply-patch+yaml' : 'application/json',
  };
}

/** Whether it is an object, a list of objects, or a version, as API servers write them. */
function isOfApiServer(said: unknown): boolean {
  if (!isObject(said)) return false;
  const { kind, apiVersion, gitVersion, items } = said;
  if (typeof gitVersion === 'string') return true;
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') return false;
  return !kind.endsWith('List') || items === null || (Array.isArray(items) && items.every(isObject));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
