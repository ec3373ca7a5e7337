import type { ProblemCode } from '@svc/contract';
import type { Request, Response } from 'express';
import { Counter, Gauge, type Histogram, Registry } from 'prom-client';
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
  const problems = new Counter({
    name: 'http_problems_total',
    help: 'Number of responses with a problem, by its code',
    labelNames: ['code'] as const,
    registers: [registry],
  });
  const requests = createRequestCounts(registry);
  const end: RequestObserver['end'] = (req, res, duration) => requests.add(labelsOf(req, res), duration);
  return { registry, count: { end }, countProblem: ({ code }) => problems.inc({ code }) };
}

interface RequestLabels {
  readonly method: string;
  readonly route: string;
  readonly status: string;
}

/** The requests with the same labels. */
interface RequestCount {
  readonly labels: RequestLabels;
  /** The sum of their durations in seconds. */
  sum: number;
  /** The number of durations up to each bound, but not up to the one before. The last one has no bound. */
  readonly buckets: number[];
}

/** The upper bounds of the buckets of durations, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Counts requests and their durations in one step. The metrics read the counts when they are
 * scraped, because a counter and a histogram of prom-client look up the labels of each request
 * several times.
 */
function createRequestCounts(registry: Registry) {
  const counts = new Map<string, RequestCount>();
  const labelNames = ['method', 'route', 'status'] as const;
  new Counter({
    name: 'http_requests_total',
    help: 'Number of completed requests',
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, buckets } of counts.values()) this.inc({ ...labels }, totalOf(buckets));
    },
  });
  const name = 'http_request_duration_seconds';
  const durations = {
    name,
    help: 'Time from the arrival of a request to the end of its response',
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ ...durations, values: [...counts.values()].flatMap((count) => samplesOf(name, count)) }),
  };
  // A registry uses only these members of a metric.
  registry.registerMetric(durations as unknown as Histogram);
  return {
    /** @param duration in milliseconds */
    add: (labels: RequestLabels, duration: number) => {
      const key = `${labels.status} ${labels.method} ${labels.route}`;
      let count = counts.get(key);
      if (!count) {
        count = { labels, sum: 0, buckets: [...BOUNDS, Number.POSITIVE_INFINITY].map(() => 0) };
        counts.set(key, count);
      }
      const seconds = duration / 1000;
      let at = 0;
      while (seconds > (BOUNDS[at] ?? Number.POSITIVE_INFINITY)) at += 1;
      count.sum += seconds;
      count.buckets[at] = (count.buckets[at] ?? 0) + 1;
    },
  };
}

const totalOf = (buckets: readonly number[]) => buckets.reduce((total, inBucket) => total + inBucket, 0);

/** The samples of a histogram, whose buckets are cumulative. */
function samplesOf(name: string, { labels, sum, buckets }: RequestCount) {
  let total = 0;
  const cumulative = buckets.map((inBucket, at) => {
    total += inBucket;
    return { metricName: `${name}_bucket`, labels: { le: BOUNDS[at] ?? '+Inf', ...labels }, value: total };
  });
  return [
    ...cumulative,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

/**
 * Label values come from fixed sets, so that clients cannot add time series. The route is known
 * after routing.
 */
export const labelsOf = (req: Request, res: Response): RequestLabels => ({
  method: methodOf(req.method),
  route: String(res.locals.route ?? routeOf(req.route)),
  status: String(res.statusCode),
});

const methodOf = (method: string) => (METHODS.includes(method) ? method : 'other');
const routeOf = (route: unknown) =>
  typeof route === 'object' && route !== null && 'path' in route ? String(route.path) : 'none';
