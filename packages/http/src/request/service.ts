import cors from 'cors';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import proxyAddress from 'proxy-addr';
import { clientNetworks } from '../limits/client-networks.ts';
import { createRejectionDelay, type RejectionDelay, type RejectionDelayLimits } from '../limits/rejection-delay.ts';
import { createRequestLimit } from '../limits/request-limit.ts';
import type { Log, RequestObserver } from '../observe/log.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { notFound, Problem, problemOf } from '../response/problem.ts';
import { pageOfProblem, problemResponse, requestIdOf, respond } from '../response/respond.ts';
import { type AtOnce, createPasses } from './at-once.ts';
import { acceptsHtml, consolePage, mountConsoleAssets } from './console.ts';
import { mountDocs, type OpenApiDocument } from './docs.ts';
import { createFastRoutes, createInputReader, type FoundRoute } from './fast-routes.ts';
import { type Health, mountHealth, probePaths } from './health.ts';
import { METRICS_PATH, mountMetrics } from './metrics-endpoint.ts';
import { requestLog } from './request-log.ts';
import { type Enter, mount, type Route, run } from './routes.ts';
import { handleBefore, rejectInvalidTarget } from './target.ts';
import { traceRequest } from './traced-request.ts';

/** The common options of both services. */
export interface ServiceOptions<Context> {
  /** The version of the service, for `/readyz` and metrics. */
  readonly version: string;
  readonly log: Log;
  readonly routes: readonly Route<Context>[];
  /**
   * Frequent GET requests among `routes`, which are handled without Express if the service has no
   * `gate`.
   */
  readonly fastRoutes?: readonly Route<Context>[];
  /** How usual requests for fast routes are answered from memory. Default: like any other one. */
  readonly atOnce?: AtOnce<Context> | undefined;
  readonly enter: Enter<Context>;
  /** The OpenAPI document, which states the version. */
  readonly openapi: OpenApiDocument;
  readonly health: Health;
  readonly rateLimit: boolean;
  /** The rate limit per session, or per client network without a session. Default: 6000. */
  readonly requestsPerMinute?: number;
  /**
   * The known session of a request: a session of a browser, or another credential that was verified
   * before. Its requests count together, whatever their addresses. A request whose session is known
   * after its authentication only counts for the address until then; one with a credential to a fast
   * route counts after its authentication only.
   */
  readonly sessionOf?: ((req: Request, res: Response) => string | undefined) | undefined;
  /**
   * The limits of rejections per client network if `rateLimit` is set. Default: those of
   * `createRejectionDelay`.
   */
  readonly rejectionDelay?: RejectionDelayLimits;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: readonly string[];
  /** The token that scrapes must present, which can change. Default: none. */
  readonly metricsToken?: (() => string | undefined) | undefined;
  /** The base URL of the service for callers, for its OpenAPI document. */
  readonly publicUrl?: string | undefined;
  /**
   * Runs before routing for every request, with any path, method or body. It can set
   * `res.locals.isLimited`, so that the rate limit also applies to a request to the probes and
   * metrics.
   */
  readonly gate?: RequestHandler;
  /** Mounts what is not an endpoint of the contract. */
  readonly mountOthers?: (app: Express) => void;
  /** The folder with the build of the web console. Default: the service has no console. */
  readonly consoleFolder?: string | undefined;
  /** Registers metrics of the service for `/metrics`. */
  readonly observe?: (metrics: Metrics) => void;
}

/** The Express app of a service. It does not listen on a port. */
export function createService<Context>(options: ServiceOptions<Context>): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', false); // queries are parsed by `readQuery`
  app.set('trust proxy', [...options.trustProxy]);
  const metrics = createMetrics(options.version);
  options.observe?.(metrics);

  const observers = [requestLog(options.log), metrics.count, endAfterUpgrade];
  if (options.corsOrigins.length > 0) observers.push(originsOf(options.corsOrigins));
  const begin = beginningOf(observers);
  const limit = options.rateLimit ? limitRate(options) : undefined;
  const enter = limit ? countingSessions(options.enter, limit) : options.enter;
  const sendProblem = problemSender(
    options.log,
    metrics,
    options.rateLimit ? createRejectionDelay(options.rejectionDelay) : undefined,
  );
  const fast = fastHandler(app, { options: { ...options, enter }, limit, sendProblem });
  handleBefore(app, (req, res, next) => {
    begin(req, res);
    traceRequest(req, res, () => {
      if (!fast(req, res)) next();
    });
  });
  if (options.gate) app.use(options.gate);
  if (limit) {
    app.use((req, res, next) => {
      limit.count(req, res);
      next();
    });
  }
  app.use(requireHost, rejectInvalidTarget);
  mountHealth(app, options.health, options.version);
  mountMetrics(app, metrics, options.metricsToken);
  mountDocs(app, { ...options.openapi, servers: [{ url: options.publicUrl ?? '/' }] });
  if (options.consoleFolder !== undefined) mountConsoleAssets(app, options.consoleFolder);
  mount(app, options.routes, enter);
  options.mountOthers?.(app);
  if (options.consoleFolder !== undefined) app.use(consolePage(options.consoleFolder));
  app.use(() => {
    throw notFound();
  });
  app.use(answerProblem(sendProblem));
  return app;
}

/** @returns false if Express must handle the request */
type HandleFast = (req: Request, res: Response) => boolean;

interface FastOptions<Context> {
  readonly options: ServiceOptions<Context>;
  readonly limit: RateLimit | undefined;
  readonly sendProblem: SendProblem;
}

/** Handles fast routes with the functions that Express calls for the other routes. */
function fastHandler<Context>(app: Express, { options, limit, sendProblem }: FastOptions<Context>): HandleFast {
  const { fastRoutes = [], enter, gate, atOnce } = options;
  if (gate) return () => false;
  const find = createFastRoutes(fastRoutes);
  const { read, known } = createInputReader();
  const trust = app.get('trust proxy fn');
  /** Sets the members of an Express request that its handlers read. */
  const complete = (req: Request, { params, path }: FoundRoute<Context>) =>
    Object.assign(req, { ip: proxyAddress(req, trust), params, path, app });
  const fail = (error: unknown, req: Request, res: Response) => {
    if (res.headersSent) res.destroy();
    else sendProblem(error, req, res);
  };
  const handle = async (req: Request, res: Response, route: Route<Context>) => {
    res.locals.route = route.endpoint.path;
    await respond(res, await run(route, { req, res, enter, read }));
  };
  const answered =
    atOnce &&
    createPasses({
      atOnce,
      inputOf: known,
      count: ({ req, res, found, caller }) => {
        if (caller.session === undefined) complete(req, found); // the rest of a pass does not read the address
        limit?.count(req, res, caller.session);
      },
      handle: ({ req, res, found }) => {
        complete(req, found);
        handle(req, res, found.route).catch((error: unknown) => fail(error, req, res));
      },
      fail: (error, { req, res, found }) => {
        complete(req, found);
        fail(error, req, res);
      },
    });
  return (req, res) => {
    const found = find(req);
    if (!found) return false;
    if (answered?.(req, res, found)) return true;
    complete(req, found);
    try {
      limit?.countLater(req, res);
      handle(req, res, found.route).catch((error: unknown) => fail(error, req, res));
    } catch (error) {
      fail(error, req, res);
    }
    return true;
  };
}

/**
 * The function that is called with each request before it is routed. When the response has ended or
 * was aborted, it calls the observers again.
 */
function beginningOf(observers: readonly RequestObserver[]) {
  const beginnings = observers.flatMap(({ begin }) => begin ?? []);
  const ends = observers.flatMap(({ end }) => end ?? []);
  // The same listener for all responses: a function for each of them would cost more.
  function onClose(this: Response) {
    const duration = performance.now() - this.locals.startedAt;
    for (const end of ends) end(this.req, this, duration);
  }
  return (req: Request, res: Response) => {
    res.locals.startedAt = performance.now();
    for (const begin of beginnings) begin(req, res);
    res.on('close', onClose);
  };
}

/**
 * Node does not read another request from a connection after a request for an upgrade that was not
 * performed. The next request would never receive a response, so the connection is closed.
 */
const endAfterUpgrade: RequestObserver = {
  begin: (req, res) => {
    if (req.headers.upgrade !== undefined) res.setHeader('Connection', 'close');
  },
};

/** RFC 9112, section 3.2. If Node rejected these requests, they would not be audited. */
const requireHost: RequestHandler = (req, _res, next) => {
  if (req.httpVersion === '1.1' && req.headers.host === undefined) {
    throw new Problem('invalid_request', 'An HTTP/1.1 request must have a Host header.');
  }
  next();
};

function originsOf(origins: readonly string[]): RequestObserver {
  const setHeaders = cors({
    origin: [...origins],
    exposedHeaders: ['ETag', 'Retry-After', 'X-Request-Id', 'WWW-Authenticate'],
    allowedHeaders: [
      'Authorization',
      'Content-Type',
      'If-Match',
      'If-None-Match',
      'Idempotency-Key',
      'Last-Event-ID',
      'MCP-Protocol-Version',
      'Mcp-Method',
      'Mcp-Name',
      'X-Request-Id',
    ],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    maxAge: 600,
    preflightContinue: true,
  });
  return {
    begin: (req, res) => {
      setHeaders(req, res, () => undefined); // synchronous
    },
  };
}

interface RateLimit {
  /** Counts a request for its session, by default the known one. @throws 429 */
  count(req: Request, res: Response, session?: string): void;
  /**
   * As `count`. A request with a credential that was not verified before counts in `settle` only, so that many
   * callers behind one address, who all arrive after a start, do not limit each other. @throws 429 if its address
   * has no requests left
   */
  countLater(req: Request, res: Response): void;
  /**
   * Counts a request after its authentication: for its session instead of its address, and for its address if it has
   * no session and was not counted. @throws 429
   */
  settle(req: Request, res: Response): void;
}

/**
 * Limits the requests of one session, or of one client network without a session, to one replica.
 * It protects from malfunctioning clients; it is not a quota.
 */
function limitRate({
  requestsPerMinute = 6000,
  sessionOf = () => undefined,
}: Pick<ServiceOptions<never>, 'requestsPerMinute' | 'sessionOf'>): RateLimit {
  const limit = createRequestLimit(requestsPerMinute);
  const keyOf = (req: Request, session: string | undefined) =>
    session === undefined ? clientNetworks(req.ip ?? '').network : `session ${session}`;
  const countFor = (key: string, res: Response) => {
    res.locals.countedFor = key;
    limit.count(key);
  };
  return {
    count(req, res, session = sessionOf(req, res)) {
      if (UNLIMITED.has(req.path) && res.locals.isLimited !== true) return;
      countFor(keyOf(req, session), res);
    },
    countLater(req, res) {
      const session = sessionOf(req, res);
      if (session === undefined && req.headers.authorization !== undefined) limit.check(keyOf(req, session));
      else countFor(keyOf(req, session), res);
    },
    settle(req, res) {
      const { countedFor } = res.locals;
      const session = sessionOf(req, res);
      const key = keyOf(req, session);
      if (countedFor === undefined) countFor(key, res);
      else if (session !== undefined && key !== countedFor) limit.recount(countedFor, key);
    },
  };
}

const UNLIMITED = new Set([...probePaths, METRICS_PATH]);

/** Counts each request when its authentication has ended. */
const countingSessions =
  <Context>(enter: Enter<Context>, limit: RateLimit): Enter<Context> =>
  async (req, res, endpoint) => {
    try {
      return await enter(req, res, endpoint);
    } finally {
      limit.settle(req, res);
    }
  };

type SendProblem = (error: unknown, req: Request, res: Response) => void;

const answerProblem =
  (sendProblem: SendProblem): ErrorRequestHandler =>
  (error: unknown, req, res, next) =>
    res.headersSent ? next(error) : sendProblem(error, req, res);

function problemSender(log: Log, { countProblem }: Metrics, delayRejection: RejectionDelay | undefined): SendProblem {
  const send = async (problem: Problem, req: Request, res: Response) => {
    countProblem(problem);
    if (await delayRejection?.(req.ip ?? '', problem)) res.setHeader('Connection', 'close');
    const isShown = problem.page !== undefined && acceptsHtml(req);
    if (isShown) res.locals.shown = problem;
    await respond(res, isShown ? pageOfProblem(problem, requestIdOf(res)) : problemResponse(problem, requestIdOf(res)));
  };
  return (error, req, res) => {
    const problem = problemOf(error);
    if (problem.status >= 500) res.locals.failure = problem.cause ?? problem;
    send(problem, req, res).catch((failure: unknown) => {
      log.error({ err: failure, request_id: requestIdOf(res) }, 'response failed');
      res.destroy();
    });
  };
}
