import { type HealthCheck, type PeriodicTask, runPeriodically } from '@svc/http';

/** What the fetches from an identity provider have shown since the start. */
export interface ProviderStatus {
  /** Whether one of them succeeded. */
  readonly wasReached: boolean;
  /** Why the last one failed, as sentences for operators; undefined if it succeeded. */
  readonly problem: string | undefined;
}

/** The status of a provider from those of the documents that are fetched from it. */
export const commonStatus = (statuses: readonly ProviderStatus[]): ProviderStatus => ({
  wasReached: statuses.some(({ wasReached }) => wasReached),
  problem: statuses.find(({ problem }) => problem !== undefined)?.problem,
});

const NAME = 'identity provider';

/**
 * The state of the identity provider for `/readyz`. It is `ok` only if the last fetch from it succeeded.
 * @param status undefined: the service has no provider
 */
export function providerHealth(status: ProviderStatus | undefined): HealthCheck {
  if (status === undefined) return { name: NAME, state: 'ok', detail: 'not configured' };
  const { wasReached, problem } = status;
  if (problem === undefined) return wasReached ? { name: NAME, state: 'ok' } : { name: NAME, state: 'unknown' };
  const consequence = wasReached
    ? 'Existing sessions and keys that were fetched before remain valid.'
    : 'It was not reached since the start, so that its users cannot sign in. Check OIDC_ISSUER.';
  return { name: NAME, state: 'degraded', detail: `${problem} ${consequence}` };
}

/** A provider whose documents can be fetched again. */
export interface Probed {
  /** Fetches what sign-ins need. Rejects if that fails; `status` states why. */
  probe(): Promise<unknown>;
  status(): ProviderStatus;
}

/** The time between two looks at the status, and between two probes of a provider that was reached. */
const LOOK_MS = 10_000;
const REACHED_MS = 5 * 60_000;

/**
 * Fetches the documents of the identity provider now, often until that succeeds, and then seldom. So
 * `/readyz` shows a wrong issuer before the first user fails.
 * @param current the provider in effect, or undefined without one. It can change
 */
export function startProviderProbes(current: () => Promise<Probed | undefined>): PeriodicTask {
  let probed: Probed | undefined;
  let probedAt = Number.NEGATIVE_INFINITY;
  return runPeriodically(0, async () => {
    const provider = await current().catch(() => probed); // the database is away, which has a line of its own
    const isGood = provider === probed && provider?.status().problem === undefined;
    if (provider !== undefined && !(isGood && performance.now() - probedAt < REACHED_MS)) {
      probed = provider;
      probedAt = performance.now();
      await provider.probe().catch(() => undefined); // `/readyz` and the log state it
    }
    return LOOK_MS;
  });
}
