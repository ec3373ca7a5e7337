import type { ProblemCode } from '@svc/contract';
import type { Request, Response } from 'express';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestObserver } from './log.ts';

export interface Metrics {
  /** The metrics of one service. */
  readonly registry: Registry;
  /** Counts each request at its end. */
  readonly count: RequestObserver;
  /** Counts a problem when its response is sent. */
  readonly countProblem: (problem: { readonly code: ProblemCode }) => void;
}

/** Creates the registry of a service with its version and the HTTP metrics. */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const build = new Gauge({
    name: 'build_info',
    help: 'Always 1; the labels are the version of the service and that of Node.js',
    labelNames: ['version', 'node_version'] as const,
    registers: [registry],
  });
  build.set({ version, node_version: process.versions.node }, 1);
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Number of completed requests',
    labelNames,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response',
    labelNames,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  const problems = new Counter({
    name: 'http_problems_total',
    help: 'Number of responses with a problem, by its code',
    labelNames: ['code'] as const,
    registers: [registry],
  });
  const count: RequestObserver = (req, res) => {
    const started = performance.now();
    return () => {
      const labels = labelsOf(req, res);
      requests.inc(labels);
      durations.observe(labels, (performance.now() - started) / 1000);
    };
  };
  return { registry, count, countProblem: ({ code }) => problems.inc({ code }) };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

/**
 * Label values come from fixed sets, so that clients cannot add time series. The route is known
 * after routing.
 */
export const labelsOf = (req: Request, res: Response) => ({
  method: methodOf(req.method),
  route: String(res.locals.route ?? routeOf(req.route)),
  status: String(res.statusCode),
});

const methodOf = (method: string) => (METHODS.includes(method) ? method : 'other');
const routeOf = (route: unknown) =>
  typeof route === 'object' && route !== null && 'path' in route ? String(route.path) : 'none';
