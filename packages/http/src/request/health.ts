import type { Express } from 'express';
import { jsonResponse, respond } from '../response/respond.ts';
import { refuseOtherMethods } from './routes.ts';

/**
 * The state of a dependency of a service. `failed` makes the service unready; `degraded` does not.
 */
export interface HealthCheck {
  readonly name: string;
  readonly state: 'ok' | 'degraded' | 'failed';
  readonly detail?: string;
}

/** The readiness of the process. */
export interface Health {
  /** Checks all dependencies of the service, with a time limit. */
  check(): Promise<readonly HealthCheck[]>;
  /** True after the process was told to stop. */
  readonly stopping: boolean;
}

const LIVENESS = '/healthz';
const READINESS = '/readyz';

/** The paths of the probes. */
export const probePaths: readonly string[] = [LIVENESS, READINESS];

const NO_STORE = { 'Cache-Control': 'no-store' };

/**
 * Mounts `/healthz` (liveness) and `/readyz` (readiness, with the version and the state of each
 * dependency).
 */
export function mountHealth(app: Express, health: Health, version: string): void {
  app.get(LIVENESS, (_req, res) => respond(res, jsonResponse(200, { status: 'alive' }, NO_STORE)));
  app.get(READINESS, async (_req, res) => {
    const checks = health.stopping
      ? [{ name: 'process', state: 'failed' as const, detail: 'stopping' }]
      : await health.check();
    const status = statusOf(checks);
    await respond(res, jsonResponse(status === 'unready' ? 503 : 200, { status, version, checks }, NO_STORE));
  });
  for (const path of probePaths) refuseOtherMethods(app, path, ['GET']);
}

function statusOf(checks: readonly HealthCheck[]): 'ready' | 'degraded' | 'unready' {
  if (checks.some(({ state }) => state === 'failed')) return 'unready';
  return checks.some(({ state }) => state === 'degraded') ? 'degraded' : 'ready';
}
