import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { z } from 'zod';
import { isDecided } from '../../changes/wait.ts';
import { findDeployment } from './find.ts';
import type { Handlers } from './types.ts';

type Deployment = z.output<typeof fleetEndpoints.getDeployment.reply>['deployment'];

/** The longest wait of one operation, in seconds. A longer wait repeats it. */
const OPERATION_SECONDS = 60;
/** The longest wait without progress. Clients give up after a minute. */
const SILENT_SECONDS = 50;

export const wait_for_deployment: Handlers['wait_for_deployment'] = async (given, { ask, signal, progress }) => {
  const { deployment: named, until } = given;
  const started = performance.now();
  const waited = () => (performance.now() - started) / 1000;
  const limit = progress ? given.timeout_seconds : Math.min(given.timeout_seconds, SILENT_SECONDS);
  const result = (reached: boolean, deployment: Deployment | null) => ({
    reached,
    deployment,
    waited_seconds: Math.round(waited()),
  });
  const onState =
    progress && reportChanges((message) => void progress(waited(), limit, message).catch(() => undefined));
  try {
    const params = { id: await findDeployment(ask, named) };
    for (;;) {
      const timeout = Math.max(1, Math.min(OPERATION_SECONDS, Math.ceil(limit - waited())));
      const { deployment } = await ask(fleetEndpoints.getDeployment, {
        params,
        query: { wait: until, timeout },
        onState,
      });
      if (isDecided(deployment, [until])) return result(deployment.phase === until, deployment);
      if (signal.aborted || waited() >= limit) return result(false, deployment);
    }
  } catch (error) {
    if (until === 'deleted' && error instanceof Problem && error.code === 'not_found') return result(true, null);
    throw error;
  }
};

/** Reports the phase and the message of a deployment when one of them changes. */
function reportChanges(report: (message: string) => void): (state: unknown) => void {
  let last = '';
  return (state) => {
    const { phase, message } = state as Deployment; // the operation reports states of a deployment
    const current = message === '' ? phase : `${phase}: ${message}`;
    if (current !== last) report(current);
    last = current;
  };
}
