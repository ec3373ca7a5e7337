import type { Input, Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { notFound } from '@svc/http';
import type { Database } from '../database/client.ts';
import { deployments, presentDeployment } from '../deployments/rows.ts';
import { callerKey, type Principal } from '../identity/principal.ts';
import type { DefaultLimits } from '../render/defaults.ts';
import { readRow } from '../resources/kind.ts';
import type { ChangeFeed } from './feed.ts';

type Deployment = Reply<typeof fleetEndpoints.getDeployment>['deployment'];
type Phases = readonly Deployment['phase'][];
type Wanted = NonNullable<Input<typeof fleetEndpoints.getDeployment>['query']['wait']>;

/** What a waiting request needs. */
interface WaitContext {
  readonly database: Database;
  readonly defaultLimits: DefaultLimits;
  readonly changes: ChangeFeed;
  readonly principal: Principal;
  readonly connection: {
    /** Closes the connection soon after the credential of the request ends. */
    endWithCredential(): void;
    onClose(listener: () => void): void;
  };
  /** Receives the states of the deployment while the request waits. */
  readonly onState?: ((state: unknown) => void) | undefined;
}

interface Wait {
  readonly id: string;
  /** Those to wait for; none: the current state is returned. */
  readonly phases: Wanted;
  readonly seconds: number;
}

/** In these phases, a deployment has not been observed: they describe its current generation. */
const NOT_OBSERVED: Phases = ['pending', 'retrying', 'stopping', 'deleting'];
/** A deployment leaves these phases only if somebody changes it or its target. */
const FINAL: Phases = ['failed', 'stopped', 'deleting'];

type State = Pick<Deployment, 'phase' | 'generation' | 'observed_generation'>;

/** Whether a deployment has one of the phases, or a final one, in its current generation. */
export const isDecided = ({ phase, generation, observed_generation }: State, phases: Wanted): boolean =>
  (phases.includes(phase) || isFinal(phase, phases)) &&
  (observed_generation === generation || NOT_OBSERVED.includes(phase));

const isFinal = (phase: Deployment['phase'], phases: Wanted) =>
  FINAL.includes(phase) && !(phase === 'deleting' && phases.includes('deleted'));

/**
 * A deployment, when it has one of the phases or cannot reach them by itself, or after a time.
 * While it waits, no database connection is held. @throws 404, also if it is deleted meanwhile; 503
 * if too many requests wait
 */
export async function waitForPhase(context: WaitContext, { id, phases, seconds }: Wait): Promise<Deployment> {
  const { database, defaultLimits, changes, principal, connection, onState } = context;
  const read = async () => presentDeployment(await readRow(database.client, deployments, id), defaultLimits);
  const before = await read();
  if (phases.length === 0 || isDecided(before, phases)) return before;
  const release = changes.places.take(callerKey(principal));
  try {
    connection.endWithCredential();
    const decided = await firstDecided(changes, {
      id: before.id,
      seconds,
      read,
      isDecided: (deployment) => {
        onState?.(deployment);
        return isDecided(deployment, phases);
      },
      onClose: connection.onClose,
    });
    if (decided === null) throw notFound();
    return decided ?? (await read());
  } finally {
    release();
  }
}

interface Waiting {
  readonly id: string;
  readonly seconds: number;
  read(): Promise<Deployment>;
  isDecided(deployment: Deployment): boolean;
  onClose(listener: () => void): void;
}

/**
 * The first state for which `isDecided` is true; null if the deployment is deleted, undefined if
 * the wait ends otherwise.
 */
async function firstDecided(changes: ChangeFeed, waiting: Waiting): Promise<Deployment | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<Deployment | null | undefined>();
  const offer = (deployment: Deployment | null) => {
    if (deployment === null || waiting.isDecided(deployment)) resolve(deployment);
  };
  const giveUp = () => resolve(undefined);
  const { end } = await changes.subscribe({
    filter: { kinds: ['deployments'], id: waiting.id },
    onChange: ({ change }) => {
      if (change.kind === 'deployments') offer(change.object);
    },
    onReset: giveUp,
    onAlive: () => {},
    onStop: giveUp,
  });
  const timeout = setTimeout(giveUp, Math.min(waiting.seconds * 1000, changes.longestWait));
  waiting.onClose(giveUp);
  try {
    offer(await waiting.read()); // it can have changed before the subscription
    return await promise;
  } finally {
    clearTimeout(timeout);
    end();
  }
}
