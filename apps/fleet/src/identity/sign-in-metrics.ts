import { Problem, processMetrics } from '@svc/http';
import { Counter } from 'prom-client';

const signIns = new Counter({
  name: 'sign_ins_total',
  help: 'Number of attempts to sign in, by the kind of account and the outcome: accepted, rejected, limited or failed',
  labelNames: ['kind', 'outcome'] as const,
  registers: [processMetrics],
});

/** Counts an attempt to sign in. */
export async function counted<T>(kind: 'local' | 'temporary_admin' | 'oidc', attempt: () => Promise<T>): Promise<T> {
  try {
    const result = await attempt();
    signIns.inc({ kind, outcome: 'accepted' });
    return result;
  } catch (error) {
    signIns.inc({ kind, outcome: outcomeOf(error) });
    throw error;
  }
}

function outcomeOf(error: unknown): string {
  if (!(error instanceof Problem) || error.status >= 500) return 'failed';
  return error.status === 429 ? 'limited' : 'rejected';
}
