import { type Dialled, dial } from '@svc/http';
import type { z } from 'zod';
import type { Bounds } from '../bounds.ts';
import { chunksOf } from '../chunks.ts';
import { EngineFailure, Unreachable } from '../errors.ts';
import { notAnEngine, unreachableBy } from '../unreachable.ts';
import { jsonOf, wholeOf } from '../whole.ts';
import { type HostAddress, TIMING, type Timing } from './address.ts';
import type { Answer, Client, Request, Streamed } from './engine-client.ts';
import { type Hello, helloOf } from './hello.ts';
import { refusedWith } from './refused.ts';

/** A client for the engine of a machine. Nothing is called yet. */
export function connect(address: HostAddress, timing: Partial<Timing> = {}): Client {
  const { endpoint, credentials, restrictTo } = address;
  const tls = credentials && { ca: credentials.ca_certificate, cert: credentials.certificate, key: credentials.key };
  const target = new URL(endpoint.replace(/^tcp:/, tls ? 'https:' : 'http:'));
  const dialled = dial({ target, restrictTo, ...(tls && { tls }) });
  return new EngineClient({ address, timing: { ...TIMING, ...timing }, dialled, greeted: {} }, {});
}

interface Connection {
  readonly address: HostAddress;
  readonly timing: Timing;
  readonly dialled: Dialled;
  /** The hello that went well, or is under way, shared by all views of the client. */
  readonly greeted: { hello?: Promise<Hello> | undefined };
}

class EngineClient implements Client {
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

  within = (signal: AbortSignal | undefined): Client => new EngineClient(this.#connection, { ...this.#bounds, signal });

  whileHeld = (mustHold: () => void): Client => new EngineClient(this.#connection, { ...this.#bounds, mustHold });

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
