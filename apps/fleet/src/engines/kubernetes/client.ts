import type {
  AppsV1Api,
  AuthorizationV1Api,
  BatchV1Api,
  CoreV1Api,
  HttpMethod,
  StorageV1Api,
  VersionApi,
} from '@kubernetes/client-node';
import { type Dialled, dial, type Exchange, type OutboundAllowance, type Streaming } from '@svc/http';
import { type Bounds, chunksOf, jsonOf, wholeOf } from '../body.ts';
import { EngineFailure, notAnEngine, unreachableBy } from '../errors.ts';
import { scrubberOf } from '../redact.ts';
import { askedOf, refusedWith } from './errors.ts';

/** A cluster whose API server is called, and as whom. */
export interface ClusterAddress {
  /** `https://host:port`, and a path where the API server is behind one. */
  readonly server: string;
  /** Whom to trust; null: the certificate authorities of the system. */
  readonly ca_certificate: string | null;
  readonly auth:
    | { readonly kind: 'token'; readonly token: string }
    | { readonly kind: 'client_certificate'; readonly certificate: string; readonly key: string };
  /** Where everything of the fleet goes. */
  readonly namespace: string;
  readonly gpu_resource_name: string;
  /** What servers that were set through the API may be beside public; left out for what the operator set. */
  readonly restrictTo?: ReadonlySet<OutboundAllowance> | undefined;
}

/** Milliseconds. */
export interface KubernetesTimings {
  /** For an answer, its whole body included. */
  readonly answer: number;
  /** For an answer to what changes something: webhooks of the cluster are asked meanwhile. */
  readonly change: number;
  /** That a pod has been ready before it counts as running. */
  readonly settled: number;
  /** After which what should be gone is no longer waited for from moment to moment. */
  readonly overdue: number;
  /** That a watch may say nothing before it is begun anew. */
  readonly watch: number;
  /** The longest wait before a watch that broke is begun anew; it begins with a hundredth of it. */
  readonly watchAgain: number;
}

/** The values of production. */
export const DEFAULT_KUBERNETES_TIMINGS: KubernetesTimings = {
  answer: 15_000,
  change: 40_000,
  settled: 10_000,
  overdue: 60_000,
  watch: 90_000,
  watchAgain: 30_000,
};

/** The parts of the typed API that are used. */
export interface Apis {
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly batch: BatchV1Api;
  readonly storage: StorageV1Api;
  readonly authorization: AuthorizationV1Api;
  readonly version: VersionApi;
}

/** A request as the typed API makes it. */
interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  readonly body?: string;
}

interface ApiAnswer {
  readonly status: number;
  /** JSON. */
  readonly text: string;
}

/**
 * The typed API of a server, over `send`: nothing else is called, and nothing is read from this machine. The library is
 * loaded at the first use: it takes half a second and 60 MB, which a fleet without clusters need not have.
 */
async function apisOver(server: string, send: (request: ApiRequest) => Promise<ApiAnswer>): Promise<Apis> {
  const library = await import('@kubernetes/client-node');
  const httpApi = library.wrapHttpLibrary({
    send: async (request) => {
      const body = request.getBody();
      const method = methodOf(request.getHttpMethod());
      const url = new URL(request.getUrl());
      const { status, text } = await send({ method, url, ...(typeof body === 'string' && { body }) });
      return new library.ResponseContext(status, { 'content-type': 'application/json' }, bodyOf(text));
    },
  });
  const baseServer = new library.ServerConfiguration(server, {});
  const configuration = library.createConfiguration({ baseServer, httpApi });
  return {
    core: new library.CoreV1Api(configuration),
    apps: new library.AppsV1Api(configuration),
    batch: new library.BatchV1Api(configuration),
    storage: new library.StorageV1Api(configuration),
    authorization: new library.AuthorizationV1Api(configuration),
    version: new library.VersionApi(configuration),
  };
}

function methodOf(method: HttpMethod): ApiRequest['method'] {
  if (method === 'GET' || method === 'POST' || method === 'PUT' || method === 'PATCH') return method;
  if (method === 'DELETE') return method;
  throw new Error(`nothing of ours sends ${method}`);
}

const bodyOf = (text: string) => ({ text: async () => text, binary: async () => Buffer.from(text) });

/** What is answered bit by bit: it may stand still for `idleMs` (0: for ever). */
interface Streamed {
  /** Below the server's address. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept?: string;
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A Kubernetes API server. Everything rejects with an `EngineFailure`, which holds nothing of the credentials. */
export interface KubernetesClient {
  readonly address: ClusterAddress;
  readonly timing: KubernetesTimings;
  /** The typed API, each of whose requests is bounded in time and size. */
  apis(): Promise<Apis>;
  /** An answer as it comes, never kept: whoever stops reading ends it. */
  open(request: Streamed): Promise<AsyncGenerator<Buffer, void, void>>;
  /** The clock of the API server, as far as it was heard of. */
  now(): number;
  /** The same client, for work that ends with `signal`. */
  within(signal: AbortSignal | undefined): KubernetesClient;
  /** The same client, which asks before each request whether it may still be sent: `mustHold` throws where it may not. */
  whileHeld(mustHold: () => void): KubernetesClient;
  close(): Promise<void>;
}

/** A client for the API server of a cluster. Nothing is called yet. */
export function connectKubernetes(address: ClusterAddress, timing: Partial<KubernetesTimings> = {}): KubernetesClient {
  const { server, ca_certificate: ca, auth, restrictTo } = address;
  const identity = auth.kind === 'client_certificate' ? { cert: auth.certificate, key: auth.key } : {};
  const dialled = dial({ target: new URL(server), restrictTo, tls: { ...(ca !== null && { ca }), ...identity } });
  return new ClusterClient(
    { address, timing: { ...DEFAULT_KUBERNETES_TIMINGS, ...timing }, dialled, clock: { ahead: 0 } },
    {},
  );
}

interface Connection {
  readonly address: ClusterAddress;
  readonly timing: KubernetesTimings;
  readonly dialled: Dialled;
  /** Milliseconds by which the server's clock is ahead of ours. */
  readonly clock: { ahead: number };
}

class ClusterClient implements KubernetesClient {
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

  within = (signal: AbortSignal | undefined): KubernetesClient =>
    new ClusterClient(this.#connection, { ...this.#bounds, signal });

  whileHeld = (mustHold: () => void): KubernetesClient =>
    new ClusterClient(this.#connection, { ...this.#bounds, mustHold });

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
