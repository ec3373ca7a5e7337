import type { SnapshotReader } from '@svc/database';
import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import { applications, type Kind, templates } from './kinds.ts';
import type { CachedCatalog } from './memory/cached-catalog.ts';

/**
 * Counts downloads of objects and uses of keys, and stores them together. A crash loses the
 * counts since the last flush.
 */
export interface Usage {
  countDownload(id: string, kind?: Kind): void;
  /** The number of downloads of an object that this process has not stored yet. */
  pendingDownloads(id: string, kind?: Kind): number;
  /** Records that a key was used at a time. */
  recordKeyUse(keyId: string, at: Date): void;
  /** Stores everything that was recorded before the call. */
  flush(): Promise<void>;
  /** Reads the numbers of downloads that other replicas stored since the last call. */
  readCounts(): Promise<void>;
}

/**
 * With the durations of the statements, the counts of each replica are less than a second late on
 * all others.
 */
const SYNC_MS = 400;

/** A count that was stored in a transaction can become visible later than its time. */
const OVERLAP_SECONDS = 5;

interface StoredCount {
  readonly id: string;
  readonly count: number;
}

/** What shows the stored counts. */
type Shown = Pick<CachedCatalog, 'setDownloads'>;

export function createUsage(reader: SnapshotReader, shown: Shown): Usage {
  const downloads = new Map([templates, applications].map((kind) => [kind, createDownloadCounts(reader, kind, shown)]));
  const keyUses = createKeyUses(reader);
  /**
   * Each flush starts after the previous one, so that a flush that a caller waits for contains
   * everything before the call.
   */
  let flushed: Promise<void> = Promise.resolve();
  let readAt = performance.now();
  return {
    countDownload: (id, kind = templates) => downloads.get(kind)?.add(id),
    pendingDownloads: (id, kind = templates) => downloads.get(kind)?.pending(id) ?? 0,
    recordKeyUse: keyUses.record,
    flush: () => {
      flushed = flushed
        .catch(() => undefined) // the caller of that flush received its error
        .then(async () => {
          const results = await Promise.allSettled([
            ...[...downloads.values()].map((counts) => counts.flush()),
            keyUses.flush(),
          ]);
          for (const result of results) if (result.status === 'rejected') throw result.reason;
        });
      return flushed;
    },
    readCounts: async () => {
      const startedAt = performance.now();
      const seconds = (startedAt - readAt) / 1000 + OVERLAP_SECONDS;
      shown.setDownloads(await reader.read<StoredCount>(recentCounts(seconds)));
      readAt = startedAt;
    },
  };
}

/** The downloads that this process has counted and not stored yet. */
function createDownloadCounts(reader: SnapshotReader, kind: Kind, shown: Shown) {
  const counted = new Map<string, number>();
  /**
   * Counts that a transaction stores, or has perhaps stored: those of the flush in progress, or of
   * one that failed.
   */
  const storing = new Map<string, number>();
  /** The id of this transaction. */
  let transactionId: string | undefined;

  const add = (id: string, count = 1) => {
    counted.set(id, (counted.get(id) ?? 0) + count);
  };
  const keep = () => {
    for (const [id, count] of storing) add(id, count);
    storing.clear();
  };
  /**
   * Finds out whether the counts of a failed flush were stored. If the connection is lost, or
   * PostgreSQL does not answer in time, it may execute the COMMIT nevertheless, also later.
   */
  const settle = async () => {
    if (transactionId !== undefined) {
      const [row] = await reader.read<{ status: string | null }>(statusOf(transactionId));
      if (row?.status === 'in progress') throw new Error('PostgreSQL is still storing earlier counts');
      if (row?.status === 'committed') storing.clear();
      transactionId = undefined;
    }
    keep();
  };
  return {
    add: (id: string) => add(id),
    pending: (id: string) => (counted.get(id) ?? 0) + (storing.get(id) ?? 0),
    flush: async () => {
      await settle();
      if (counted.size === 0) return;
      for (const [id, count] of counted) storing.set(id, count);
      counted.clear();
      const stored = await reader.inTransaction(async (transaction) => {
        const [row] = await transaction.read<{ id: string }>(TRANSACTION_ID);
        transactionId = row?.id;
        return transaction.read<StoredCount>(addDownloads(kind, storing));
      });
      transactionId = undefined;
      storing.clear();
      shown.setDownloads(stored);
    },
  };
}

/** The last uses of keys that are not stored yet. */
function createKeyUses(reader: SnapshotReader) {
  const uses = new Map<string, Date>();
  return {
    record: (keyId: string, at: Date) => {
      uses.set(keyId, at);
    },
    flush: async () => {
      if (uses.size === 0) return;
      const flushing = [...uses];
      uses.clear();
      try {
        await reader.read(setLastUsed(flushing));
      } catch (error) {
        for (const [id, at] of flushing) if (!uses.has(id)) uses.set(id, at);
        throw error;
      }
    },
  };
}

/** Stores and reads counts periodically, and stores them a last time when it is stopped. */
export function startUsageSync(usage: Usage, log: Log): PeriodicTask {
  let isFailing = false;
  const sync = async () => {
    try {
      await usage.flush();
      await usage.readCounts();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'the synchronization of counts failed; will retry until it succeeds');
      isFailing = true;
    }
    return SYNC_MS;
  };
  const task = runPeriodically(SYNC_MS, sync);
  return {
    stop: async () => {
      await task.stop();
      await sync();
    },
  };
}

const TRANSACTION_ID = Prisma.sql`SELECT pg_current_xact_id()::text AS id`;

/**
 * The status of a transaction: "in progress", "committed" or "aborted"; null if the database was
 * restored to a time before it.
 */
const statusOf = (transactionId: string): Prisma.Sql => Prisma.sql`
  SELECT CASE WHEN ${transactionId}::xid8 < pg_current_xact_id() THEN pg_xact_status(${transactionId}::xid8) END AS status`;

// Rows are locked in the order of their ids, so that the flushes of two replicas cannot deadlock.

/** Adds counts. Deleted objects are ignored. */
const addDownloads = ({ table, downloads, id }: Kind, counts: ReadonlyMap<string, number>): Prisma.Sql => Prisma.sql`
  INSERT INTO ${downloads} AS d (${id}, count)
  SELECT t.id, n.count
  FROM unnest(${[...counts.keys()]}::uuid[], ${[...counts.values()]}::int[]) AS n (id, count) JOIN ${table} t ON t.id = n.id
  ORDER BY t.id
  ON CONFLICT (${id}) DO UPDATE SET count = d.count + excluded.count
  RETURNING ${id} AS id, count::int`;

const recentCounts = (seconds: number): Prisma.Sql => Prisma.sql`
  SELECT template_id AS id, count::int FROM template_downloads
  WHERE counted_at > clock_timestamp() - make_interval(secs => ${seconds})
  UNION ALL
  SELECT application_id, count::int FROM application_downloads
  WHERE counted_at > clock_timestamp() - make_interval(secs => ${seconds})`;

const setLastUsed = (uses: readonly (readonly [string, Date])[]): Prisma.Sql => Prisma.sql`
  UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, used.at)
  FROM (
    SELECT k.id, u.at
    FROM unnest(${uses.map(([id]) => id)}::uuid[], ${uses.map(([, at]) => at.toISOString())}::timestamptz[]) AS u (id, at)
      JOIN api_keys k ON k.id = u.id
    ORDER BY k.id FOR NO KEY UPDATE OF k
  ) used
  WHERE k.id = used.id`;
