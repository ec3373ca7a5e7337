import type { Endpoint, Input, Reply } from '@svc/contract';
import type { Express, Request, Response } from 'express';
import { type Answer, jsonAnswer, respond } from './answer.ts';
import { etagOfBody, holdsOf, Tagged, Unchanged } from './etag.ts';
import { readInput } from './input.ts';
import { Problem } from './problem.ts';
import { Redirect } from './redirect.ts';
import { Streamed } from './streamed.ts';

/** A reply for something that was there already: answered with the endpoint's other status. */
export class AlreadyThere<R> {
  readonly reply: R;
  constructor(reply: R) {
    this.reply = reply;
  }
}

type Handled<E extends Endpoint> = Promise<
  Reply<E> | AlreadyThere<Reply<E>> | Tagged<Reply<E>> | Unchanged | Redirect | Streamed
>;

/** An endpoint with what it does. */
export interface Route<Context, E extends Endpoint = Endpoint> {
  readonly endpoint: E;
  // Method syntax on purpose: routes of different inputs must fit in one list.
  handle(context: Context, input: Input<E>): Handled<E>;
}

/** Binds route() to a service's request context, so that handlers need no annotations. */
export const routeFor =
  <Context>() =>
  <E extends Endpoint>(endpoint: E, handle: (context: Context, input: Input<E>) => Handled<E>): Route<Context, E> => ({
    endpoint,
    handle,
  });

/** The routes of a contract, one for each endpoint. A missing route does not compile, other members of `routes` are ignored. */
export const implementFor =
  <Context>() =>
  <T extends Record<string, Endpoint>>(
    contract: T,
    routes: { [K in keyof T]: Route<Context, T[K]> },
  ): Route<Context>[] =>
    Object.keys(contract).map((name) => routes[name] as Route<Context>); // the mapped type above makes each of them a route

/** Authenticates and admits: who is calling, as the context that the handler gets. */
export type Enter<Context> = (req: Request, res: Response, endpoint: Endpoint) => Promise<Context>;

/** Puts the routes on the app: literal paths before parameters, and 405 for the other methods of each path. */
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

/** The request in a straight line: authenticate and admit, validate, handle, present. */
async function run<Context>(
  route: Route<Context>,
  { req, res, enter }: { readonly req: Request; readonly res: Response; readonly enter: Enter<Context> },
): Promise<Answer> {
  const { endpoint } = route;
  const context = await enter(req, res, endpoint);
  const input = await readInput(endpoint, req, res);
  return present(endpoint, await route.handle(context, input), req);
}

function present(endpoint: Endpoint, handled: unknown, req: Request): Answer {
  const headers = { 'Cache-Control': cacheControl(endpoint, req), Vary: 'Authorization, Origin' };
  if (handled instanceof Unchanged) return { status: 304, headers: { ...headers, ETag: handled.etag } };
  if (handled instanceof Redirect) {
    return { status: endpoint.status, headers: { ...headers, ...handled.headers, Location: handled.location } };
  }
  if (handled instanceof Streamed) {
    const own = { 'Content-Type': handled.contentType, 'Cache-Control': 'no-store' };
    return { status: endpoint.status, headers: { ...headers, ...own }, stream: handled };
  }
  if (endpoint.status === 204) return { status: 204, headers };
  if (handled instanceof AlreadyThere) {
    return jsonAnswer(endpoint.alsoStatus ?? endpoint.status, endpoint.reply.parse(handled.reply), headers);
  }
  const tagged = handled instanceof Tagged ? handled : undefined;
  const answer = jsonAnswer(endpoint.status, endpoint.reply.parse(tagged ? tagged.reply : handled), headers);
  if (!isRevalidated(endpoint)) return answer;
  const etag = tagged?.etag ?? etagOfBody(answer.body);
  if (holdsOf(req)(etag)) return { status: 304, headers: { ...headers, ETag: etag } };
  return { ...answer, headers: { ...answer.headers, ETag: etag } };
}

/** What is read may be kept and is asked for again each time; what is written, or is secret, is nobody's to keep. */
const isRevalidated = (endpoint: Endpoint) => endpoint.method === 'get' && !endpoint.secret;

function cacheControl(endpoint: Endpoint, req: Request): string {
  if (!isRevalidated(endpoint)) return 'no-store';
  return req.headers.authorization === undefined ? 'public, no-cache' : 'private, no-cache';
}

/** OPTIONS answers what is allowed; any other method that the path lacks is a 405. */
export function refuseOtherMethods(app: Express, path: string, methods: readonly string[]): void {
  const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const route = app.route(path);
  route.options((_req, res) => respond(res, { status: 204, headers: { Allow: allowed } }));
  // app.all would add a layer for each of the methods that Node knows.
  route.all((req) => {
    throw new Problem('method_not_allowed', `${req.method} is not possible here; allowed: ${allowed}.`, {
      headers: { Allow: allowed },
    });
  });
}
