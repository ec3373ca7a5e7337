import { createPlaces, type Log, type Places, unavailable } from '@svc/http';
import { z } from 'zod';
import { createDelivery, type Present, type Subscriber } from './delivery.ts';
import { isKnown, type Position, readNewest } from './history.ts';
import { type ObjectSources, presentChanges } from './objects.ts';
import { createReplay, type Replay } from './replay.ts';
import { createRounds } from './rounds.ts';

interface Subscription {
  /** The position after which the subscriber receives changes. */
  readonly position: Position;
  end(): void;
}

/**
 * The changes of the objects of all lists, for the streams and waiting requests of this process.
 */
export interface ChangeFeed {
  /** For streams of changes, followed logs and requests that wait. */
  readonly places: Places;
  /** Maximum milliseconds that a request waits. */
  readonly longestWait: number;
  /** @throws 503 if the process stops or the database is unavailable */
  subscribe(subscriber: Subscriber): Promise<Subscription>;
  /**
   * The position after which a stream begins: the newest one unless a position is given; undefined
   * if that is not known.
   */
  startOf(given: Position | undefined): Promise<Position | undefined>;
  readonly replay: Replay['read'];
  /** Ends all subscriptions, and refuses others. */
  stop(): Promise<void>;
}

export interface FeedTimings {
  /** Milliseconds between two reads of the history. */
  readonly interval: number;
  /** Milliseconds between two signs of life of a stream. */
  readonly heartbeat: number;
  /** Maximum milliseconds that a request waits. */
  readonly longestWait: number;
}

const TIMINGS: FeedTimings = { interval: 250, heartbeat: 5000, longestWait: 60_000 };

const PLACES = {
  what: 'streams and waiting requests',
  total: 2200,
  perCaller: 1000,
  reserve: { places: 200, perCaller: 4 },
};

type FeedOptions = ObjectSources & { readonly log: Log; readonly timings?: Partial<FeedTimings> | undefined };

/** Reads the history for all subscribers together, only while there are any. */
export function createChangeFeed({ log, timings: given, ...sources }: FeedOptions): ChangeFeed {
  const timings = { ...TIMINGS, ...given };
  const { database } = sources;
  const present = presentUnlessInvalid(sources, log);
  const delivery = createDelivery({ database, present, heartbeat: timings.heartbeat });
  const replay = createReplay(database, present);
  const rounds = createRounds({
    interval: timings.interval,
    start: delivery.start,
    next: retrying(delivery.deliverNext, log),
  });
  let isStopping = false;
  const refuseWhileStopping = () => {
    if (isStopping) throw unavailable('The process stops. Retry with another one.');
  };

  return {
    places: createPlaces(PLACES),
    longestWait: timings.longestWait,
    subscribe: async (subscriber) => {
      refuseWhileStopping();
      await rounds.join(); // subscribers are added between two rounds
      if (isStopping) rounds.leave();
      refuseWhileStopping();
      delivery.subscribers.add(subscriber);
      return {
        position: delivery.position(),
        end: () => {
          if (delivery.subscribers.delete(subscriber)) rounds.leave();
        },
      };
    },
    startOf: async (given) => {
      if (given === undefined) return readNewest(database);
      return (await isKnown(database, given)) ? given : undefined;
    },
    replay: replay.read,
    stop: async () => {
      isStopping = true;
      const stopped = rounds.stop();
      for (const subscriber of delivery.subscribers) subscriber.onStop();
      await Promise.all([stopped, replay.idle()]);
    },
  };
}

/** An object that is not valid must not stop the changes of the others: the streams are reset. */
const presentUnlessInvalid =
  (sources: ObjectSources, log: Log): Present =>
  async (rows) => {
    try {
      return await presentChanges(sources, rows);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ err: error }, 'a changed object is not valid; streams are reset');
      return undefined;
    }
  };

/** Runs a round that may fail. Only the first of several failures is logged. */
function retrying(deliverNext: () => Promise<boolean>, log: Log): () => Promise<boolean> {
  let isFailing = false;
  return async () => {
    try {
      const isComplete = await deliverNext();
      isFailing = false;
      return isComplete;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'reading changes failed; will retry');
      isFailing = true;
      return true;
    }
  };
}
