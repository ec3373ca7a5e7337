import { inRounds, type Rounds } from '@svc/http';
import { pass as passOnHost } from '../engines/docker/reconcile.ts';
import { EngineFailure, Unreachable } from '../engines/errors.ts';
import { pass as passOnCluster } from '../engines/kubernetes/reconcile.ts';
import type { Observation } from '../engines/observation.ts';
import type { Sealer } from '../sealing.ts';
import { readDesired } from './desired.ts';
import { movePorts } from './ports.ts';
import { type Claim, claimNext, LeaseLost, Superseded } from './queue.ts';
import { askAtOnce } from './reachability.ts';
import type { Assignment, Tools } from './targets.ts';
import { letGo, writeFailed, writeObserved } from './write.ts';

/** How many deployments this process works on at once. */
const WORKERS = 8;

interface Options extends Tools {
  readonly sealer: Sealer;
}

/** Keeps deployments as they are desired, until stopped: whichever is due is looked at by one worker of all replicas. */
export function keepReconciling(options: Options): Rounds {
  const { log, timings } = options;
  const workers = Array.from({ length: WORKERS }, () =>
    inRounds(Math.random() * timings.idle, async (ending) => {
      try {
        while (!ending.aborted && (await workOnNext(options, ending)));
        return timings.idle;
      } catch (error) {
        log.warn({ err: error }, 'deployments could not be worked on');
        return timings.afterError;
      }
    }),
  );
  return {
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}

/** @returns whether there was anything to do */
async function workOnNext(options: Options, ending: AbortSignal): Promise<boolean> {
  const claim = await claimNext(options.database, options.timings.lease, ending);
  if (!claim) return false;
  try {
    await workOn(options, claim);
  } finally {
    claim.release();
  }
  return true;
}

async function workOn(options: Options, claim: Claim): Promise<void> {
  const { database, log, timings } = options;
  try {
    await makePass(options, claim);
  } catch (error) {
    if (error instanceof LeaseLost) return;
    if (error instanceof Superseded) return letGo(database.client, claim, 0);
    if (error instanceof Unreachable) return letGo(database.client, claim, timings.afterUnreachable); // or when it is back
    if (error instanceof EngineFailure) return writeFailed(database, claim, { failure: error, timings });
    log.error({ err: error, deployment: claim.id }, 'a deployment could not be worked on');
    const message = 'It could not be worked on: the fleet’s log says why.';
    await writeFailed(database, claim, { failure: { reason: 'EngineError', message }, timings });
  }
}

/** Observe, compare, apply, observe; with no transaction open meanwhile. */
async function makePass(options: Options, claim: Claim): Promise<void> {
  const { database, sealer, timings } = options;
  const desired = await readDesired(database, sealer, claim);
  if (!desired) return letGo(database.client, claim, 0);
  const observed = await passOn(options, claim, desired.assignment).catch(async (error: unknown) => {
    if (error instanceof Unreachable) await askAtOnce(database, desired.assignment, claim);
    throw error;
  });
  if (observed.overtaken) return letGo(database.client, claim, timings.progress);
  if (observed.reason === 'PortConflict') await movePorts(database, claim, observed.instances);
  await writeObserved(database, claim, { ...desired, observed, timings });
}

async function passOn({ hosts, clusters }: Options, claim: Claim, it: Assignment): Promise<Observation> {
  const fence = { deploymentId: claim.id, generation: claim.generation, signal: claim.signal };
  if (it.kind === 'host') return passOnHost((await hosts.of(it.row)).whileHeld(claim.mustHold), it.wanted, fence);
  return passOnCluster((await clusters.of(it.row)).whileHeld(claim.mustHold), it.wanted, fence);
}
