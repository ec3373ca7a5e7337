import { z } from 'zod';
import type { ProblemCode } from './problems.ts';

/** `If-Match` with a resource's version (RFC 9110, section 13.1.1); `Idempotency-Key` for a request that may be repeated. */
export type RequestHeader = 'If-Match' | 'Idempotency-Key';

export type Method = 'get' | 'post' | 'put' | 'delete';

/** One operation of a service, declared once: validation, types, the reply's filter, OpenAPI and the client come from it. */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Reply extends z.ZodType = z.ZodType,
  Access extends string = string,
> {
  readonly operationId: string;
  readonly method: Method;
  /** With `:name` for a parameter. */
  readonly path: string;
  /** A row of the service's policy table. */
  readonly access: Access;
  readonly summary: string;
  readonly tag: string;
  /** Status of success. */
  readonly status: number;
  /** Another status of success: what was asked for was there already. */
  readonly alsoStatus?: number;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Bytes that the body may have; 0 where none is read. */
  readonly bodyLimit: number;
  readonly reply: Reply;
  /** The media type of an answer that is sent line by line; `reply` is then what one line holds. */
  readonly stream?: string;
  /** Request headers that it heeds beside those that every request has. */
  readonly headers: readonly RequestHeader[];
  /** The reply holds a secret: no cache may keep it. */
  readonly secret: boolean;
  /** Problems beside those that its shape implies (400, 401, 403, 413, 415, 503). */
  readonly problems: readonly ProblemCode[];
}

const nothing = z.strictObject({});
type Nothing = typeof nothing;

type Declared<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  A extends string,
> = Pick<Endpoint, 'operationId' | 'method' | 'path' | 'summary' | 'tag'> & {
  readonly access: A;
  readonly status?: number;
  readonly alsoStatus?: number;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly bodyLimit?: number;
  readonly reply: R;
  readonly stream?: string;
  readonly headers?: readonly RequestHeader[];
  readonly secret?: boolean;
  readonly problems?: readonly ProblemCode[];
};

/** 100 kB: what a body may have unless its endpoint says more. */
const DEFAULT_BODY_LIMIT = 100 * 1024;

/** Declares an endpoint; what is left out is empty, and success is 200. */
export function endpoint<
  A extends string,
  R extends z.ZodType,
  P extends z.ZodType = Nothing,
  Q extends z.ZodType = Nothing,
  B extends z.ZodType = Nothing,
>(declared: Declared<P, Q, B, R, A>): Endpoint<P, Q, B, R, A> {
  // The casts stand for "left out means Nothing", which is what the type parameters default to.
  return {
    status: 200,
    params: nothing as unknown as P,
    query: nothing as unknown as Q,
    body: nothing as unknown as B,
    bodyLimit: declared.body ? DEFAULT_BODY_LIMIT : 0,
    headers: [],
    secret: false,
    problems: [],
    ...declared,
  };
}

/** What a handler is given. */
export interface Input<E extends Endpoint> {
  readonly params: z.output<E['params']>;
  readonly query: z.output<E['query']>;
  readonly body: z.output<E['body']>;
}

/** What a handler returns; the reply schema makes the wire form of it. */
export type Reply<E extends Endpoint> = z.input<E['reply']>;
