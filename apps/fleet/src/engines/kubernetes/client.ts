import type {
  AppsV1Api,
  AuthenticationV1Api,
  AuthorizationV1Api,
  AutoscalingV1Api,
  BatchV1Api,
  CoreV1Api,
  HttpMethod,
  NetworkingV1Api,
  PolicyV1Api,
  ResponseBody,
  StorageV1Api,
  VersionApi,
} from '@kubernetes/client-node';
import { dial, type Exchange, type HttpConnection, type Streaming, type TargetAllowance } from '@svc/http';
import { type Bounds, parseJson, readChunks, readText } from '../body.ts';
import { EngineFailure, notAnEngine, toUnreachable } from '../errors.ts';
import { measured } from '../metrics.ts';
import { redactorOf } from '../redact.ts';
import { AppliedObjects } from './applied.ts';
import { requestInfoOf, toEngineFailure } from './errors.ts';

/** The address of a Kubernetes API server, and the credentials for it. */
export interface ClusterAddress {
  /** `https://host:port`, followed by a path if the API server is behind one. */
  readonly server: string;
  /** The trusted certificate authority; null: the certificate authorities of the system. */
  readonly ca_certificate: string | null;
  readonly auth:
    | { readonly kind: 'token'; readonly token: string }
    | { readonly kind: 'client_certificate'; readonly certificate: string; readonly key: string };
  /** The namespace of all objects of the fleet. */
  readonly namespace: string;
  readonly gpu_resource_name: string;
  /** Whether the fleet has PodDisruptionBudgets in the cluster, as the last check found. */
  readonly has_disruption_budgets?: boolean;
  /** Whether the fleet has NetworkPolicies in the cluster, as the last check found. */
  readonly has_network_policies?: boolean;
  /**
   * Non-public addresses that are allowed for servers set through the API. Undefined: servers set
   * by the operator are not restricted.
   */
  readonly restrictTo?: ReadonlySet<TargetAllowance> | undefined;
}

/** Time limits, in milliseconds. */
export interface KubernetesTimings {
  /** Timeout of a read request, including its body. */
  readonly answer: number;
  /**
   * Timeout of a request that changes something. The cluster calls its webhooks before it responds.
   */
  readonly change: number;
  /** Maximum time for all dry runs of a plan together. */
  readonly dryRun: number;
  /** Time that a pod must be ready before it counts as running. */
  readonly settled: number;
  /**
   * Time after its start after which a process that was restarted counts as stable, unless its health
   * check has passed before.
   */
  readonly stable: number;
  /** Time after which the deletion of an object is overdue, and is checked less often. */
  readonly overdue: number;
  /** Time between two checks whether a container whose log is followed is started again. */
  readonly restart: number;
  /** Maximum time without data before a watch is restarted. */
  readonly watch: number;
  /**
   * Maximum delay before a failed watch is restarted. The first delay is about a hundredth of it.
   */
  readonly watchRetryLimit: number;
}

/** The defaults for production. */
export const DEFAULT_KUBERNETES_TIMINGS: KubernetesTimings = {
  answer: 15_000,
  change: 40_000,
  dryRun: 5000,
  settled: 10_000,
  stable: 120_000,
  overdue: 60_000,
  restart: 1000,
  watch: 90_000,
  watchRetryLimit: 30_000,
};

/** The parts of the typed API that are used. */
export interface Apis {
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly batch: BatchV1Api;
  readonly autoscaling: AutoscalingV1Api;
  readonly storage: StorageV1Api;
  readonly policy: PolicyV1Api;
  readonly networking: NetworkingV1Api;
  readonly authentication: AuthenticationV1Api;
  readonly authorization: AuthorizationV1Api;
  readonly version: VersionApi;
}

/** A request of the typed API. */
interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  readonly body?: string;
}

interface ApiResponse {
  readonly status: number;
  /** JSON. */
  readonly text: string;
}

/**
 * Creates the typed API, which sends all requests with `send` and reads no configuration from this
 * machine. The library is loaded on first use, because it takes half a second and 60 MB, which a
 * fleet without clusters does not need.
 */
async function apisOver(server: string, send: (request: ApiRequest) => Promise<ApiResponse>): Promise<Apis> {
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
    autoscaling: new library.AutoscalingV1Api(configuration),
    storage: new library.StorageV1Api(configuration),
    policy: new library.PolicyV1Api(configuration),
    networking: new library.NetworkingV1Api(configuration),
    authentication: new library.AuthenticationV1Api(configuration),
    authorization: new library.AuthorizationV1Api(configuration),
    version: new library.VersionApi(configuration),
  };
}

function methodOf(method: HttpMethod): ApiRequest['method'] {
  if (method === 'GET' || method === 'POST' || method === 'PUT' || method === 'PATCH') return method;
  if (method === 'DELETE') return method;
  throw new Error(`unsupported method ${method}`);
}

function bodyOf(text: string): ResponseBody {
  return { text: async () => text, binary: async () => Buffer.from(text), stream: () => new Response(text).body };
}

/** A request with a streamed response. `idleMs` limits the time without data (0: no limit). */
interface Streamed {
  /** Relative to the address of the server. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept?: string;
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A client for a Kubernetes API server. All methods reject with an `EngineFailure`, which does not
 * contain the credentials.
 */
export interface KubernetesClient {
  readonly address: ClusterAddress;
  readonly timing: KubernetesTimings;
  /** What this process has applied. All views of the client share it. */
  readonly applied: AppliedObjects;
  /** The typed API. Each request has limits on time and size. */
  apis(): Promise<Apis>;
  /**
   * Sends a request and streams the response body without buffering. The stream is closed when the
   * consumer stops.
   */
  open(request: Streamed): Promise<AsyncGenerator<Buffer, void, void>>;
  /** The estimated time of the API server's clock, from the `Date` header of its last response. */
  now(): number;
  /** A view of this client whose requests end with `signal`. */
  withSignal(signal: AbortSignal | undefined): KubernetesClient;
  /**
   * A view of this client that calls `assertLease` before each request. It throws if the request
   * must not be sent.
   */
  withLeaseCheck(assertLease: () => void): KubernetesClient;
  close(): Promise<void>;
}

/** Creates a client for a cluster. Does not connect yet. */
export function connectKubernetes(address: ClusterAddress, timing: Partial<KubernetesTimings> = {}): KubernetesClient {
  const { server, ca_certificate: ca, auth, restrictTo } = address;
  const identity = auth.kind === 'client_certificate' ? { cert: auth.certificate, key: auth.key } : {};
  const dialled = dial({ target: new URL(server), restrictTo, tls: { ...(ca !== null && { ca }), ...identity } });
  return new ClusterClient(
    {
      address,
      timing: { ...DEFAULT_KUBERNETES_TIMINGS, ...timing },
      dialled,
      clock: { ahead: 0 },
      applied: new AppliedObjects(),
    },
    {},
  );
}

interface Connection {
  readonly address: ClusterAddress;
  readonly timing: KubernetesTimings;
  readonly dialled: HttpConnection;
  /** Milliseconds by which the clock of the server is ahead of the fleet's clock. */
  readonly clock: { ahead: number };
  readonly applied: AppliedObjects;
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

  get applied() {
    return this.#connection.applied;
  }

  now = () => Date.now() + this.#connection.clock.ahead;

  withSignal = (signal: AbortSignal | undefined): KubernetesClient =>
    new ClusterClient(this.#connection, { ...this.#bounds, signal });

  withLeaseCheck = (assertLease: () => void): KubernetesClient =>
    new ClusterClient(this.#connection, { ...this.#bounds, assertLease });

  close = () => this.#connection.dialled.close();

  apis(): Promise<Apis> {
    this.#apis ??= apisOver(this.#server, (request) => measured('kubernetes', () => this.#send(request)));
    return this.#apis;
  }

  async open({ path, query, accept = '*/*', idleMs, signal }: Streamed): Promise<AsyncGenerator<Buffer, void, void>> {
    const url = new URL(`${this.#server}${path}?${new URLSearchParams(query)}`);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new DOMException('', 'TimeoutError')), this.timing.answer);
    const request = {
      method: 'GET' as const,
      headers: { accept },
      idleMs,
      signal: this.#anyOf(deadline.signal, signal),
    };
    try {
      const response = await this.#exchange(url, request);
      if (response.status === 200) return readChunks(response.body, (work) => this.#guarded(work));
      throw await this.#failure('GET', url, response);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a request with limits on time and size. */
  async #send({ method, url, body }: ApiRequest): Promise<ApiResponse> {
    const idleMs = method === 'GET' ? this.timing.answer : this.timing.change;
    const request = { method, headers: headersFor(method, url), idleMs, ...(body !== undefined && { body }) };
    const response = await this.#exchange(url, { ...request, signal: this.#anyOf(AbortSignal.timeout(idleMs)) });
    if (response.status < 200 || response.status >= 300) throw await this.#failure(method, url, response);
    const text = await this.#textOf(response);
    if (!isApiResponse(parseJson(text))) throw notAnEngine('Kubernetes API server');
    return { status: response.status, text };
  }

  async #exchange(url: URL, request: Omit<Exchange, 'path'>): Promise<Streaming> {
    this.#bounds.assertLease?.();
    const { auth } = this.address;
    const authorization = auth.kind === 'token' ? { authorization: `Bearer ${auth.token}` } : {};
    const headers = { 'user-agent': 'fleet', ...request.headers, ...authorization };
    const path = `${url.pathname}${url.search}`;
    const response = await this.#guarded(() => this.#connection.dialled.exchange({ ...request, path, headers }));
    const at = Date.parse(String(response.headers.date));
    if (!Number.isNaN(at)) this.#connection.clock.ahead = at - Date.now();
    return response;
  }

  async #failure(method: string, url: URL, response: Streaming): Promise<EngineFailure> {
    return toEngineFailure({
      status: response.status,
      text: await this.#textOf(response),
      request: requestInfoOf(method, url),
    });
  }

  /** Reads a response body, and redacts the token in case the server repeats it. */
  async #textOf({ body }: Streaming): Promise<string> {
    const { auth } = this.address;
    const text = await this.#guarded(() => readText(body));
    return auth.kind === 'token' ? redactorOf([auth.token])(text) : text;
  }

  get #server() {
    return this.address.server.replace(/(?<!\/)\/+$/, '');
  }

  #anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
    return AbortSignal.any([...signals, this.#bounds.signal].filter((each) => each !== undefined));
  }

  /**
   * Converts connection errors to `EngineFailure`. If the signal of this view is aborted, throws
   * its reason instead.
   */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#bounds.signal?.throwIfAborted();
      throw error instanceof EngineFailure ? error : toUnreachable(error, 'Kubernetes API server');
    }
  }
}

/**
 * All patches are server-side applies. Only metadata of Secrets is requested, so that their data is
 * never read back.
 */
function headersFor(method: string, url: URL): Record<string, string> {
  const { resource, verb } = requestInfoOf(method, url);
  const kind = verb === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return {
    accept: resource === 'secrets' ? `application/json;as=${kind};g=meta.k8s.io;v=v1` : 'application/json',
    'content-type': verb === 'apply' ? 'application/apply-patch+yaml' : 'application/json',
  };
}

/** Whether a response body is an object, a list of objects, or a version of the Kubernetes API. */
function isApiResponse(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { kind, apiVersion, gitVersion, items } = body;
  if (typeof gitVersion === 'string') return true;
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') return false;
  return !kind.endsWith('List') || items === null || (Array.isArray(items) && items.every(isObject));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
