import { type Dialled, dial, type OutboundAllowance } from '@svc/http';
import type { z } from 'zod';
import { type Bounds, chunksOf, jsonOf, wholeOf } from '../body.ts';
import { EngineFailure, notAnEngine, Permanent, Transient, Unreachable, unreachableBy } from '../errors.ts';
import { oneLine } from '../redact.ts';

/** A machine whose engine is called. */
export interface HostAddress {
  readonly engine: 'docker' | 'podman';
  /** `unix:///path`, or `tcp://host:port`: by TLS where there are credentials. */
  readonly endpoint: string;
  readonly credentials: { readonly ca_certificate: string; readonly certificate: string; readonly key: string } | null;
  /** What endpoints that were set through the API may be beside public; left out for what the operator set. */
  readonly restrictTo?: ReadonlySet<OutboundAllowance> | undefined;
}

/** Milliseconds. */
export interface DockerTimings {
  /** For an answer, its whole body included. */
  readonly answer: number;
  /** For an answer to what changes something: networks and mounts are made meanwhile. */
  readonly change: number;
  /** That a pull may say nothing, and that it may take. */
  readonly pullIdle: number;
  readonly pull: number;
  /** Before an engine is asked again for what it could not tell. */
  readonly again: number;
  /** That a container has been up before it counts as running. */
  readonly settled: number;
  /** What ended by itself sooner than this has crashed, whatever its exit code. */
  readonly shortLife: number;
}

/** The values of production. */
export const DEFAULT_DOCKER_TIMINGS: DockerTimings = {
  answer: 15_000,
  change: 60_000,
  pullIdle: 600_000,
  pull: 3_600_000,
  again: 100,
  settled: 3000,
  shortLife: 10_000,
};

/** Who answers, and how it is spoken to. */
interface Hello {
  readonly engine: 'docker' | 'podman';
  readonly apiVersion: string;
}

/** The bodies that we make are those of the first; nothing later than the last was tried. */
const FIRST = 41;
const LAST = 47;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Reads the answer to a ping. @throws Unreachable for what is no engine, not the one that it is said to be, or too old */
function helloOf(headers: Headers, expected: Hello['engine']): Hello {
  const [, minor] = /^1\.(\d{1,3})$/.exec(String(headers['api-version'])) ?? [];
  if (minor === undefined) throw notAnEngine();
  const engine = headers['libpod-api-version'] === undefined ? 'docker' : 'podman';
  if (engine !== expected) throw new Unreachable(`It is registered as ${expected}, and answers as ${engine}.`);
  if (Number(minor) < FIRST) {
    throw new Unreachable(`It speaks version 1.${minor} of the Docker Engine API, and 1.${FIRST} is needed.`);
  }
  return { engine, apiVersion: `1.${Math.min(Number(minor), LAST)}` };
}

/** The error for an answer that says no, whatever was asked. */
function refusedWith({ status, text }: { readonly status: number; readonly text: string }): Permanent | Transient {
  const answer = { status, said: oneLine(saidIn(text)) };
  const message = `The engine refused a request (${status}).`;
  if (status === 409 || status === 429 || status >= 500) return new Transient('EngineError', message, answer);
  return new Permanent(status === 401 || status === 403 ? 'AuthFailed' : 'InvalidSpec', message, answer);
}

function saidIn(text: string): string {
  const { message } = { ...(jsonOf(text) as object | undefined) } as { message?: unknown };
  return typeof message === 'string' ? message : '';
}

interface Request {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Without the version of the API. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses beside 2xx that are an answer, too. */
  readonly accept?: readonly number[];
  readonly timeoutMs?: number;
}

interface Answer {
  readonly status: number;
  /** The clock of the engine's machine. */
  readonly at: number;
  readonly text: string;
}

/** What is answered bit by bit: it may stand still for `idleMs` (0: for ever), and ends with its signal, if it has one. */
interface Streamed extends Request {
  readonly idleMs: number;
  readonly signal?: AbortSignal;
}

/** An engine that speaks the Docker Engine API. Everything rejects with an `EngineFailure`. */
export interface DockerClient {
  readonly address: HostAddress;
  readonly timing: DockerTimings;
  /** Who answers, asked once. */
  hello(): Promise<Hello>;
  /** One bounded exchange. */
  ask(request: Request): Promise<Answer>;
  /** The body of a GET, as far as the schema knows it. */
  read<S extends z.ZodType>(request: Request, schema: S): Promise<{ readonly body: z.output<S>; readonly at: number }>;
  /** An answer as it comes, never kept: whoever stops reading ends it. */
  open(request: Streamed): Promise<AsyncGenerator<Buffer, void, void>>;
  /** The same client, for work that ends with `signal`. */
  within(signal: AbortSignal | undefined): DockerClient;
  /** The same client, which asks before each request whether it may still be sent: `mustHold` throws where it may not. */
  whileHeld(mustHold: () => void): DockerClient;
  close(): Promise<void>;
}

/** A client for the engine of a machine. Nothing is called yet. */
export function connectDocker(address: HostAddress, timing: Partial<DockerTimings> = {}): DockerClient {
  const { endpoint, credentials, restrictTo } = address;
  const tls = credentials && { ca: credentials.ca_certificate, cert: credentials.certificate, key: credentials.key };
  const target = new URL(endpoint.replace(/^tcp:/, tls ? 'https:' : 'http:'));
  const dialled = dial({ target, restrictTo, ...(tls && { tls }) });
  return new EngineClient({ address, timing: { ...DEFAULT_DOCKER_TIMINGS, ...timing }, dialled, greeted: {} }, {});
}

interface Connection {
  readonly address: HostAddress;
  readonly timing: DockerTimings;
  readonly dialled: Dialled;
  /** The hello that went well, or is under way, shared by all views of the client. */
  readonly greeted: { hello?: Promise<Hello> | undefined };
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

  within = (signal: AbortSignal | undefined): DockerClient =>
    new EngineClient(this.#connection, { ...this.#bounds, signal });

  whileHeld = (mustHold: () => void): DockerClient => new EngineClient(this.#connection, { ...this.#bounds, mustHold });

  close = () => this.#connection.dialled.close();

  async hello(): Promise<Hello> {
    const { greeted, address } = this.#connection;
    const { signal } = this.#bounds;
    greeted.hello ??= new EngineClient(this.#connection, {}).#greet(address.engine);
    return signal ? orEnded(greeted.hello, signal) : greeted.hello;
  }

  /** Shared by whoever asks next: it ends with nobody's signal. */
  async #greet(expected: HostAddress['engine']): Promise<Hello> {
    return this.#guarded(async () => helloOf((await this.#exchange('/_ping', {})).headers, expected));
  }

  async ask(request: Request): Promise<Answer> {
    const { headers, ...answer } = await this.#exchange(await this.#pathOf(request), request);
    const isFine = (answer.status >= 200 && answer.status < 300) || request.accept?.includes(answer.status);
    if (!isFine) throw refusedWith(answer);
    const at = Date.parse(String(headers.date));
    return { ...answer, at: Number.isNaN(at) ? Date.now() : at };
  }

  async read<S extends z.ZodType>(request: Request, schema: S) {
    const { text, at } = await this.ask(request);
    const parsed = schema.safeParse(jsonOf(text));
    if (!parsed.success) throw notAnEngine();
    return { body: parsed.data, at };
  }

  async open(request: Streamed): Promise<AsyncGenerator<Buffer, void, void>> {
    const path = await this.#pathOf(request);
    const { method = 'GET', headers = {}, idleMs } = request;
    const exchange = { method, path, headers, idleMs, signal: this.#until(request.signal) };
    this.#bounds.mustHold?.();
    const answer = await this.#guarded(() => this.#connection.dialled.exchange(exchange));
    if (answer.status >= 200 && answer.status < 300) return chunksOf(answer.body, (work) => this.#guarded(work));
    throw refusedWith({ status: answer.status, text: await this.#guarded(() => wholeOf(answer.body)) });
  }

  #until(signal: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([signal, this.#bounds.signal].filter((one) => one !== undefined));
  }

  async #pathOf({ path, query = {} }: Request): Promise<string> {
    const { apiVersion } = await this.hello();
    const said = new URLSearchParams(query).toString();
    return `/v${apiVersion}${path}${said && `?${said}`}`;
  }

  #exchange(
    path: string,
    { method = 'GET', headers = {}, body, timeoutMs = this.#patienceFor(method) }: Omit<Request, 'path'>,
  ) {
    this.#bounds.mustHold?.();
    return this.#guarded(async () => {
      const json = body && { body: JSON.stringify(body) };
      const sent = { ...headers, ...(body && { 'content-type': 'application/json' }) };
      const exchange = {
        method,
        path,
        headers: sent,
        ...json,
        idleMs: timeoutMs,
        signal: this.#until(AbortSignal.timeout(timeoutMs)),
      };
      const answer = await this.#connection.dialled.exchange(exchange);
      return { status: answer.status, headers: answer.headers, text: await wholeOf(answer.body) };
    });
  }

  #patienceFor(method: Request['method']): number {
    return method === 'GET' ? this.timing.answer : this.timing.change;
  }

  /** Whatever a connection fails with is said as what it means; an end that was asked for stays what it is. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#bounds.signal?.throwIfAborted();
      const failure = error instanceof EngineFailure ? error : unreachableBy(error);
      if (failure instanceof Unreachable) this.#connection.greeted.hello = undefined; // another may answer next time
      throw failure;
    }
  }
}

/** What many wait for, until one of them has to go. @throws the reason of the signal */
function orEnded<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
