import { DEFAULT_TIMINGS as CATALOG } from '../src/catalog/timings.ts';
import { DEFAULT_TIMINGS as RECONCILER } from '../src/reconciler/timings.ts';

/**
 * Timings for tests: about a tenth of those in production, where a test would wait for them. A container counts as running
 * from the first full second of its engine's clock.
 */
export const SHORT_TIMINGS = {
  catalog: { ...CATALOG, lease: 1500, renewal: 400, leaseRetry: 20 },
  reconciler: {
    ...RECONCILER,
    lease: 1500,
    idle: 250,
    afterError: 500,
    afterUnreachable: 200,
    progress: 100,
    retry: 500,
    retryLimit: 30_000,
    checkIdle: 200,
    checkRetry: 100,
    checkRetryLimit: 6000,
    volumes: 200,
    watches: 500,
    afterChange: 100,
    logStart: 100,
    docker: { ...RECONCILER.docker, settled: 300, shortLife: 300 },
    kubernetes: { ...RECONCILER.kubernetes, settled: 1000, watchAgain: 3000 },
  },
};
