import type { Endpoint, Input } from '@svc/contract';
import type { Request, Response } from 'express';
import { currentTracer } from '../observe/tracing.ts';
import { present } from '../response/present.ts';
import { respond } from '../response/respond.ts';
import type { SpecialReply } from '../response/special-reply.ts';
import type { FoundRoute } from './fast-routes.ts';
import type { Route } from './routes.ts';

/** A caller whose credential was verified before, or who has none. */
export interface KnownCaller {
  /** The session to which the rate limit counts the requests; undefined: they count to their address. */
  readonly session: string | undefined;
  /** The name of the caller in the log. */
  readonly name: string;
  /** Whether the caller is the same at every state: a caller without a credential. */
  readonly isConstant: boolean;
}

/** How a service answers frequent requests from memory. */
export interface AtOnce<Context> {
  /**
   * Resolves to a state for a request to the route that was read after the call. Calls that share a state receive the same
   * promise. Rejects if no request can be answered.
   */
  latest(route: Route<Context>): Promise<unknown>;
  /** The caller of a request with this Authorization header; undefined if it must be authenticated. */
  callerOf(authorization: string | undefined): KnownCaller | undefined;
  // Method syntax makes the parameters bivariant, so that a service can declare its own state.
  /**
   * The reply at a state; undefined if it needs more than memory, or if the caller is not admitted
   * to it. The request is then processed like any other one. The service can keep the state in
   * `res.locals` for it.
   */
  answer(
    route: Route<Context>,
    request: { readonly res: Response; readonly caller: KnownCaller; readonly input: Input<Endpoint> },
    state: unknown,
  ): SpecialReply | undefined;
}

/** A request that waits for a state. */
export interface WaitingRequest<Context> {
  readonly req: Request;
  readonly res: Response;
  readonly found: FoundRoute<Context>;
  readonly caller: KnownCaller;
  readonly input: Input<Endpoint>;
}

interface Options<Context> {
  readonly atOnce: AtOnce<Context>;
  /** The validated input of a URL, if it is known. */
  readonly inputOf: (url: string) => Input<Endpoint> | undefined;
  /** Counts a request. @throws 429 */
  readonly count: (request: WaitingRequest<Context>) => void;
  /** Processes a request that was counted like any other one. */
  readonly handle: (request: WaitingRequest<Context>) => void;
  readonly fail: (error: unknown, request: WaitingRequest<Context>) => void;
}

/** The requests that wait for the same state. */
interface Pass<Context> {
  readonly state: Promise<unknown>;
  readonly requests: WaitingRequest<Context>[];
}

/**
 * Answers all requests that wait for the same state in one synchronous pass, without a promise for
 * each of them. The handler that it returns returns false for a request that is not such a request.
 */
export function createPasses<Context>({ atOnce, inputOf, count, handle, fail }: Options<Context>) {
  let pass: Pass<Context> | undefined;

  const answer = (request: WaitingRequest<Context>, state: unknown) => {
    const { req, res, found, caller } = request;
    const reply = atOnce.answer(found.route, request, state);
    if (!reply) return handle(request);
    res.locals.caller = caller.name;
    try {
      respond(res, present(found.route.endpoint, reply, req))?.catch((error: unknown) => fail(error, request));
    } catch (error) {
      fail(error, request);
    }
  };
  const join = (request: WaitingRequest<Context>) => {
    const state = atOnce.latest(request.found.route);
    if (pass?.state === state) return void pass.requests.push(request);
    const started = { state, requests: [request] };
    const end = () => {
      if (pass === started) pass = undefined;
    };
    pass = started;
    state.then(
      (found) => {
        end();
        for (const request of started.requests) answer(request, found);
      },
      (error: unknown) => {
        end();
        for (const request of started.requests) {
          if (request.caller.isConstant) request.res.locals.caller = request.caller.name;
          fail(error, request);
        }
      },
    );
  };
  return (req: Request, res: Response, found: FoundRoute<Context>): boolean => {
    if (req.method !== 'GET' || currentTracer() || !hasUsualHeaders(req.rawHeaders)) return false;
    const input = inputOf(req.url);
    const caller = input && atOnce.callerOf(req.headers.authorization);
    if (!caller) return false;
    const request = { req, res, found, caller, input };
    try {
      count(request);
    } catch (error) {
      fail(error, request);
      return true;
    }
    res.locals.route = found.route.endpoint.path;
    join(request);
    return true;
  };
}

const AUTHORIZATION = 'authorization';

/**
 * The headers of usual requests: those that a pass, or a function that it calls, reads, and those
 * that change no response.
 */
const USUAL = new Set([
  AUTHORIZATION,
  'accept-encoding',
  'connection',
  'host',
  'if-none-match',
  'x-forwarded-for',
  'x-request-id',
  // Without effect:
  'accept',
  'accept-language',
  'cache-control',
  'forwarded',
  'pragma',
  'sec-fetch-mode',
  'traceparent',
  'tracestate',
  'user-agent',
  'via',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
]);

/** Whether a request has usual headers only, and at most one Authorization header. */
function hasUsualHeaders(rawHeaders: readonly string[]): boolean {
  let credentials = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!USUAL.has(name)) return false;
    if (name === AUTHORIZATION) credentials += 1;
  }
  return credentials < 2;
}
