import { createCandidates } from '../../../src/deployments/candidates.ts';
import type { Instance, Observation } from '../../../src/engines/observation.ts';
import { readDesired } from '../../../src/reconciler/desired.ts';
import { type Claim, claimDue } from '../../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../../src/reconciler/timings.ts';
import { writeObserved } from '../../../src/reconciler/write.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import type { DeploymentWorld } from '../world.ts';

/** The observation of a deployment with one instance, which is current. */
export const observed = (given: Partial<Observation> = {}, instance: Partial<Instance> = {}): Observation => ({
  phase: 'running',
  reason: null,
  message: '1 of 1 up.',
  instances: [
    {
      name: 'web-0',
      phase: 'running',
      message: 'is running',
      restarts: 0,
      ordinal: 0,
      current: true,
      ready: true,
      ...instance,
    },
  ],
  endpoints: [],
  volumes: [],
  actions: [],
  next: 'settled',
  ...given,
});

/** What a worker of updates of several deployments needs. */
export const workerContextOf = ({ world: { database, sealer, log, services } }: DeploymentWorld) => ({
  database,
  sealer,
  log,
  settings: services.settings,
  defaultLimits: services.defaultLimits,
  candidates: createCandidates(),
  timings: SHORT_TIMINGS.reconciler,
});

/** Passes of a worker that observe a simulated engine. */
export function passesOf({ client, world: { database, sealer } }: DeploymentWorld) {
  const claimOf = async (id: string): Promise<Claim> => {
    await client.deployment.update({
      where: { id },
      data: { due_at: new Date(0), lease_owner: null, lease_until: null },
    });
    const others = { where: { id: { not: id } }, data: { due_at: new Date(Date.now() + 3_600_000) } };
    await client.deployment.updateMany(others);
    const [claim] = await claimDue(database, { lease: timings.lease, limit: 1 }, new AbortController().signal);
    if (claim?.id !== id) throw new Error('the deployment was not claimed');
    claim.release(); // no heartbeat is needed
    return claim;
  };

  /** A pass that observes this. */
  const pass = async (id: string, observation: Observation): Promise<void> => {
    const claim = await claimOf(id);
    const desired = await readDesired(database, sealer, claim);
    if (!desired) throw new Error('the deployment is gone');
    await writeObserved(database, claim, { ...desired, observed: observation, timings });
  };
  return { claimOf, pass };
}
