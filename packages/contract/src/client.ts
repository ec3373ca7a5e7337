import type { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { type ProblemCode, problemDocument } from './problems.ts';

/** An HTTP request as the client wants it sent. */
export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Incoming {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Sends a request and reads the whole answer; rejects when there is none. Timeouts, redirects and size caps are its matter. */
export type Send = (request: Outgoing) => Promise<Incoming>;

/** Why a call of the client came to nothing. */
export type CallFailure =
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly code?: ProblemCode; readonly retryAfter?: string }
  | { readonly kind: 'unreadable'; readonly status: number };

/** What a client's call rejects with. The message never holds what the other side sent. */
export class CallError extends Error {
  override name = 'CallError';
  readonly failure: CallFailure;
  constructor(operationId: string, failure: CallFailure) {
    super(`${operationId}: ${describe(failure)}`, 'cause' in failure ? { cause: failure.cause } : undefined);
    this.failure = failure;
  }
}

type Given<T> = unknown extends T ? object : keyof T extends never ? object : T;
interface CallInput<E extends Endpoint> {
  readonly params?: Given<z.output<E['params']>>;
  readonly query?: { readonly [K in keyof z.output<E['query']>]?: string | number | boolean };
  readonly body?: z.input<E['body']>;
}

/** A typed function for each endpoint. */
export type Client<T extends Record<string, Endpoint>> = {
  readonly [K in keyof T]: (input?: CallInput<T[K]>) => Promise<z.output<T[K]['reply']>>;
};

/** Derives a client from a list of endpoints: every reply is parsed by its endpoint's schema. Calls reject with a CallError. */
export function createClient<T extends Record<string, Endpoint>>(
  endpoints: T,
  options: { readonly baseUrl: string; readonly token: string; readonly send: Send },
): Client<T> {
  const calls = Object.entries(endpoints).map(([name, endpoint]) => [
    name,
    (input: CallInput<Endpoint> = {}) => call(endpoint, input, options),
  ]);
  return Object.fromEntries(calls) as Client<T>; // the loop above made exactly one call for each endpoint
}

async function call(
  endpoint: Endpoint,
  input: CallInput<Endpoint>,
  { baseUrl, token, send }: { readonly baseUrl: string; readonly token: string; readonly send: Send },
): Promise<unknown> {
  const fail = (failure: CallFailure) => new CallError(endpoint.operationId, failure);
  const answer = await send({
    method: endpoint.method.toUpperCase(),
    url: addressOf(endpoint, input, baseUrl),
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  }).catch((cause: unknown) => {
    throw fail({ kind: 'unreachable', cause });
  });
  if (answer.status !== endpoint.status) throw fail(refusalOf(answer));
  const reply = endpoint.reply.safeParse(parseJson(answer.body));
  if (!reply.success) throw fail({ kind: 'unreadable', status: answer.status });
  return reply.data;
}

function addressOf(endpoint: Endpoint, input: CallInput<Endpoint>, baseUrl: string): URL {
  const params: Record<string, unknown> = { ...input.params };
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = String(params[name] ?? '');
    // URLs drop such segments, encoded or not: the request would go to another path.
    if (/^\.{0,2}$/.test(value)) {
      throw new RangeError(`${endpoint.operationId}: the path parameter ${name} must not be "${value}"`);
    }
    return encodeURIComponent(value);
  });
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${path}`);
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function refusalOf(answer: Incoming): CallFailure {
  const problem = problemDocument.safeParse(parseJson(answer.body));
  const retryAfter = answer.headers['retry-after'];
  return {
    kind: 'refused',
    status: answer.status,
    ...(problem.success ? { code: problem.data.code } : {}),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // fits no schema, so the caller hears "unreadable"
  }
}

function describe(failure: CallFailure): string {
  switch (failure.kind) {
    case 'unreachable':
      return 'no answer';
    case 'refused':
      return `answered ${failure.status}${failure.code ? ` (${failure.code})` : ''}`;
    case 'unreadable':
      return `answered ${failure.status} with a body that does not fit the contract`;
  }
}
