import { processMetrics } from '@svc/http';
import { Counter, Histogram } from 'prom-client';
import { isReason } from '../engines/errors.ts';

const passes = new Histogram({
  name: 'reconciler_pass_duration_seconds',
  help: 'Time of a reconciliation, by its outcome: done, failed, unreachable, superseded, lease_lost or error',
  labelNames: ['outcome'] as const,
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
  registers: [processMetrics],
});

const failures = new Counter({
  name: 'reconciler_failures_total',
  help: 'Number of reconciliations that found or had a failure, by its reason',
  labelNames: ['reason'] as const,
  registers: [processMetrics],
});

const checks = new Counter({
  name: 'image_checks_total',
  help: 'Number of checks which image a tag names in its registry, by their outcome: done or failed',
  labelNames: ['outcome'] as const,
  registers: [processMetrics],
});

type Outcome = 'done' | 'failed' | 'unreachable' | 'superseded' | 'lease_lost' | 'error';

/** Measures a reconciliation, which resolves to its outcome. */
export async function measurePass(work: () => Promise<Outcome>): Promise<void> {
  const end = passes.startTimer();
  let outcome: Outcome = 'error';
  try {
    outcome = await work();
  } finally {
    end({ outcome });
  }
}

/** Counts a check of the tag of an image. */
export const countImageCheck = (outcome: 'done' | 'failed'): void => checks.inc({ outcome });

/** Counts a failure, also one that an engine reports. */
export const countFailure = (reason: string): void => failures.inc({ reason: isReason(reason) ? reason : 'other' });
