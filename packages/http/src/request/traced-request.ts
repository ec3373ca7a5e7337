import type { Request, Response } from 'express';
import { pathOf } from '../observe/log.ts';
import { labelsOf } from '../observe/metrics.ts';
import { currentTracer } from '../observe/tracing.ts';
import { requestIdOf } from '../response/respond.ts';
import { probePaths } from './health.ts';
import { METRICS_PATH } from './metrics-endpoint.ts';

const UNTRACED = new Set([...probePaths, METRICS_PATH]);

/**
 * Processes a request in a span, from its arrival to the end of its response. Probes and scrapes
 * are not traced.
 */
export function traceRequest(req: Request, res: Response, work: () => void): void {
  const tracer = currentTracer();
  if (!tracer || UNTRACED.has(pathOf(req.originalUrl))) {
    work();
    return;
  }
  const { method } = labelsOf(req, res);
  const span = tracer.start({
    name: method,
    kind: 'server',
    attributes: { 'http.request.method': method, request_id: requestIdOf(res) },
    callerHeaders: req.headers,
  });
  res.once('close', () => {
    const { route } = labelsOf(req, res);
    if (route !== 'none') {
      span.rename(`${method} ${route}`);
      span.set({ 'http.route': route });
    }
    span.set({ 'http.response.status_code': res.statusCode });
    span.end(failureOf(res));
  });
  tracer.run(span, work);
}

/** A response with 4xx is a failure of the caller. */
function failureOf(res: Response): string | undefined {
  if (res.statusCode >= 500) return String(res.statusCode);
  return res.writableFinished ? undefined : 'aborted';
}
