import type { Database } from '../database/client.ts';
import type { Entry } from './recording.ts';

/** Writes entries that belong to no change. */
export interface EntryWriter {
  /** Resolves when the entry is committed; does nothing for one that is there already. */
  write(entry: Entry): Promise<void>;
}

const MOST_AT_ONCE = 200;

/** Entries that wait while others are written go together in one statement: one commit for many answers. */
export function createEntryWriter({ client }: Database): EntryWriter {
  interface Waiting {
    readonly entry: Entry;
    readonly done: () => void;
    readonly failed: (error: unknown) => void;
  }
  const waiting: Waiting[] = [];
  let writing = false;
  const writeAll = async () => {
    writing = true;
    for (let batch = waiting.splice(0, MOST_AT_ONCE); batch.length > 0; batch = waiting.splice(0, MOST_AT_ONCE)) {
      try {
        await client.auditEntry.createMany({ data: batch.map(({ entry }) => entry), skipDuplicates: true });
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    writing = false;
  };
  return {
    write: (entry) =>
      new Promise((done, failed) => {
        waiting.push({ entry, done, failed });
        if (!writing) void writeAll();
      }),
  };
}
