import { inRounds, type Rounds } from '@svc/http';
import { pass } from '../engines/docker/pass.ts';
import { EngineFailure, Unreachable } from '../engines/errors.ts';
import type { Sealer } from '../sealing.ts';
import { askAtOnce } from './checks.ts';
import { readDesired } from './desired.ts';
import { whileHeld } from './held.ts';
import type { Tools } from './hosts.ts';
import { movePorts } from './ports.ts';
import { type Claim, claimNext, LeaseLost, Superseded } from './queue.ts';
import { letGo, writeFailed, writeObserved } from './write.ts';

/** How many deployments this process works on at once. */
const WORKERS = 8;
const IDLE_MS = 500;
const AFTER_TROUBLE_MS = 5000;
/** By then it is known whether a host is away, or only missed once. */
const AFTER_MISSED_S = 2;

interface Options extends Tools {
  readonly sealer: Sealer;
}

/** Keeps deployments as they are desired, until stopped: whichever is due is looked at by one worker of all replicas. */
export function keepReconciling(options: Options): Rounds {
  const workers = Array.from({ length: WORKERS }, () =>
    inRounds(Math.random() * IDLE_MS, async (ending) => {
      try {
        while (!ending.aborted && (await workOnNext(options, ending)));
        return IDLE_MS;
      } catch (error) {
        options.log.warn({ err: error }, 'deployments could not be worked on');
        return AFTER_TROUBLE_MS;
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
export async function workOnNext(options: Options, ending: AbortSignal): Promise<boolean> {
  const claim = await claimNext(options.database, ending);
  if (!claim) return false;
  try {
    await workOn(options, claim);
  } finally {
    claim.release();
  }
  return true;
}

async function workOn(options: Options, claim: Claim): Promise<void> {
  const { database, log } = options;
  try {
    await makePass(options, claim);
  } catch (error) {
    if (error instanceof LeaseLost) return;
    if (error instanceof Superseded) return letGo(database.client, claim, 0);
    if (error instanceof Unreachable) return letGo(database.client, claim, AFTER_MISSED_S); // or when its host is back
    if (error instanceof EngineFailure) return writeFailed(database, claim, error);
    log.error({ err: error, deployment: claim.id }, 'a deployment could not be worked on');
    const message = 'It could not be worked on: the fleet’s log says why.';
    await writeFailed(database, claim, { reason: 'EngineError', message });
  }
}

/** Observe, compare, apply, observe; with no transaction open meanwhile. */
async function makePass({ database, sealer, engines }: Options, claim: Claim): Promise<void> {
  const desired = await readDesired(database, sealer, claim);
  if (!desired) return letGo(database.client, claim, 0);
  const { host, wanted } = desired;
  const fence = { deploymentId: claim.id, generation: claim.generation, signal: claim.signal };
  const engine = whileHeld(await engines.of(host), claim.mustHold);
  const observed = await pass(engine, wanted, fence).catch(async (error: unknown) => {
    if (error instanceof Unreachable) await askAtOnce(database, host, claim);
    throw error;
  });
  if (observed.overtaken) return letGo(database.client, claim, 1);
  if (observed.reason === 'PortConflict') await movePorts(database, claim, observed.instances);
  await writeObserved(database, claim, { ...desired, observed });
}
