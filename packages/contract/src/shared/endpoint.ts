import { z } from 'zod';
import type { ProblemCode } from './problems.ts';
import { changeReads, type Reads, smallReads } from './reads.ts';

/**
 * `If-Match`: the version of a resource (RFC 9110, section 13.1.1). `Idempotency-Key`: the request
 * can be repeated safely. `Last-Event-ID`: the position after which a stream of events continues
 * (HTML, section 9.2).
 */
export type RequestHeader = 'If-Match' | 'Idempotency-Key' | 'Last-Event-ID';

export type Method = 'get' | 'post' | 'put' | 'delete';

/**
 * An operation of a service. Validation, types, the filter of replies, OpenAPI and the client
 * derive from it.
 */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Reply extends z.ZodType = z.ZodType,
  Access extends string = string,
> {
  readonly operationId: string;
  readonly method: Method;
  /** `:name` is a path parameter. */
  readonly path: string;
  /** A row of the service's policy table. */
  readonly access: Access;
  readonly summary: string;
  readonly tag: string;
  /** The status of a successful response. */
  readonly status: number;
  /** The status of a successful response if the requested resource already existed. */
  readonly alsoStatus?: number;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The maximum size of a body of JSON in bytes; 0: no JSON is read. */
  readonly bodyLimit: number;
  /** The body is a file instead of JSON. `body` is then the schema of its bytes. */
  readonly upload?: Upload;
  readonly reply: Reply;
  /**
   * The media type of a response that is streamed. `reply` is then the schema of one line, or of
   * the data of one event.
   */
  readonly stream?: string;
  /** The media range of a response that is a file, such as `image/*`. `reply` is then not used. */
  readonly file?: string;
  /** Request headers that only some endpoints support. */
  readonly headers: readonly RequestHeader[];
  /** The bound of what a call reads. A response with a stream reads it in parts. */
  readonly reads: Reads;
  /** The reply contains a secret and must not be cached. */
  readonly secret: boolean;
  /** Successful responses can set or delete cookies. */
  readonly setsCookie: boolean;
  /** Problems other than those that follow from its declaration (see `problemsOf`). */
  readonly problems: readonly ProblemCode[];
}

/** A file as the body of a request. */
export interface Upload {
  /** Its media type, such as `application/gzip`. */
  readonly type: string;
  /** Its maximum size in bytes. */
  readonly limit: number;
}

/** The schema of the body of an upload. */
export const fileBytes = z.instanceof(Uint8Array);

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
  readonly upload?: Upload;
  readonly reply: R;
  readonly stream?: string;
  readonly file?: string;
  readonly headers?: readonly RequestHeader[];
  /** Default: `smallReads`, and `changeReads` for other methods than GET. */
  readonly reads?: Reads;
  readonly secret?: boolean;
  readonly setsCookie?: boolean;
  readonly problems?: readonly ProblemCode[];
};

/** The default maximum size of a body, in bytes. */
const DEFAULT_BODY_LIMIT = 100 * 1024;

/** Declares an endpoint. Parts that are left out are empty; the default status is 200. */
export function endpoint<
  A extends string,
  R extends z.ZodType,
  P extends z.ZodType = Nothing,
  Q extends z.ZodType = Nothing,
  B extends z.ZodType = Nothing,
>(declared: Declared<P, Q, B, R, A>): Endpoint<P, Q, B, R, A> {
  return {
    status: 200,
    params: nothing as unknown as P, // the type parameter of a part that is left out is Nothing
    query: nothing as unknown as Q, // as for `params`
    body: nothing as unknown as B, // as for `params`
    bodyLimit: declared.body && !declared.upload ? DEFAULT_BODY_LIMIT : 0,
    headers: [],
    reads: declared.method === 'get' ? smallReads : changeReads,
    secret: false,
    setsCookie: false,
    problems: [],
    ...declared,
  };
}

/** The input of a handler. */
export interface Input<E extends Endpoint> {
  readonly params: z.output<E['params']>;
  readonly query: z.output<E['query']>;
  readonly body: z.output<E['body']>;
}

/** The result of a handler. The reply schema converts it to the representation in the API. */
export type Reply<E extends Endpoint> = z.input<E['reply']>;
