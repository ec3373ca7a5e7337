import type { Endpoint, Input, Reply } from '@svc/contract';
import type { Express, Request, Response } from 'express';
import { etagOfBody, hasEtagOf, Rendered, Unchanged, WithEtag } from '../response/etag.ts';
import { Problem } from '../response/problem.ts';
import { Redirect } from '../response/redirect.ts';
import { JSON_TYPE, jsonResponse, type PendingResponse, respond } from '../response/respond.ts';
import { Streamed } from '../response/streamed.ts';
import { WithCookies } from '../response/with-cookies.ts';
import { type GivenInput, readInput, validateInput } from './input.ts';

/** A reply for an object that already existed. The response has the status `alsoStatus` of the endpoint. */
export class AlreadyExists<R> {
  readonly reply: R;
  constructor(reply: R) {
    this.reply = reply;
  }
}

type Handled<E extends Endpoint> = Promise<
  | Reply<E>
  | AlreadyExists<Reply<E>>
  | WithCookies<Reply<E>>
  | WithEtag<Reply<E>>
  | Rendered
  | Unchanged
  | Redirect
  | Streamed
>;

/** An endpoint with its handler. */
export interface Route<Context, E extends Endpoint = Endpoint> {
  readonly endpoint: E;
  // Method syntax makes the parameters bivariant, so that routes with different inputs can be in one list.
  handle(context: Context, input: Input<E>): Handled<E>;
}

/** Creates a `route` function for the request context of a service, so that handlers need no type annotations. */
export const routeFor =
  <Context>() =>
  <E extends Endpoint>(endpoint: E, handle: (context: Context, input: Input<E>) => Handled<E>): Route<Context, E> => ({
    endpoint,
    handle,
  });

/** The routes of a contract, one per endpoint. A missing route is a type error; other members of `routes` are ignored. */
export const implementFor =
  <Context>() =>
  <T extends Record<string, Endpoint>>(
    contract: T,
    routes: { [K in keyof T]: Route<Context, T[K]> },
  ): Route<Context>[] =>
    Object.keys(contract).map((name) => routes[name] as Route<Context>); // the mapped type above has a route for each name

/** Authenticates and authorizes a request. Resolves to the context for the handler. */
export type Enter<Context> = (req: Request, res: Response, endpoint: Endpoint) => Promise<Context>;

/** Mounts the routes: literal paths before paths with parameters, and 405 for other methods of each path. */
export function mount<Context>(app: Express, routes: readonly Route<Context>[], enter: Enter<Context>): void {
  const paths = new Map<string, Route<Context>[]>();
  for (const route of routes) paths.set(route.endpoint.path, [...(paths.get(route.endpoint.path) ?? []), route]);
  const literalsFirst = [...paths].sort(([a], [b]) => Number(a.includes(':')) - Number(b.includes(':')));
  for (const [path, atPath] of literalsFirst) {
    for (const route of atPath) {
      app[route.endpoint.method](path, async (req, res) => respond(res, await run(route, { req, res, enter })));
    }
    refuseOtherMethods(
      app,
      path,
      atPath.map(({ endpoint }) => endpoint.method.toUpperCase()),
    );
  }
}

interface Run<Context> {
  readonly req: Request;
  readonly res: Response;
  readonly enter: Enter<Context>;
  readonly read?: typeof readInput;
}

/** Processes a request: authenticate and authorize, validate, handle, present. */
export async function run<Context>(
  route: Route<Context>,
  { req, res, enter, read = readInput }: Run<Context>,
): Promise<PendingResponse> {
  const { endpoint } = route;
  const context = await enter(req, res, endpoint);
  const input = await read(endpoint, req, res);
  return present(endpoint, await route.handle(context, input), req);
}

/** The result of an operation that was not a request of its own. */
export interface Performed {
  readonly status: number;
  /** The reply as its schema presents it; undefined without a body. */
  readonly reply: unknown;
  /** Replaces the reply. */
  readonly stream?: Streamed;
}

/** Performs an operation as `run` does, without HTTP: the context belongs to a caller who is admitted to the endpoint. */
export async function perform<Context>(route: Route<Context>, context: Context, given: GivenInput): Promise<Performed> {
  const { endpoint } = route;
  const handled: unknown = await route.handle(context, validateInput(endpoint, given));
  if (handled instanceof Streamed) return { status: endpoint.status, reply: undefined, stream: handled };
  if (handled instanceof Rendered) return { status: endpoint.status, reply: JSON.parse(handled.body.toString()) };
  if (handled instanceof Unchanged || handled instanceof Redirect || handled instanceof WithCookies) {
    throw new Error(`${endpoint.operationId} cannot be performed without HTTP`);
  }
  if (endpoint.status === 204) return { status: 204, reply: undefined };
  const isOld = handled instanceof AlreadyExists;
  const reply = isOld || handled instanceof WithEtag ? handled.reply : handled;
  const status = isOld ? (endpoint.alsoStatus ?? endpoint.status) : endpoint.status;
  return { status, reply: endpoint.reply.parse(reply) };
}

const NOT_STORED = { 'Cache-Control': 'no-store' };
/** Proxies that compress a stream delay its chunks, too. nginx reads the second header. */
const UNBUFFERED = { 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' };

function present(endpoint: Endpoint, handled: unknown, req: Request): PendingResponse {
  if (handled instanceof WithCookies) {
    const response = present(endpoint, handled.reply, req);
    const cleared = handled.clearsCache ? { 'Clear-Site-Data': '"cache"' } : {};
    return { ...response, headers: { ...response.headers, ...cleared, 'Set-Cookie': handled.cookies } };
  }
  const headers = {
    'Cache-Control': cacheControl(endpoint, req),
    Vary: 'Accept-Encoding, Authorization, Cookie, Origin',
  };
  if (handled instanceof Unchanged) return { status: 304, headers: { ...headers, ETag: handled.etag } };
  if (handled instanceof Redirect) {
    return {
      status: endpoint.status,
      headers: { ...headers, 'Set-Cookie': handled.cookies, Location: handled.location },
    };
  }
  if (handled instanceof Streamed) {
    const { etag, withoutBuffering = false, fileName } = handled.options;
    const own = {
      'Content-Type': handled.contentType,
      ...(withoutBuffering ? UNBUFFERED : NOT_STORED),
      ...(etag === undefined ? {} : { ETag: etag }),
      ...(fileName === undefined ? {} : { 'Content-Disposition': `attachment; filename="${fileName}"` }),
    };
    return { status: endpoint.status, headers: { ...headers, ...own }, stream: handled };
  }
  if (handled instanceof Rendered) {
    const { body, etag } = handled;
    if (hasEtagOf(req)(etag)) return { status: 304, headers: { ...headers, ETag: etag } };
    const own = { 'Content-Type': JSON_TYPE, ETag: etag };
    return { status: endpoint.status, headers: { ...headers, ...own }, body, isCompressible: isRevalidated(endpoint) };
  }
  if (endpoint.status === 204) return { status: 204, headers };
  if (handled instanceof AlreadyExists) {
    return jsonResponse(endpoint.alsoStatus ?? endpoint.status, endpoint.reply.parse(handled.reply), headers);
  }
  const tagged = handled instanceof WithEtag ? handled : undefined;
  const response = jsonResponse(endpoint.status, endpoint.reply.parse(tagged ? tagged.reply : handled), headers);
  if (!isRevalidated(endpoint)) return response;
  const etag = tagged?.etag ?? etagOfBody(response.body);
  if (hasEtagOf(req)(etag)) return { status: 304, headers: { ...headers, ETag: etag } };
  return { ...response, headers: { ...response.headers, ETag: etag }, isCompressible: true };
}

/**
 * Whether caches can store the response and must revalidate it. Responses to writes and with secrets must not be
 * stored.
 */
const isRevalidated = (endpoint: Endpoint) => endpoint.method === 'get' && !endpoint.secret;

function cacheControl(endpoint: Endpoint, req: Request): string {
  if (!isRevalidated(endpoint)) return 'no-store';
  const isAnonymous = req.headers.authorization === undefined && req.headers.cookie === undefined;
  return isAnonymous ? 'public, no-cache' : 'private, no-cache';
}

/** OPTIONS returns the allowed methods; other methods return 405. */
export function refuseOtherMethods(app: Express, path: string, methods: readonly string[]): void {
  const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const route = app.route(path);
  route.options((_req, res) => respond(res, { status: 204, headers: { Allow: allowed } }));
  // app.all would add a layer for each method that Node supports.
  route.all((req) => {
    throw new Problem('method_not_allowed', `The method ${req.method} is not allowed; allowed: ${allowed}.`, {
      headers: { Allow: allowed },
    });
  });
}
