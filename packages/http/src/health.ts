import type { Express } from 'express';
import { jsonAnswer, respond } from './answer.ts';
import { refuseOtherMethods } from './routes.ts';

/** One thing that a service needs, and how it is. `degraded` is worth a look, `failed` takes the service out of rotation. */
export interface HealthCheck {
  readonly name: string;
  readonly state: 'ok' | 'degraded' | 'failed';
  readonly detail?: string;
}

/** What the process knows of its own readiness. */
export interface Health {
  /** Asks everything that the service needs, bounded in time. */
  check(): Promise<readonly HealthCheck[]>;
  /** True from the moment on in which the process was told to stop. */
  readonly stopping: boolean;
}

const NO_STORE = { 'Cache-Control': 'no-store' };

/** `/healthz`: the process is alive. `/readyz`: it can serve, and what is missing where it can't. */
export function mountHealth(app: Express, health: Health): void {
  app.get('/healthz', (_req, res) => respond(res, jsonAnswer(200, { status: 'alive' }, NO_STORE)));
  app.get('/readyz', async (_req, res) => {
    const checks = health.stopping
      ? [{ name: 'process', state: 'failed' as const, detail: 'stopping' }]
      : await health.check();
    const status = statusOf(checks);
    await respond(res, jsonAnswer(status === 'unready' ? 503 : 200, { status, checks }, NO_STORE));
  });
  refuseOtherMethods(app, '/healthz', ['GET']);
  refuseOtherMethods(app, '/readyz', ['GET']);
}

function statusOf(checks: readonly HealthCheck[]): 'ready' | 'degraded' | 'unready' {
  if (checks.some(({ state }) => state === 'failed')) return 'unready';
  return checks.some(({ state }) => state === 'degraded') ? 'degraded' : 'ready';
}
