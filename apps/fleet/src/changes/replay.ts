import type { Database } from '../database/client.ts';
import { BATCH, type Present } from './delivery.ts';
import { type ChangeFilter, type Position, readChanges } from './history.ts';

interface ReplayRange {
  readonly after: Position;
  readonly until: Position;
  readonly filter: ChangeFilter;
}

interface Replayed {
  /**
   * The events as they are sent, together: a slow client then holds no more than the unsent bytes
   * of its connection.
   */
  readonly text: string;
  /** The position after which the next changes follow; undefined if there are no more. */
  readonly next: Position | undefined;
}

/** Reads the changes that a stream has missed. */
export interface Replay {
  /**
   * The next changes after one position and up to another; undefined if they cannot be read, so
   * that the client must read the lists.
   */
  read(range: ReplayRange): Promise<Replayed | undefined>;
  /** Resolves when nothing is being read. */
  idle(): Promise<unknown>;
}

export function createReplay(database: Database, present: Present): Replay {
  let reading: Promise<unknown> = Promise.resolve();
  const readBatch = async (range: ReplayRange): Promise<Replayed | undefined> => {
    const rows = await readChanges(database, { ...range, limit: BATCH });
    const changes = rows && (await present(rows));
    return changes && { text: changes.map(({ text }) => text).join(''), next: rows?.[BATCH - 1]?.position };
  };
  return {
    read: (range) => {
      // One at a time: after a restart, the streams of all clients continue at the same time.
      const batch = reading.then(() => readBatch(range));
      reading = batch.catch(() => undefined);
      return batch;
    },
    idle: () => reading,
  };
}
