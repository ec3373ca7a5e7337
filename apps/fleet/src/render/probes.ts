import type { IProbe } from 'kubernetes-models/v1/Probe';
import { CHECK_FAILURES, CHECK_PERIOD, CHECK_TIMEOUT, healthCheckOf, startPeriodOf } from './container-options.ts';
import type { Rendering } from './rendering.ts';

const timing = { periodSeconds: CHECK_PERIOD, timeoutSeconds: CHECK_TIMEOUT, failureThreshold: CHECK_FAILURES };

interface Probes {
  readonly readinessProbe?: IProbe;
  readonly startupProbe?: IProbe;
  readonly livenessProbe?: IProbe;
}

/**
 * The health check as probes. A failed readiness probe restarts nothing. There is a startup probe if
 * the workload states its start period, after which the kubelet starts the container again. There
 * is a liveness probe only if the workload requests it, because a busy program would lose its work.
 * It begins when the startup probe has passed.
 */
export function probesOf(rendering: Rendering): Probes {
  const action = actionOf(rendering);
  if (action === undefined) return {};
  const { start_period_seconds, restart_unhealthy } = rendering.spec;
  const startupFailures = Math.ceil(startPeriodOf(rendering.spec) / CHECK_PERIOD);
  return {
    readinessProbe: { ...action, ...timing },
    ...((start_period_seconds > 0 || restart_unhealthy) && {
      startupProbe: { ...action, ...timing, failureThreshold: startupFailures },
    }),
    ...(restart_unhealthy && { livenessProbe: { ...action, ...timing } }),
  };
}

function actionOf(rendering: Rendering): Pick<IProbe, 'exec' | 'tcpSocket' | 'httpGet'> | undefined {
  const check = healthCheckOf(rendering);
  switch (check?.kind) {
    case undefined:
      return undefined;
    case 'exec':
      return { exec: { command: ['/bin/sh', '-c', check.command] } };
    case 'tcp':
      return { tcpSocket: { port: check.port } };
    case 'http':
      return { httpGet: { path: check.path, port: check.port } };
  }
}
