import { processMetrics } from '@svc/http';
import { Histogram } from 'prom-client';
import { EngineFailure, Unreachable } from './errors.ts';

const calls = new Histogram({
  name: 'engine_request_duration_seconds',
  help: 'Time of a request to an engine until the end of its response, by its outcome: response, unreachable or aborted',
  labelNames: ['engine', 'outcome'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
  registers: [processMetrics],
});

/** Measures a request to an engine, except for streams. */
export async function measured<T>(engine: 'docker' | 'podman' | 'kubernetes', work: () => Promise<T>): Promise<T> {
  const end = calls.startTimer({ engine });
  try {
    const result = await work();
    end({ outcome: 'response' });
    return result;
  } catch (error) {
    end({ outcome: outcomeOf(error) });
    throw error;
  }
}

function outcomeOf(error: unknown): string {
  if (error instanceof Unreachable) return 'unreachable';
  return error instanceof EngineFailure ? 'response' : 'aborted';
}
