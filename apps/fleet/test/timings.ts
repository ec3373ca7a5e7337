import { DEFAULT_TIMINGS as CATALOG } from '../src/catalog/schedule.ts';
import { DEFAULT_TIMINGS as RECONCILER } from '../src/reconciler/timings.ts';

/** Timings for tests: about a tenth of those of production where a test would wait for them. */
export const SHORT_TIMINGS = {
  catalog: { ...CATALOG, lease: 1500, renewal: 400, leaseRetry: 20 },
  reconciler: {
    ...RECONCILER,
    lease: 1500,
    drain: 200,
    afterError: 500,
    afterUnreachable: 200,
    progress: 100,
    retry: 500,
    retryLimit: 30_000,
    checkIdle: 1000,
    checkRetry: 100,
    checkRetryLimit: 6000,
    firstCheck: 1000,
    firstCheckPoll: 50,
    volumes: 400,
    watches: 500,
    collect: 50,
    afterChange: 100,
    updates: 100,
    automaticUpdates: 500,
    imageChecks: 500,
    imageCheckWait: 1000,
    logStart: 100,
    docker: {
      ...RECONCILER.docker,
      settled: 300,
      stable: 300,
      firstHealthCheck: 3000,
      restart: 50,
      usage: 50,
      watchRetryLimit: 3000,
    },
    kubernetes: {
      ...RECONCILER.kubernetes,
      settled: 1000,
      stable: 1000,
      restart: 50,
      watchRetryLimit: 3000,
      dryRun: 60_000, // no test waits for it
    },
  },
};
