import type { Express } from 'express';
import { jsonResponse, respond } from '../response/respond.ts';
import { refuseOtherMethods } from './routes.ts';

/**
 * The state of a dependency of a service. `failed` makes the service unready; the others do not.
 * `unknown`: nothing has shown yet whether it works.
 */
export interface HealthCheck {
  readonly name: string;
  readonly state: 'ok' | 'unknown' | 'degraded' | 'failed';
  readonly detail?: string;
  /** For the log alone, in addition to `detail`: what others than operators must not see. */
  readonly reason?: string;
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

const STOPPING: HealthCheck = { name: 'process', state: 'failed', detail: 'stopping' };

const NO_STORE = { 'Cache-Control': 'no-store' };

/**
 * Mounts `/healthz` (liveness) and `/readyz` (readiness, with the version and the state of each
 * dependency).
 */
export function mountHealth(app: Express, health: Health, version: string): void {
  app.get(LIVENESS, (_req, res) => respond(res, jsonResponse(200, { status: 'alive' }, NO_STORE)));
  app.get(READINESS, async (_req, res) => {
    const checks = health.stopping ? [STOPPING] : await health.check();
    const status = statusOf(checks);
    const shown = checks.map(({ reason: _, ...check }) => check);
    await respond(res, jsonResponse(status === 'unready' ? 503 : 200, { status, version, checks: shown }, NO_STORE));
  });
  for (const path of probePaths) refuseOtherMethods(app, path, ['GET']);
}

function statusOf(checks: readonly HealthCheck[]): 'ready' | 'degraded' | 'unready' {
  if (checks.some(({ state }) => state === 'failed')) return 'unready';
  return checks.some(({ state }) => state === 'degraded') ? 'degraded' : 'ready';
}
