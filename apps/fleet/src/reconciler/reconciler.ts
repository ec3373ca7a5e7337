import { setMaxListeners } from 'node:events';
import { type PeriodicTask, runPeriodically, traced } from '@svc/http';
import type { Database } from '../database/client.ts';
import { restartForAddress } from '../deployments/addresses/dependents.ts';
import { createCandidates } from '../deployments/candidates.ts';
import { storedHostPorts } from '../deployments/host-ports/stored.ts';
import { freePorts, readHostPorts } from '../deployments/ports.ts';
import { reconcile as reconcileOnHost } from '../engines/docker/reconcile.ts';
import { EngineFailure, Unreachable } from '../engines/errors.ts';
import { reconcile as reconcileOnCluster } from '../engines/kubernetes/reconcile.ts';
import type { Fence, Instance, Observation } from '../engines/observation.ts';
import { logEvents } from '../events/record.ts';
import { THE_FLEET } from '../identity/principal.ts';
import type { Subnet } from '../placement/subnets.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { readDesired } from './desired.ts';
import { countFailure, measurePass } from './metrics.ts';
import { repairNetwork } from './networks/repair.ts';
import { type Claim, claimDue, LeaseLost, Superseded } from './queue.ts';
import { requestCheck } from './reachability.ts';
import { type ReturnContext, returnToGood } from './rollout/restore.ts';
import type { DesiredOnTarget, ReconcilerContext } from './targets.ts';
import {
  type ChosenImage,
  raiseGeneration,
  releaseLease,
  writeFailed,
  writeImage,
  writeObserved,
  writeProgress,
} from './write.ts';

/**
 * Maximum number of deployments that this process reconciles, including those whose target is slow.
 */
const MAX_PASSES = 512;

interface Options extends ReconcilerContext, Omit<ReturnContext, 'candidates'> {
  /**
   * Maximum number of deployments that this process reconciles concurrently, without those whose
   * target is slow.
   */
  readonly concurrency: number;
  /** The subnets from which networks of hosts are allocated. */
  readonly networkPool?: Subnet | undefined;
}

/**
 * Reconciles deployments that are due until stopped. At most one worker of all replicas reconciles
 * a deployment at a time.
 */
export function startReconciler(given: Options): PeriodicTask {
  const options = { ...given, candidates: createCandidates(given.networkPool) };
  const { database, log, timings, concurrency } = options;
  /** The passes in progress, and those of them that are slow. */
  const passes = new Set<Promise<void>>();
  const slow = new Set<Promise<void>>();
  /** How many passes can start. */
  const free = () => Math.min(concurrency - passes.size + slow.size, MAX_PASSES - passes.size);
  let isFull = false;
  let searchedAt = Number.NEGATIVE_INFINITY;

  const start = (claim: Claim) => {
    const span = () =>
      ({ name: 'reconcile deployment', kind: 'internal', attributes: { 'deployment.id': claim.id } }) as const;
    const pass = measurePass(() => traced(span, () => reconcileClaimed(options, claim)))
      .catch((error: unknown) =>
        log.warn({ err: error, deployment: claim.id }, 'reconciling a deployment failed; will retry'),
      )
      .finally(() => {
        claim.release();
        clearTimeout(timer);
        passes.delete(pass);
        slow.delete(pass);
        // A deployment that is changing is due again after this time.
        if (isFull) search.wake();
        else setTimeout(search.wake, timings.progress).unref();
      });
    passes.add(pass);
    const timer = setTimeout(() => {
      slow.add(pass);
      if (isFull) search.wake();
    }, timings.slowPass);
  };
  const search = runPeriodically(Math.random() * timings.idle, async (shutdown) => {
    setMaxListeners(MAX_PASSES, shutdown); // each claim has one
    const pause = searchedAt + timings.searchPause - performance.now();
    if (pause > 0) return pause;
    const limit = free();
    isFull = limit <= 0;
    if (isFull) return timings.idle;
    searchedAt = performance.now();
    try {
      const claims = await claimDue(database, { lease: timings.lease, limit }, shutdown);
      for (const claim of claims) start(claim);
      return claims.length === limit ? timings.searchPause : timings.idle;
    } catch (error) {
      log.warn({ err: error }, 'claiming deployments failed; will retry');
      return timings.afterError;
    }
  });
  const subscription = database.subscribeToDue(search.wake);
  return {
    stop: async () => {
      await Promise.all([subscription.close(), search.stop()]);
      await Promise.all(passes);
    },
  };
}

type Started = Options & ReturnContext;

async function reconcileClaimed(options: Started, claim: Claim) {
  const { database, log, timings } = options;
  try {
    await reconcileDeployment(options, claim);
    return 'done';
  } catch (error) {
    if (error instanceof LeaseLost) return 'lease_lost';
    if (error instanceof Superseded) {
      await releaseLease(database.client, claim, 0);
      return 'superseded';
    }
    if (error instanceof Unreachable) {
      // A check that finds the target online again makes the deployment due at once.
      await releaseLease(database.client, claim, timings.afterUnreachable);
      return 'unreachable';
    }
    const isExpected = error instanceof EngineFailure;
    if (!isExpected) log.error({ err: error, deployment: claim.id }, 'reconciliation failed unexpectedly; will retry');
    const failure = isExpected ? error : INTERNAL_ERROR;
    countFailure(failure.reason);
    logEvents(log, await writeFailed(database, claim, { failure, timings }));
    return isExpected ? 'failed' : 'error';
  }
}

const INTERNAL_ERROR = {
  reason: 'EngineError',
  message: 'The reconciliation failed with an internal error. See the log of the fleet.',
} as const;

/**
 * One pass: observe, compare, apply, observe. No transaction is open while the engine is called.
 */
async function reconcileDeployment(options: Started, claim: Claim): Promise<void> {
  const { database, sealer, log, timings } = options;
  const desired = await readDesired(database, sealer, claim, timings);
  if (!desired) return releaseLease(database.client, claim, 0);
  const { row } = desired;
  if (row.rollout?.state === 'returning' && row.rollout.generation === row.generation) {
    return returnToGood(options, claim, row);
  }
  const pass: Pass = { chosen: undefined };
  // A requested pull is not repeated, whatever the end of the pass.
  const keepImage = async () => {
    if (pass.chosen) await writeImage(database, claim, pass.chosen);
  };
  const observed = await reconcileOnTarget(options, claim, desired.assignment, pass).catch(async (error: unknown) => {
    await keepImage();
    if (error instanceof Unreachable) await requestCheck(database, desired.assignment, claim);
    throw error;
  });
  if (observed.supersededBy !== undefined) {
    await keepImage();
    const raised = await raiseGeneration(database, claim, { by: observed.supersededBy, timings });
    return logEvents(log, raised);
  }
  const { networkFailure } = observed;
  if (networkFailure) await repairNetwork(options, claim, { ...networkFailure, down: downIn(observed.instances) });
  if (observed.reason === 'PortConflict') await reassignPorts(database, claim, observed.instances);
  if (observed.reason !== null) countFailure(observed.reason);
  logEvents(log, await writeObserved(database, claim, { ...desired, observed, timings, ...pass }));
}

/** What a pass has decided so far, which is written with its result. */
interface Pass {
  chosen: ChosenImage | undefined;
}

async function reconcileOnTarget(
  { database, hosts, clusters }: Options,
  claim: Claim,
  target: DesiredOnTarget,
  pass: Pass,
): Promise<Observation> {
  const report = (message: string) => writeProgress(database, claim, message);
  const recordImage: Fence['recordImage'] = (image, notPulled) => {
    pass.chosen = { image, notPulled };
  };
  const fence = { deploymentId: claim.id, generation: claim.generation, signal: claim.signal, report, recordImage };
  if (target.kind === 'host')
    return reconcileOnHost((await hosts.of(target.row)).withLeaseCheck(claim.assertLease), target.desired, fence);
  return reconcileOnCluster((await clusters.of(target.row)).withLeaseCheck(claim.assertLease), target.desired, fence);
}

/** The ordinals of the instances that do not run. */
const downIn = (instances: readonly Instance[]): number[] =>
  instances.flatMap(({ phase }, ordinal) => (phase === 'missing' || phase === 'created' ? [ordinal] : []));

/**
 * Allocates other host ports to the instances that do not run, because a process outside the fleet
 * uses one of their ports. The next free port above the previous one is allocated.
 */
async function reassignPorts(
  { client }: Database,
  { id, owner }: Claim,
  instances: readonly Instance[],
): Promise<void> {
  const down = downIn(instances);
  await client.$transaction(async (transaction) => {
    await acquirePlacementLock(transaction);
    const deployment = await transaction.deployment.findFirst({ where: { id, lease_owner: owner } });
    if (!deployment) return;
    const ports = await transaction.allocatedPort.findMany({ where: { deployment_id: id, ordinal: { in: down } } });
    const requested = storedHostPorts.parse(deployment.host_ports);
    const movable = ports.filter(
      ({ container_port, protocol }) => requested[`${container_port}/${protocol.toLowerCase()}`] === undefined,
    );
    if (movable.length === 0) return; // only requested ports are in use: retry with the same ports
    for (const { host_id, protocol, host_port } of movable) {
      const onHost = await readHostPorts(transaction, host_id);
      const [next] = freePorts(onHost, { protocol, count: 1, from: host_port + 1 });
      const host_id_protocol_host_port = { host_id, protocol, host_port };
      if (next === undefined) continue; // no other port is free: retry with the same port
      await transaction.allocatedPort.update({ where: { host_id_protocol_host_port }, data: { host_port: next } });
    }
    await restartForAddress({ transaction, principal: THE_FLEET }, deployment);
  });
}
