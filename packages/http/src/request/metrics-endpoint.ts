import type { Express } from 'express';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { Metrics } from '../observe/metrics.ts';
import { processMetrics } from '../observe/process-metrics.ts';
import { Problem } from '../response/problem.ts';
import { respond } from '../response/respond.ts';
import { isSecret } from './is-secret.ts';
import { refuseOtherMethods } from './routes.ts';

export const METRICS_PATH = '/metrics';

let isCollecting = false;

/**
 * The metrics of this process. The collectors of the runtime run until the process exits, so there
 * is one of each.
 */
function collectedProcessMetrics(): Registry {
  if (!isCollecting) collectDefaultMetrics({ register: processMetrics });
  isCollecting = true;
  return processMetrics;
}

/**
 * Mounts `/metrics` in the Prometheus text format. If a token is configured, requests must present
 * it.
 */
export function mountMetrics(
  app: Express,
  { registry }: Metrics,
  tokenInEffect: () => string | undefined = () => undefined,
): void {
  const shared = collectedProcessMetrics();
  app.get(METRICS_PATH, async (req, res) => {
    const token = tokenInEffect();
    if (token !== undefined && !isSecret(req.headers.authorization ?? '', `Bearer ${token}`)) {
      throw new Problem('unauthenticated', 'The metrics require the header Authorization: Bearer <METRICS_TOKEN>.', {
        headers: { 'WWW-Authenticate': 'Bearer realm="metrics"' },
      });
    }
    const body = `${await shared.metrics()}\n${await registry.metrics()}`;
    await respond(res, {
      status: 200,
      headers: { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' },
      body,
    });
  });
  refuseOtherMethods(app, METRICS_PATH, ['GET']);
}
