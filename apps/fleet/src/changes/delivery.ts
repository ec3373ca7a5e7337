import type { Database } from '../database/client.ts';
import { createCounts } from './counts.ts';
import { type ChangeFilter, type ChangeRow, type Position, readChanges, readNewest } from './history.ts';
import type { PresentedChange } from './objects.ts';

/** Receives the changes after the position of its subscription. No function may throw. */
export interface Subscriber {
  readonly filter: ChangeFilter;
  onChange(change: PresentedChange): void;
  /**
   * Changes before `position` cannot be delivered, for example because the history no longer
   * contains them.
   */
  onReset(position: Position): void;
  /**
   * Receives the text of an event with the number of deployments in each phase: at first, and when
   * it has changed.
   */
  readonly onCounts?: (text: string) => void;
  /**
   * Is called in regular intervals. No change has a position between the last one and this one.
   */
  onAlive(position: Position): void;
  /** The process stops. */
  onStop(): void;
}

/** The maximum number of changes that are read and presented together. */
export const BATCH = 100;

/** The events for changes; undefined if an object is not valid. */
export type Present = (rows: readonly ChangeRow[]) => Promise<readonly PresentedChange[] | undefined>;

interface DeliveryOptions {
  readonly database: Database;
  readonly present: Present;
  /** Milliseconds between two signs of life of a stream. */
  readonly heartbeat: number;
}

/**
 * Delivers the history to all subscribers together. A change and its object are read once, so that
 * the number of subscribers does not increase the load of the database.
 */
export function createDelivery({ database, present, heartbeat }: DeliveryOptions) {
  const subscribers = new Set<Subscriber>();
  const counts = createCounts(database);
  let position: Position = '';
  let heartbeatAt = 0;

  const wantedOf = (rows: readonly ChangeRow[]) => {
    const filters = [...subscribers].map(({ filter }) => filter);
    return rows.filter(({ kind, object_id }) => filters.some((filter) => includes(filter, kind, object_id)));
  };
  const resetAll = () => {
    for (const subscriber of subscribers) subscriber.onReset(position);
  };
  const send = (changes: readonly PresentedChange[]) => {
    for (const subscriber of subscribers) {
      for (const event of changes) {
        if (includes(subscriber.filter, event.change.kind, event.change.id)) subscriber.onChange(event);
      }
    }
  };
  const sendHeartbeat = () => {
    if (Date.now() < heartbeatAt) return;
    heartbeatAt = Date.now() + heartbeat;
    for (const subscriber of subscribers) subscriber.onAlive(position);
  };

  return {
    subscribers,
    /** The position of the last delivered change. */
    position: (): Position => position,
    /** Continues with the changes that follow from now on. */
    start: async () => {
      position = await readNewest(database);
      heartbeatAt = Date.now() + heartbeat;
    },
    /** Delivers the next changes. @returns whether there are no more changes */
    deliverNext: async (): Promise<boolean> => {
      const rows = await readChanges(database, { after: position, limit: BATCH });
      if (rows === undefined) {
        position = await readNewest(database);
        resetAll();
        return true;
      }
      const changes = await present(wantedOf(rows));
      // Before the changes are sent, so that a stream sends both together. If it fails, the same
      // changes are read again.
      const sendCounts = await counts.read(
        subscribers,
        rows.some(({ kind }) => kind === 'deployments'),
      );
      position = rows.at(-1)?.position ?? position;
      if (changes === undefined) {
        resetAll();
        return false;
      }
      send(changes);
      sendCounts();
      sendHeartbeat();
      return rows.length < BATCH;
    },
  };
}

const includes = ({ kinds, id }: ChangeFilter, kind: string, objectId: string) =>
  kinds.includes(kind) && (id === undefined || id === objectId);
