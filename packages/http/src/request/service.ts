import cors from 'cors';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { type AugmentedRequest, ipKeyGenerator, rateLimit } from 'express-rate-limit';
import proxyAddress from 'proxy-addr';
import { createRejectionDelay, type RejectionDelay, type RejectionDelayLimits } from '../limits/rejection-delay.ts';
import type { Log, RequestObserver } from '../observe/log.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { notFound, Problem, problemOf } from '../response/problem.ts';
import { pageOfProblem, problemResponse, requestIdOf, respond } from '../response/respond.ts';
import { acceptsHtml, consolePage, mountConsoleAssets } from './console.ts';
import { mountDocs, type OpenApiDocument } from './docs.ts';
import { createFastRoutes, createInputReader } from './fast-routes.ts';
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
  readonly enter: Enter<Context>;
  /** The OpenAPI document, which states the version. */
  readonly openapi: OpenApiDocument;
  readonly health: Health;
  readonly rateLimit: boolean;
  /** The rate limit per session, or per client address without a session. Default: 6000. */
  readonly requestsPerMinute?: number;
  /** The known session of a request. Its requests count together, whatever their addresses. */
  readonly sessionOf?: ((req: Request, res: Response) => string | undefined) | undefined;
  /**
   * The limits of rejections per client network if `rateLimit` is set. Default: those of
   * `createRejectionDelay`.
   */
  readonly rejectionDelay?: RejectionDelayLimits;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: readonly string[];
  readonly metricsToken?: string | undefined;
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
  const limit = options.rateLimit ? limitRate(options) : undefined;
  const sendProblem = problemSender(
    options.log,
    metrics,
    options.rateLimit ? createRejectionDelay(options.rejectionDelay) : undefined,
  );
  const fast = fastHandler(app, { options, limit, sendProblem });
  handleBefore(app, (req, res, next) => {
    const atEnd = observers.map((observe) => observe(req, res));
    res.once('close', () => {
      for (const end of atEnd) end?.();
    });
    traceRequest(req, res, () => {
      if (!fast(req, res)) next();
    });
  });
  if (options.gate) app.use(options.gate);
  if (limit) app.use(limit);
  app.use(requireHost, rejectInvalidTarget);
  mountHealth(app, options.health, options.version);
  mountMetrics(app, metrics, options.metricsToken);
  mountDocs(app, { ...options.openapi, servers: [{ url: options.publicUrl ?? '/' }] });
  if (options.consoleFolder !== undefined) mountConsoleAssets(app, options.consoleFolder);
  mount(app, options.routes, options.enter);
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
  readonly limit: RequestHandler | undefined;
  readonly sendProblem: SendProblem;
}

/** Handles fast routes with the functions that Express calls for the other routes. */
function fastHandler<Context>(app: Express, { options, limit, sendProblem }: FastOptions<Context>): HandleFast {
  const { fastRoutes = [], enter, gate } = options;
  if (gate) return () => false;
  const find = createFastRoutes(fastRoutes);
  const read = createInputReader();
  const trust = app.get('trust proxy fn');
  const handle = async (req: Request, res: Response, route: Route<Context>) => {
    if (limit) await passes(limit, req, res);
    res.locals.route = route.endpoint.path;
    await respond(res, await run(route, { req, res, enter, read }));
  };
  return (req, res) => {
    const found = find(req);
    if (!found) return false;
    // The members of an Express request that its handlers read.
    Object.assign(req, { ip: proxyAddress(req, trust), params: found.params, path: found.path, app });
    handle(req, res, found.route).catch((error: unknown) => {
      if (res.headersSent) res.destroy();
      else sendProblem(error, req, res);
    });
    return true;
  };
}

const passes = (middleware: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((resolve, reject) => {
    void middleware(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });

/**
 * Node does not read another request from a connection after a request for an upgrade that was not
 * performed. The next request would never receive a response, so the connection is closed.
 */
const endAfterUpgrade: RequestObserver = (req, res) => {
  if (req.headers.upgrade !== undefined) res.setHeader('Connection', 'close');
  return undefined;
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
  return (req, res) => {
    setHeaders(req, res, () => undefined); // synchronous
    return undefined;
  };
}

/**
 * Limits the requests of one session, or of one client address without a session, to one replica.
 * It protects from malfunctioning clients; it is not a quota.
 */
const limitRate = ({
  requestsPerMinute = 6000,
  sessionOf = () => undefined,
}: Pick<ServiceOptions<never>, 'requestsPerMinute' | 'sessionOf'>) =>
  rateLimit({
    validate: { creationStack: false }, // it reads the stack of an error, which would load the source maps at each start
    windowMs: 60_000,
    limit: requestsPerMinute,
    standardHeaders: false,
    legacyHeaders: false,
    keyGenerator: (req, res) => {
      const session = sessionOf(req, res);
      return session === undefined ? ipKeyGenerator(req.ip ?? '') : `session ${session}`;
    },
    skip: (req, res) => [...probePaths, METRICS_PATH].includes(req.path) && res.locals.isLimited !== true,
    handler: (req, _res, next) => {
      // Set by the limiter that calls this.
      const { resetTime } = (req as AugmentedRequest).rateLimit ?? {};
      const seconds = Math.max(1, Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1000));
      const detail = `At most ${requestsPerMinute} requests per minute are allowed for a session or a client address. Retry in ${seconds} s.`;
      next(new Problem('rate_limited', detail, { headers: { 'Retry-After': `${seconds}` } }));
    },
  });

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
