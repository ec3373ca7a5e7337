import type { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { type ProblemCode, problemDocument } from './problems.ts';

/** An HTTP request that the client passes to `Send`. */
export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  /** The path with the names of its parameters, for traces. */
  readonly route?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Incoming {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/**
 * Sends a request and reads the complete response. Rejects if there is no response. The
 * implementation is responsible for timeouts, redirects and size limits.
 */
export type Send = (request: Outgoing) => Promise<Incoming>;

/** Why a call of the client failed. */
export type CallFailure =
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly code?: ProblemCode; readonly retryAfter?: string }
  | { readonly kind: 'unreadable'; readonly status: number };

/** The error of a failed call. The message never contains data from the server. */
export class CallError extends Error {
  override name = 'CallError';
  readonly failure: CallFailure;
  constructor(operationId: string, failure: CallFailure) {
    super(`${operationId}: ${failureText(failure)}`, 'cause' in failure ? { cause: failure.cause } : undefined);
    this.failure = failure;
  }
}

type Given<T> = unknown extends T ? object : keyof T extends never ? object : T;
interface CallInput<E extends Endpoint> {
  readonly params?: Given<z.output<E['params']>>;
  readonly query?: { readonly [K in keyof z.output<E['query']>]?: string | number | boolean };
  readonly body?: z.input<E['body']>;
}

/** One typed function per endpoint. */
export type Client<T extends Record<string, Endpoint>> = {
  readonly [K in keyof T]: (input?: CallInput<T[K]>) => Promise<z.output<T[K]['reply']>>;
};

interface ClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** The id that the server uses for the requests. Undefined: it assigns one to each request. */
  readonly requestId?: string | undefined;
  readonly send: Send;
}

/**
 * Creates a client for a list of endpoints. The endpoint's schema parses each reply. Calls reject
 * with a CallError.
 */
export function createClient<T extends Record<string, Endpoint>>(endpoints: T, options: ClientOptions): Client<T> {
  const calls = Object.entries(endpoints).map(([name, endpoint]) => [
    name,
    (input: CallInput<Endpoint> = {}) => call(endpoint, input, options),
  ]);
  return Object.fromEntries(calls) as Client<T>; // `calls` has exactly one entry for each endpoint
}

async function call(
  endpoint: Endpoint,
  input: CallInput<Endpoint>,
  { baseUrl, token, requestId, send }: ClientOptions,
): Promise<unknown> {
  const fail = (failure: CallFailure) => new CallError(endpoint.operationId, failure);
  const response = await send({
    method: endpoint.method.toUpperCase(),
    url: addressOf(endpoint, input, baseUrl),
    route: endpoint.path,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  }).catch((cause: unknown) => {
    throw fail({ kind: 'unreachable', cause });
  });
  if (response.status !== endpoint.status) throw fail(errorResponseOf(response));
  const reply = endpoint.reply.safeParse(parseJson(response.body));
  if (!reply.success) throw fail({ kind: 'unreadable', status: response.status });
  return reply.data;
}

function addressOf(endpoint: Endpoint, input: CallInput<Endpoint>, baseUrl: string): URL {
  const params: Record<string, unknown> = { ...input.params };
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = String(params[name] ?? '');
    // URL parsing removes these segments, also if they are encoded: the request would go to another
    // path.
    if (/^\.{0,2}$/.test(value)) {
      throw new RangeError(`${endpoint.operationId}: the path parameter ${name} must not be "${value}"`);
    }
    return encodeURIComponent(value);
  });
  const url = new URL(`${baseUrl.replace(/(?<!\/)\/+$/, '')}${path}`);
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

const problemCode = problemDocument.pick({ code: true });

function errorResponseOf(response: Incoming): CallFailure {
  const problem = problemCode.safeParse(parseJson(response.body));
  const retryAfter = response.headers['retry-after'];
  return {
    kind: 'refused',
    status: response.status,
    ...(problem.success ? { code: problem.data.code } : {}),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // matches no reply schema, so the failure is "unreadable"
  }
}

function failureText(failure: CallFailure): string {
  switch (failure.kind) {
    case 'unreachable':
      return 'no response';
    case 'refused':
      return `status ${failure.status}${failure.code ? ` (${failure.code})` : ''}`;
    case 'unreadable':
      return `status ${failure.status} with a body that does not match the contract`;
  }
}
