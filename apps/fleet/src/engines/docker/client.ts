import { dial, type HttpConnection, type TargetAllowance } from '@svc/http';
import type { z } from 'zod';
import { type Bounds, parseJson, readChunks, readText } from '../body.ts';
import { EngineFailure, notAnEngine, Permanent, Transient, toUnreachable, Unreachable } from '../errors.ts';
import { measured } from '../metrics.ts';
import { oneLine } from '../redact.ts';
import { createHostClock, type HostClock } from './clock.ts';

/** The address of a Docker or Podman engine. */
export interface HostAddress {
  readonly engine: 'docker' | 'podman';
  /** `unix:///path` or `tcp://host:port`. TLS is used if there are credentials. */
  readonly endpoint: string;
  readonly credentials: { readonly ca_certificate: string; readonly certificate: string; readonly key: string } | null;
  /**
   * Non-public addresses that are allowed for endpoints set through the API. Undefined: endpoints
   * set by the operator are not restricted.
   */
  readonly restrictTo?: ReadonlySet<TargetAllowance> | undefined;
}

/** Time limits, in milliseconds. */
export interface DockerTimings {
  /** Timeout of a read request, including its body. */
  readonly answer: number;
  /**
   * Timeout of a request that changes something. The engine may set up networks and mounts before
   * it responds.
   */
  readonly change: number;
  /** Maximum time without data during an image pull. */
  readonly pullIdle: number;
  /** Maximum duration of an image pull. */
  readonly pull: number;
  /** Delay before a failed query is repeated. */
  readonly retry: number;
  /** Time that a container must be up before it counts as running. */
  readonly settled: number;
  /**
   * Time after which a container counts as running although its health check has not run. Podman
   * does not run checks on a machine without systemd.
   */
  readonly firstHealthCheck: number;
  /**
   * Time after its start after which a process counts as stable, unless its health check has passed
   * before. A container that exits earlier counts as crashed, whatever its exit code.
   */
  readonly stable: number;
  /** Time between two checks whether a container whose log is followed is started again. */
  readonly restart: number;
  /** Time between the two readings from which the usage of CPU is computed. */
  readonly usage: number;
  /** Maximum time without an event before a stream of events is opened again. */
  readonly watch: number;
  /**
   * Maximum delay before a stream of events that ended is opened again. The first delay is about a
   * hundredth of it.
   */
  readonly watchRetryLimit: number;
}

/** The defaults for production. */
export const DEFAULT_DOCKER_TIMINGS: DockerTimings = {
  answer: 15_000,
  change: 60_000,
  pullIdle: 600_000,
  pull: 3_600_000,
  retry: 100,
  settled: 3000,
  firstHealthCheck: 60_000,
  stable: 120_000,
  restart: 1000,
  usage: 1000,
  watch: 600_000,
  watchRetryLimit: 60_000,
};

/** The kind of engine, and the version of its API that the client uses. */
interface VersionHandshake {
  readonly engine: 'docker' | 'podman';
  readonly apiVersion: string;
}

/** Request bodies follow the first version. Versions after the last are not tested. */
const MIN_MINOR_VERSION = 41;
/** The version of Podman's own API whose bodies the client sends. Later versions of Podman accept them. */
const LIBPOD = 'v4.0.0/libpod';
const MAX_MINOR_VERSION = 47;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads the headers of a ping response.
 *
 * @throws Unreachable if the server is not an engine, is another engine, or is too old
 */
function readVersionHandshake(headers: Headers, expected: VersionHandshake['engine']): VersionHandshake {
  const [, minor] = /^1\.(\d{1,3})$/.exec(String(headers['api-version'])) ?? [];
  if (minor === undefined) throw notAnEngine();
  const engine = headers['libpod-api-version'] === undefined ? 'docker' : 'podman';
  if (engine !== expected) throw new Unreachable(`It is registered as ${expected}, but the engine is ${engine}.`);
  if (Number(minor) < MIN_MINOR_VERSION) {
    throw new Unreachable(
      `Its Docker Engine API has version 1.${minor}. Version 1.${MIN_MINOR_VERSION} or later is required.`,
    );
  }
  return { engine, apiVersion: `1.${Math.min(Number(minor), MAX_MINOR_VERSION)}` };
}

/** The error for a response with an error status, for any request. */
function toEngineFailure({ status, text }: { readonly status: number; readonly text: string }): Permanent | Transient {
  const response = { status, engineMessage: oneLine(messageIn(text)) };
  const message = `The engine rejected a request (${status}).`;
  if (status === 409 || status === 429 || status >= 500) return new Transient('EngineError', message, response);
  return new Permanent(status === 401 || status === 403 ? 'AuthFailed' : 'InvalidSpec', message, response);
}

function messageIn(text: string): string {
  // Spreading accepts any value at run time, and the type of `message` is checked below.
  const { message } = { ...(parseJson(text) as object | undefined) } as { message?: unknown };
  return typeof message === 'string' ? message : '';
}

interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without the prefix for the API version. */
  readonly path: string;
  /** Whether the path is one of Podman's own API, which Docker does not have. */
  readonly isLibpod?: boolean;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** A body that is not JSON. `headers` state its type. */
  readonly content?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses other than 2xx that do not cause an error. */
  readonly accept?: readonly number[];
  readonly timeoutMs?: number;
}

interface EngineResponse {
  readonly status: number;
  /**
   * The earliest time of the response by the clock of the engine, in milliseconds since the epoch.
   */
  readonly at: number;
  readonly text: string;
}

/**
 * A request with a streamed response. `idleMs` limits the time without data (0: no limit); `signal`
 * ends the stream.
 */
interface Streamed extends Request {
  readonly idleMs: number;
  readonly signal?: AbortSignal;
}

/**
 * A client for an engine with the Docker Engine API. All methods reject with an `EngineFailure`.
 */
export interface DockerClient {
  readonly address: HostAddress;
  readonly timing: DockerTimings;
  /**
   * The kind and API version of the engine. The result is cached until the engine is unreachable.
   */
  versionHandshake(): Promise<VersionHandshake>;
  /** Sends a request with limits on time and size. */
  request(request: Request): Promise<EngineResponse>;
  /**
   * Sends a request and parses the response body with the schema. Members that the schema does not
   * declare are dropped.
   */
  read<S extends z.ZodType>(request: Request, schema: S): Promise<{ readonly body: z.output<S>; readonly at: number }>;
  /**
   * Sends a request and streams the response body without buffering. The stream is closed when the
   * consumer stops.
   */
  open(request: Streamed): Promise<AsyncGenerator<Buffer, void, void>>;
  /** A view of this client whose requests end with `signal`. */
  withSignal(signal: AbortSignal | undefined): DockerClient;
  /**
   * A view of this client that calls `assertLease` before each request. It throws if the request
   * must not be sent.
   */
  withLeaseCheck(assertLease: () => void): DockerClient;
  close(): Promise<void>;
}

/** Creates a client for an engine. Does not connect yet. */
export function connectDocker(address: HostAddress, timing: Partial<DockerTimings> = {}): DockerClient {
  const { endpoint, credentials, restrictTo } = address;
  const tls = credentials && { ca: credentials.ca_certificate, cert: credentials.certificate, key: credentials.key };
  const target = new URL(endpoint.replace(/^tcp:/, tls ? 'https:' : 'http:'));
  const dialled = dial({ target, restrictTo, ...(tls && { tls }) });
  return new EngineClient(
    {
      address,
      timing: { ...DEFAULT_DOCKER_TIMINGS, ...timing },
      dialled,
      handshake: {},
      clock: createHostClock(),
    },
    {},
  );
}

interface Connection {
  readonly address: HostAddress;
  readonly timing: DockerTimings;
  readonly dialled: HttpConnection;
  /** The completed or pending version handshake, shared by all views of the client. */
  readonly handshake: { pending?: Promise<VersionHandshake> | undefined };
  readonly clock: HostClock;
}

class EngineClient implements DockerClient {
  readonly #connection: Connection;
  readonly #bounds: Bounds;

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

  withSignal = (signal: AbortSignal | undefined): DockerClient =>
    new EngineClient(this.#connection, { ...this.#bounds, signal });

  withLeaseCheck = (assertLease: () => void): DockerClient =>
    new EngineClient(this.#connection, { ...this.#bounds, assertLease });

  close = () => this.#connection.dialled.close();

  async versionHandshake(): Promise<VersionHandshake> {
    const { handshake, address } = this.#connection;
    const { signal } = this.#bounds;
    handshake.pending ??= new EngineClient(this.#connection, {}).#ping(address.engine);
    return signal ? orAborted(handshake.pending, signal) : handshake.pending;
  }

  /** Does not use the signal of a view, because all views share the result. */
  async #ping(expected: HostAddress['engine']): Promise<VersionHandshake> {
    return this.#guarded(async () => readVersionHandshake((await this.#exchange('/_ping', {})).headers, expected));
  }

  async request(request: Request): Promise<EngineResponse> {
    const path = await this.#pathOf(request);
    const sentAt = performance.now();
    const { headers, ...response } = await this.#exchange(path, request);
    const isAccepted = (response.status >= 200 && response.status < 300) || request.accept?.includes(response.status);
    if (!isAccepted) throw toEngineFailure(response);
    return { ...response, at: this.#connection.clock.timeOf(headers.date, { sentAt, receivedAt: performance.now() }) };
  }

  async read<S extends z.ZodType>(request: Request, schema: S) {
    const { text, at } = await this.request(request);
    const parsed = schema.safeParse(parseJson(text));
    if (!parsed.success) throw notAnEngine();
    return { body: parsed.data, at };
  }

  async open(request: Streamed): Promise<AsyncGenerator<Buffer, void, void>> {
    const path = await this.#pathOf(request);
    const { method = 'GET', headers = {}, idleMs } = request;
    const exchange = { method, path, headers, idleMs, signal: this.#anyOf(request.signal) };
    this.#bounds.assertLease?.();
    const response = await this.#guarded(() => this.#connection.dialled.exchange(exchange));
    if (response.status >= 200 && response.status < 300)
      return readChunks(response.body, (work) => this.#guarded(work));
    throw toEngineFailure({ status: response.status, text: await this.#guarded(() => readText(response.body)) });
  }

  #anyOf(signal: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([signal, this.#bounds.signal].filter((each) => each !== undefined));
  }

  async #pathOf({ path, query = {}, isLibpod = false }: Request): Promise<string> {
    const { apiVersion } = await this.versionHandshake();
    const queryString = new URLSearchParams(query).toString();
    return `/${isLibpod ? LIBPOD : `v${apiVersion}`}${path}${queryString && `?${queryString}`}`;
  }

  #exchange(
    path: string,
    { method = 'GET', headers = {}, body, content, timeoutMs = this.#timeoutFor(method) }: Omit<Request, 'path'>,
  ) {
    this.#bounds.assertLease?.();
    return this.#measured(async () => {
      const sent = content ?? (body && JSON.stringify(body));
      const allHeaders = { ...headers, ...(body && { 'content-type': 'application/json' }) };
      const exchange = {
        method,
        path,
        headers: allHeaders,
        ...(sent !== undefined && { body: sent }),
        idleMs: timeoutMs,
        signal: this.#anyOf(AbortSignal.timeout(timeoutMs)),
      };
      const response = await this.#connection.dialled.exchange(exchange);
      return { status: response.status, headers: response.headers, text: await readText(response.body) };
    });
  }

  #measured<T>(work: () => Promise<T>): Promise<T> {
    return measured(this.address.engine, () => this.#guarded(work));
  }

  #timeoutFor(method: Request['method']): number {
    return method === 'GET' ? this.timing.answer : this.timing.change;
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
      const failure = error instanceof EngineFailure ? error : toUnreachable(error);
      // After the failure, another engine may respond at the endpoint.
      if (failure instanceof Unreachable) this.#connection.handshake.pending = undefined;
      throw failure;
    }
  }
}

/** Awaits a shared promise until the signal is aborted. @throws the reason of the signal */
function orAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
