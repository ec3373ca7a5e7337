import { type Log, unavailable } from '@svc/http';
import { z } from 'zod';
import { createCounts } from './counts.ts';
import { type ChangeFilter, type ChangeRow, isKnown, type Position, readChanges, readNewest } from './history.ts';
import { type ObjectSources, type PresentedChange, presentChanges } from './objects.ts';
import { createPlaces, type Places } from './places.ts';

/** Receives the changes after the position of its subscription. No function may throw. */
export interface Subscriber {
  readonly filter: ChangeFilter;
  onChange(change: PresentedChange): void;
  /** Changes before `position` cannot be delivered, for example because the history no longer contains them. */
  onReset(position: Position): void;
  /** Receives the text of an event with the number of deployments in each phase: at first, and when it has changed. */
  readonly onCounts?: (text: string) => void;
  /** No change has a position between the last one and this one. */
  onIdle(position: Position): void;
  /** The process stops. */
  onStop(): void;
}

interface Subscription {
  /** The position after which the subscriber receives changes. */
  readonly position: Position;
  end(): void;
}

/** The changes of the objects of all lists, for the streams and waiting requests of this process. */
export interface ChangeFeed {
  readonly places: Places;
  /** Maximum milliseconds that a request waits. */
  readonly longestWait: number;
  /** @throws 503 if the process stops or the database is unavailable */
  subscribe(subscriber: Subscriber): Promise<Subscription>;
  /** The position after which a stream begins: the newest one unless a position is given; undefined if that is not known. */
  startOf(given: Position | undefined): Promise<Position | undefined>;
  /** The next changes after one position and up to another; undefined if they cannot be read, so that the client must read the lists. */
  replay(range: Replay): Promise<Replayed | undefined>;
  /** Ends all subscriptions, and refuses others. */
  stop(): Promise<void>;
}

interface Replay {
  readonly after: Position;
  readonly until: Position;
  readonly filter: ChangeFilter;
}

interface Replayed {
  /** The events as they are sent, together: a slow client then holds no more than the unsent bytes of its connection. */
  readonly text: string;
  /** The position after which the next changes follow; undefined if there are no more. */
  readonly next: Position | undefined;
}

export interface FeedTimings {
  /** Milliseconds between two reads of the history. */
  readonly interval: number;
  /** Milliseconds between two messages of an idle stream. */
  readonly heartbeat: number;
  /** Maximum milliseconds that a request waits. */
  readonly longestWait: number;
}

const TIMINGS: FeedTimings = { interval: 250, heartbeat: 15_000, longestWait: 60_000 };

/** The maximum number of changes that are read and presented together. */
const BATCH = 100;

type FeedOptions = ObjectSources & { readonly log: Log; readonly timings?: Partial<FeedTimings> | undefined };

/**
 * Reads the history for all subscribers together, only while there are any. A change and its object are read once, so that the
 * number of subscribers does not increase the load of the database.
 */
export function createChangeFeed({ log, timings: given, ...sources }: FeedOptions): ChangeFeed {
  const timings = { ...TIMINGS, ...given };
  const { database } = sources;
  const subscribers = new Set<Subscriber>();
  const counts = createCounts(database);
  /** The subscribers, and those that are being added. */
  let users = 0;
  let position: Position = '';
  /** The round under way or the last one. Subscribers are added between two rounds. Undefined: nothing is read. */
  let round: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let heartbeatAt = 0;
  let isStopping = false;
  let isFailing = false;
  let replaying: Promise<unknown> = Promise.resolve();

  const start = async () => {
    position = await readNewest(database);
    heartbeatAt = Date.now() + timings.heartbeat;
    schedule(timings.interval);
  };
  const schedule = (milliseconds: number) => {
    timer = setTimeout(() => {
      if (users === 0 || isStopping) round = undefined;
      else round = readNext().then(schedule);
    }, milliseconds).unref();
  };
  /** @returns the time until the next round, in milliseconds */
  const readNext = async () => {
    try {
      const isComplete = await deliverNext();
      isFailing = false;
      return isComplete ? timings.interval : 0;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'reading changes failed; will retry');
      isFailing = true;
      return timings.interval;
    }
  };
  /** @returns whether there are no more changes */
  const deliverNext = async () => {
    const rows = await readChanges(database, { after: position, limit: BATCH });
    if (rows === undefined) {
      position = await readNewest(database);
      for (const subscriber of subscribers) subscriber.onReset(position);
      return true;
    }
    const filters = [...subscribers].map(({ filter }) => filter);
    const wanted = rows.filter((row) => filters.some((filter) => includes(filter, row.kind, row.object_id)));
    const changes = await present(wanted);
    // Before the changes are sent, so that a stream sends both together. If it fails, the same changes are read again.
    const sendCounts = await counts.read(
      subscribers,
      rows.some(({ kind }) => kind === 'deployments'),
    );
    position = rows.at(-1)?.position ?? position;
    if (changes === undefined) {
      for (const subscriber of subscribers) subscriber.onReset(position);
      return false;
    }
    for (const subscriber of subscribers) {
      for (const event of changes) {
        if (includes(subscriber.filter, event.change.kind, event.change.id)) subscriber.onChange(event);
      }
    }
    sendCounts();
    if (Date.now() >= heartbeatAt) {
      heartbeatAt = Date.now() + timings.heartbeat;
      for (const subscriber of subscribers) subscriber.onIdle(position);
    }
    return rows.length < BATCH;
  };

  /** The events for changes; undefined if an object is not valid. It must not stop the changes of the others. */
  const present = async (rows: readonly ChangeRow[]) => {
    try {
      return await presentChanges(sources, rows);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ err: error }, 'a changed object is not valid; streams are reset');
      return undefined;
    }
  };

  const refuseWhileStopping = () => {
    if (isStopping) throw unavailable('The process stops. Retry with another one.');
  };
  const subscribe = async (subscriber: Subscriber): Promise<Subscription> => {
    refuseWhileStopping();
    users += 1;
    round ??= start();
    const current = round;
    try {
      await current;
      refuseWhileStopping();
    } catch (error) {
      users -= 1;
      if (round === current) round = undefined; // the start failed; a later round never does
      throw error;
    }
    subscribers.add(subscriber);
    return {
      position,
      end: () => {
        if (subscribers.delete(subscriber)) users -= 1;
      },
    };
  };

  return {
    places: createPlaces(),
    longestWait: timings.longestWait,
    subscribe,
    startOf: async (given) => {
      if (given === undefined) return readNewest(database);
      return (await isKnown(database, given)) ? given : undefined;
    },
    replay: (range) => {
      // One at a time: after a restart, the streams of all clients continue at the same time.
      const next = replaying.then(async () => {
        const rows = await readChanges(database, { ...range, limit: BATCH });
        const changes = rows && (await present(rows));
        const next = rows?.[BATCH - 1]?.position;
        return changes && { text: changes.map(({ text }) => text).join(''), next };
      });
      replaying = next.catch(() => undefined);
      return next;
    },
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      for (const subscriber of subscribers) subscriber.onStop();
      await Promise.all([round?.catch(() => undefined), replaying]);
    },
  };
}

const includes = ({ kinds, id }: ChangeFilter, kind: string, objectId: string) =>
  kinds.includes(kind) && (id === undefined || id === objectId);
