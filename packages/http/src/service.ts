import cors from 'cors';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { type AugmentedRequest, rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import { problemAnswer, requestIdOf, respond } from './answer.ts';
import { mountDocs } from './docs.ts';
import { type Health, mountHealth } from './health.ts';
import { type Log, requestLog } from './log.ts';
import { createMetrics, type Metrics, mountMetrics } from './metrics.ts';
import { notFound, Problem } from './problem.ts';
import { type Enter, mount, type Route } from './routes.ts';
import { refuseNoAddress, routeOriginForm } from './target.ts';

/** What the two services configure alike. */
export interface ServiceOptions<Context> {
  readonly log: Log;
  readonly routes: readonly Route<Context>[];
  readonly enter: Enter<Context>;
  readonly openapi: object;
  readonly health: Health;
  readonly rateLimit: boolean;
  /** The rate limit of one address. Default: 6000. */
  readonly requestsPerMinute?: number;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: readonly string[];
  readonly metricsToken?: string | undefined;
  /** The address under which callers reach the service, for its OpenAPI document. */
  readonly publicUrl?: string | undefined;
  /** Runs before routing, for every request whatever its path, method or body. */
  readonly gate?: RequestHandler;
  /** Adds the service's own figures to `/metrics`. */
  readonly observe?: (metrics: Metrics) => void;
}

/** A service without a port: what it answers to every request. */
export function createService<Context>(options: ServiceOptions<Context>): Express {
  const app = express();
  routeOriginForm(app);
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', false); // an endpoint's own schema reads the query, strictly
  app.set('trust proxy', [...options.trustProxy]);
  const metrics = createMetrics();
  options.observe?.(metrics);

  app.use(requestLog(options.log), securityHeaders, metrics.count, endAfterUpgrade);
  if (options.corsOrigins.length > 0) app.use(originsOf(options.corsOrigins));
  if (options.gate) app.use(options.gate);
  app.use(refuseWithoutHost, refuseNoAddress);
  mountHealth(app, options.health);
  mountMetrics(app, metrics, options.metricsToken);
  if (options.rateLimit) app.use(limitRate(options.requestsPerMinute));
  mountDocs(app, { ...options.openapi, servers: [{ url: options.publicUrl ?? '/' }] });
  mount(app, options.routes, options.enter);
  app.use(() => {
    throw notFound();
  });
  app.use(answerProblem(options.log));
  return app;
}

/** Node reads no further on a connection where an upgrade was asked for and not made: the next request would wait for ever. */
const endAfterUpgrade: RequestHandler = (req, res, next) => {
  if (req.headers.upgrade !== undefined) res.setHeader('Connection', 'close');
  next();
};

/** RFC 9112, section 3.2. Node would answer this by itself, before anybody could record it. */
const refuseWithoutHost: RequestHandler = (req, _res, next) => {
  if (req.httpVersion === '1.1' && req.headers.host === undefined) {
    throw new Problem('invalid_request', 'A request of HTTP/1.1 needs a Host header.');
  }
  next();
};

const securityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: 'same-site' },
  strictTransportSecurity: false, // belongs to whoever terminates TLS
});

const originsOf = (origins: readonly string[]) =>
  cors({
    origin: [...origins],
    exposedHeaders: ['ETag', 'Retry-After', 'X-Request-Id', 'WWW-Authenticate'],
    allowedHeaders: ['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'Idempotency-Key', 'X-Request-Id'],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    maxAge: 600,
    preflightContinue: true,
  });

/** Bounds the requests of one address to one replica: protection from runaway clients, not a quota. */
const limitRate = (requestsPerMinute = 6000) =>
  rateLimit({
    windowMs: 60_000,
    limit: requestsPerMinute,
    standardHeaders: false,
    legacyHeaders: false,
    handler: (req, _res, next) => {
      const { resetTime } = (req as AugmentedRequest).rateLimit ?? {}; // set by the limiter that calls this
      const seconds = Math.max(1, Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1000));
      const detail = `At most ${requestsPerMinute} requests a minute from one address: try again in ${seconds} s.`;
      next(new Problem('rate_limited', detail, { headers: { 'Retry-After': `${seconds}` } }));
    },
  });

const answerProblem =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    if (res.headersSent) return next(error);
    const problem = problemOf(error);
    if (problem.status >= 500) res.locals.failure = problem.cause ?? problem;
    respond(res, problemAnswer(problem, requestIdOf(res))).catch((failure: unknown) => {
      log.error({ err: failure, request_id: requestIdOf(res) }, 'an answer could not be sent');
      res.destroy();
    });
  };

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Error && 'status' in error && error.status === 400) {
    return new Problem('invalid_request', 'The address is not percent-encoded UTF-8.', { cause: error });
  }
  return new Problem('internal', 'Something went wrong here; the request id finds it in the log.', { cause: error });
}
