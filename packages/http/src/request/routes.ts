import type { Endpoint, Input, Reply } from '@svc/contract';
import type { Express, Request, Response } from 'express';
import { present } from '../response/present.ts';
import { Problem } from '../response/problem.ts';
import { type PendingResponse, respond } from '../response/respond.ts';
import { isSpecialReply, kind, type SpecialReply, type Streamed } from '../response/special-reply.ts';
import { type GivenInput, readInput, validateInput } from './input.ts';

type Handled<E extends Endpoint> = Promise<Reply<E> | SpecialReply<Reply<E>>>;

/** An endpoint with its handler. */
export interface Route<Context, E extends Endpoint = Endpoint> {
  readonly endpoint: E;
  // Method syntax makes the parameters bivariant, so that routes with different inputs can be in
  // one list.
  handle(context: Context, input: Input<E>): Handled<E>;
}

/**
 * Creates a `route` function for the request context of a service, so that handlers need no type
 * annotations.
 */
export const routeFor =
  <Context>() =>
  <E extends Endpoint>(endpoint: E, handle: (context: Context, input: Input<E>) => Handled<E>): Route<Context, E> => ({
    endpoint,
    handle,
  });

/**
 * The routes of a contract, one per endpoint. A missing route is a type error; other members of
 * `routes` are ignored.
 */
export const implementFor =
  <Context>() =>
  <T extends Record<string, Endpoint>>(
    contract: T,
    routes: { [K in keyof T]: Route<Context, T[K]> },
  ): Route<Context>[] =>
    // The mapped type above has a route for each name.
    Object.keys(contract).map((name) => routes[name] as Route<Context>);

/** Authenticates and authorizes a request. Resolves to the context for the handler. */
export type Enter<Context> = (req: Request, res: Response, endpoint: Endpoint) => Promise<Context>;

/**
 * Mounts the routes: literal paths before paths with parameters, and 405 for other methods of each
 * path.
 */
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

/** The maximum size of a response that is read without HTTP, and parsed again. */
export const MAX_PERFORMED_BYTES = 4 * 1024 * 1024;

/** Refuses a read of more than `MAX_PERFORMED_BYTES`. @throws 413 */
export function refuseLargeRead(bytes: number): void {
  if (bytes <= MAX_PERFORMED_BYTES) return;
  throw new Problem(
    'payload_too_large',
    `The response has ${bytes} bytes, and at most ${MAX_PERFORMED_BYTES} are allowed. Request less: a smaller limit, or a filter.`,
  );
}

/**
 * Performs an operation as `run` does, without HTTP: the context belongs to a caller who is
 * admitted to the endpoint.
 */
export async function perform<Context>(route: Route<Context>, context: Context, given: GivenInput): Promise<Performed> {
  const { endpoint } = route;
  const handled: unknown = await route.handle(context, validateInput(endpoint, given));
  const { status } = endpoint;
  const parsed = (reply: unknown) => {
    if (status === 204) return undefined;
    const shown = endpoint.reply.parse(reply);
    if (endpoint.method === 'get') refuseLargeRead(Buffer.byteLength(JSON.stringify(shown)));
    return shown;
  };
  if (!isSpecialReply(handled)) return { status, reply: parsed(handled) };
  switch (handled[kind]) {
    case 'with-etag':
      return { status, reply: parsed(handled.reply) };
    case 'already-exists':
      return { status: endpoint.alsoStatus ?? status, reply: parsed(handled.reply) };
    case 'rendered':
      refuseLargeRead(Buffer.byteLength(handled.body));
      return { status, reply: JSON.parse(handled.body.toString()) };
    case 'rendered-parts':
      refuseLargeRead(handled.bytes);
      return { status, reply: JSON.parse(Buffer.concat(handled.parts).toString()) };
    case 'streamed':
      return { status, reply: undefined, stream: handled };
    case 'with-cookies':
    case 'file':
    case 'unchanged':
    case 'redirect':
      throw new Error(`${endpoint.operationId} cannot be performed without HTTP`);
  }
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
