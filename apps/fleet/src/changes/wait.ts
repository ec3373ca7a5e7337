import type { Input, Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { notFound, Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import { deployments, presentDeployment } from '../deployments/rows.ts';
import { callerKey, type Principal } from '../identity/principal.ts';
import type { DefaultLimits } from '../render/defaults.ts';
import { readRow } from '../resources/kind.ts';
import type { ChangeFeed } from './feed.ts';
import type { ChangeFilter } from './history.ts';
import type { PresentedChange } from './objects.ts';

type Deployment = Reply<typeof fleetEndpoints.getDeployment>['deployment'];
type Phases = readonly Deployment['phase'][];

/** What a waiting request needs. */
export interface WaitContext {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly principal: Principal;
  readonly connection: {
    /** Closes the connection soon after the credential of the request ends. */
    endWithCredential(): void;
    onClose(listener: () => void): void;
  };
  /** Receives the states of the object while the request waits. */
  readonly onState?: ((state: unknown) => void) | undefined;
}

export interface Wait {
  readonly id: string;
  /** Those to wait for; none: the current state is returned. */
  readonly phases: Wanted;
  readonly seconds: number;
}
export type Wanted = NonNullable<Input<typeof fleetEndpoints.getDeployment>['query']['wait']>;

/** In these phases, a deployment has not been observed: they describe its current generation. */
const NOT_OBSERVED: Phases = ['pending', 'retrying', 'stopping', 'deleting'];
/** A deployment leaves these phases only if somebody changes it or its target. */
const FINAL: Phases = ['failed', 'stopped', 'deleting'];

type State = Pick<Deployment, 'phase' | 'generation' | 'observed_generation'>;

/** Whether a deployment has one of the phases, or a final one, in its current generation. */
export const isDecided = (state: State, phases: Wanted): boolean =>
  (phases.includes(state.phase) || isFinal(state.phase, phases)) && isObserved(state);

/** Whether the phase of a deployment describes its current generation. */
export const isObserved = ({ phase, generation, observed_generation }: State): boolean =>
  observed_generation === generation || NOT_OBSERVED.includes(phase);

export const isFinal = (phase: Deployment['phase'], phases: Wanted) =>
  FINAL.includes(phase) && !(phase === 'deleting' && phases.includes('deleted'));

/**
 * A deployment, when it has one of the phases or cannot reach them by itself, or after a time. @throws as `waitUntil`
 */
export function waitForPhase(
  context: WaitContext & { readonly defaultLimits: DefaultLimits },
  { id, phases, seconds }: Wait,
): Promise<Deployment> {
  const { database, defaultLimits } = context;
  const read = async () => presentDeployment(await readRow(database.client, deployments, id), defaultLimits);
  return waitUntil<Deployment>(context, {
    filter: { kinds: ['deployments'], id },
    seconds,
    read,
    isDecided: (deployment) => phases.length === 0 || isDecided(deployment, phases),
    after: (change) => (change.kind === 'deployments' ? change.object : undefined),
  });
}

/** The object must be read to know its state. */
export const CHANGED = Symbol('changed');

/** An object for whose state a request waits. */
interface Awaited<T> {
  readonly filter: ChangeFilter;
  readonly seconds: number;
  /** @throws 404 */
  read(): Promise<T>;
  isDecided(object: T): boolean;
  /** The object after a change; null if it is deleted, undefined if the change does not concern it. */
  after(change: PresentedChange['change']): T | null | typeof CHANGED | undefined;
  /** Whether its state also changes without a change that the filter finds: it is then read in regular intervals. */
  readonly isReadRegularly?: boolean;
}

/**
 * An object, when it is decided, or after a time. While it waits, no database connection is held. @throws 404, also if it is
 * deleted meanwhile; 503 if too many requests wait
 */
export async function waitUntil<T>(context: WaitContext, awaited: Awaited<T>): Promise<T> {
  const { changes, principal, connection, onState } = context;
  const { read, isDecided } = awaited;
  const before = await read();
  if (isDecided(before)) return before;
  const release = changes.places.take(callerKey(principal));
  const decide = async () => {
    connection.endWithCredential();
    return firstDecided(changes, connection, {
      ...awaited,
      isDecided: (object) => {
        onState?.(object);
        return isDecided(object);
      },
    });
  };
  const decided = await decide().finally(release);
  if (decided === null) throw notFound();
  return decided ?? (await read());
}

/**
 * The first state for which `isDecided` is true; null if the object is deleted, undefined if
 * the wait ends otherwise.
 */
async function firstDecided<T>(
  changes: ChangeFeed,
  connection: Pick<WaitContext['connection'], 'onClose'>,
  awaited: Awaited<T>,
): Promise<T | null | undefined> {
  const { promise, resolve } = Promise.withResolvers<T | null | undefined>();
  const offer = (object: T | null) => {
    if (object === null || awaited.isDecided(object)) resolve(object);
  };
  const giveUp = () => resolve(undefined);
  const readAgain = onceAtATime(async () => {
    try {
      offer(await awaited.read());
    } catch (error) {
      if (error instanceof Problem && error.status === 404) resolve(null);
      else giveUp();
    }
  });
  const { end } = await changes.subscribe({
    filter: awaited.filter,
    onChange: ({ change }) => {
      const object = awaited.after(change);
      if (object === CHANGED) readAgain();
      else if (object !== undefined) offer(object);
    },
    onReset: giveUp,
    onAlive: () => {
      if (awaited.isReadRegularly) readAgain();
    },
    onStop: giveUp,
  });
  const timeout = setTimeout(giveUp, Math.min(awaited.seconds * 1000, changes.longestWait));
  connection.onClose(giveUp);
  try {
    offer(await awaited.read()); // it can have changed before the subscription
    return await promise;
  } finally {
    clearTimeout(timeout);
    end();
  }
}

/** Runs work that does not fail. While it runs, further requests make it run once more. */
function onceAtATime(work: () => Promise<void>): () => void {
  let isRequested = false;
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    while (isRequested) {
      isRequested = false;
      await work();
    }
    isRunning = false;
  };
  return () => {
    isRequested = true;
    if (!isRunning) void run();
  };
}
