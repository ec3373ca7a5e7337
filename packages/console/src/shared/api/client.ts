import type { Endpoint, ProblemDocument } from '@svc/contract';
import type { z } from 'zod';
import { t } from '../texts/texts.ts';
import { noteServerTime } from './clock.ts';
import { noteAnswer, noteRequest } from './connection.ts';
import { consoleKey } from './console-key.ts';

/** There was no response: the network or the service is not available. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/** The service did not respond within the time limit of the request. */
export class TimedOut extends Unreachable {
  override name = 'TimedOut';
}

/** The service responded with a problem. */
export class Refused extends Error {
  override name = 'Refused';
  readonly status: number;
  readonly problem: ProblemDocument | undefined;
  /** Seconds after which the request can be repeated, if the service states it. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: ProblemDocument | undefined, retryAfter: number | undefined) {
    super(problem?.detail ?? t('The service responded with status {status}.', { status }));
    this.status = status;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

export type Failure = Unreachable | Refused;

/** One part of a request. It is optional if all its members are, and absent if it has none. */
type Part<Name extends string, Given> = unknown extends Given
  ? unknown
  : string extends keyof Given
    ? unknown
    : keyof Given extends never
      ? unknown
      : Record<never, never> extends Given
        ? { readonly [N in Name]?: Given }
        : { readonly [N in Name]: Given };

/** A value of a query as a page has it. */
type QueryValue<V> = V extends undefined
  ? undefined
  : string extends V
    ? string | number | boolean
    : V extends 'true' | 'false'
      ? boolean
      : V;

type Query<Q> = { readonly [K in keyof Q]: QueryValue<Q[K]> };

/** What a request can have in addition to the parts that its endpoint declares. */
interface RequestOptions {
  readonly signal?: AbortSignal;
  /** The time limit of a request that takes longer than others. */
  readonly seconds?: number;
  /** The version that the page shows. The change fails if the resource has another one. */
  readonly ifMatch?: number;
  readonly idempotencyKey?: string;
}

export type CallInput<E extends Endpoint> = Part<'params', z.input<E['params']>> &
  Part<'query', Query<z.input<E['query']>>> &
  Part<'body', z.input<E['body']>> &
  RequestOptions;

/** The input can be omitted if none of its members is required. */
export type CallArguments<E extends Endpoint> =
  Record<never, never> extends CallInput<E> ? [input?: CallInput<E>] : [input: CallInput<E>];

export type Output<E extends Endpoint> = z.output<E['reply']>;

export type Endpoints = Readonly<Record<string, Endpoint>>;

/** One typed function for all endpoints: a wrong or missing member does not compile. */
export interface Client<T extends Endpoints> {
  call<K extends keyof T & string>(name: K, ...input: CallArguments<T[K]>): Promise<Output<T[K]>>;
  /** Reads the lines of a streamed response. */
  lines<K extends keyof T & string>(name: K, ...input: CallArguments<T[K]>): AsyncGenerator<string, void, void>;
  /** The URL of a request without a body, for links. */
  urlOf<K extends keyof T & string>(name: K, ...input: CallArguments<T[K]>): string;
  tagOf(name: keyof T & string): string;
  accessOf(name: keyof T & string): string;
  /** The endpoint of a request; undefined if there is none. */
  endpointOf(method: string, path: string): (keyof T & string) | undefined;
}

interface LooseInput extends RequestOptions {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/**
 * @param onUnauthenticated runs if the session has ended. It resolves when the user has signed in
 * again, and the request is then repeated; it rejects if another user has signed in
 */
export function createClient<T extends Endpoints>(
  table: Readonly<Record<string, EndpointRow>>,
  onUnauthenticated: () => Promise<void>,
): Client<T> {
  const rowOf = (name: string): EndpointRow => {
    const row = table[name];
    if (!row) throw new Error(`The contract has no endpoint ${name}.`);
    return row;
  };

  const attempt = async (name: string, input: LooseInput, limit: TimeLimit): Promise<Response> => {
    const [method, path, , , , upload] = rowOf(name);
    const { body, ifMatch, idempotencyKey } = input;
    noteRequest();
    try {
      const response = await fetch(addressOf(path, input), {
        method,
        credentials: 'same-origin',
        headers: {
          Accept: 'application/json',
          ...(consoleKey === undefined ? {} : { 'Console-Key': consoleKey }),
          ...(body === undefined ? {} : { 'Content-Type': upload ?? 'application/json' }),
          ...(ifMatch === undefined ? {} : { 'If-Match': `"${ifMatch}"` }),
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        },
        // The body of an upload is its bytes, as the contract declares it.
        ...(body === undefined ? {} : { body: upload === undefined ? JSON.stringify(body) : (body as BodyInit) }),
        signal: limit.signal,
      });
      noteServerTime(response.headers.get('date'));
      noteAnswer(response);
      return response;
    } catch (cause) {
      throw limit.failureOf(cause);
    }
  };

  /** Each attempt has the whole time: between two of them, the user can sign in. */
  const send = async (name: string, input: LooseInput, limit: TimeLimit): Promise<Response> => {
    limit.begin();
    let response = await attempt(name, input, limit);
    if (response.status === 401 && rowOf(name)[4] !== 'anyone') {
      const refusal = await refusalOf(response);
      limit.end();
      await onUnauthenticated().catch(() => {
        throw refusal;
      });
      limit.begin();
      response = await attempt(name, input, limit);
    }
    if (!response.ok) throw await refusalOf(response);
    return response;
  };

  return {
    call: async (name, ...[input]) => {
      const given: LooseInput = input ?? {};
      const limit = timeLimit(isReading(rowOf(name)) ? reading(given.seconds) : changing(given.seconds), given.signal);
      try {
        const response = await send(name, given, limit);
        const reply = response.status === 204 ? undefined : await response.json().catch(limit.rethrow);
        // The service presents each reply with the schema from which this type derives.
        return reply as never;
      } finally {
        limit.end();
      }
    },
    async *lines(name, ...[input]) {
      const given: LooseInput = input ?? {};
      const limit = timeLimit(reading(), given.signal);
      const { body } = await send(name, given, limit).finally(limit.end);
      try {
        if (body) yield* linesOf(body);
      } catch (cause) {
        throw limit.failureOf(cause);
      }
    },
    urlOf: (name, ...[input]) => addressOf(rowOf(name)[1], input ?? {}),
    tagOf: (name) => rowOf(name)[2],
    accessOf: (name) => rowOf(name)[4],
    endpointOf: (method, path) =>
      Object.entries(table).find(([, row]) => row[0] === method && matches(row[1], path))?.[0],
  };
}

/** Whether an endpoint changes nothing. Some reads have a body. */
const isReading = (row: EndpointRow) => row[0] === 'GET' || row[4].endsWith('-read');

/** Whether a path has the form of a pattern such as `/hosts/:id`. */
function matches(pattern: string, path: string): boolean {
  const parts = path.split('/');
  const expected = pattern.split('/');
  return (
    expected.length === parts.length && expected.every((part, index) => part.startsWith(':') || part === parts[index])
  );
}

interface Limit {
  readonly seconds: number;
  /** What is wrong after this time. */
  readonly late: string;
}

/**
 * The time limits of requests. A service answers reads within seconds, and changes of an engine
 * within a minute.
 */
const reading = (seconds = 20): Limit => ({
  seconds,
  late: t('The service has not responded within {seconds} seconds.', { seconds }),
});
const changing = (seconds = 60): Limit => ({
  seconds,
  late: t(
    'The service has not responded within {seconds} seconds. It is not known whether the change was made: check that before you repeat it.',
    { seconds },
  ),
});

interface TimeLimit {
  /** Aborts the request at its time limit, or when its caller aborts it. */
  readonly signal: AbortSignal;
  /** Begins the time. */
  readonly begin: () => void;
  /** Ends the time. The rest of a stream has no limit. */
  readonly end: () => void;
  /** The failure of a request that was sent with the signal. */
  readonly failureOf: (cause: unknown) => unknown;
  readonly rethrow: (cause: unknown) => never;
}

function timeLimit({ seconds, late }: Limit, aborted: AbortSignal | undefined): TimeLimit {
  const timer = new AbortController();
  let timeout: ReturnType<typeof setTimeout> | undefined;
  const failureOf = (cause: unknown) => {
    if (aborted?.aborted) return cause;
    return timer.signal.aborted ? new TimedOut(late, { cause }) : unreachable(cause);
  };
  return {
    signal: aborted ? AbortSignal.any([aborted, timer.signal]) : timer.signal,
    begin: () => {
      timeout = setTimeout(() => timer.abort(), seconds * 1000);
    },
    end: () => clearTimeout(timeout),
    failureOf,
    rethrow: (cause) => {
      throw failureOf(cause);
    },
  };
}

const unreachable = (cause: unknown) =>
  new Unreachable(t('There is no response. Check that the service runs and that the network is available.'), { cause });

function addressOf(path: string, { params = {}, query = {} }: LooseInput): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

async function refusalOf(response: Response): Promise<Refused> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') ?? false;
  const body: unknown = isProblem ? await response.json().catch(() => undefined) : undefined;
  // The services send only this document with this media type.
  const problem = body as ProblemDocument | undefined;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new Refused(response.status, problem, Number.isFinite(seconds) ? seconds : undefined);
}

async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (rest + next.value).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
