import { randomUUID } from 'node:crypto';
import type { StatementQuery } from '@svc/database';
import { type HealthCheck, type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import { countDelivered, countFailure, registerDelivery } from './metrics.ts';
import { createPositions } from './positions.ts';

/** A row to deliver. */
export interface Row<Data extends object = object> {
  /** The place of the row in the order of its source. */
  readonly position: string;
  /** When it was recorded. */
  readonly at: Date;
  /** What the target receives, as JSON. */
  readonly data: Data;
}

/** Rows in a total order. */
export interface Source<Data extends object = object> {
  /** The position with which a new delivery begins: it delivers the rows that are recorded later. */
  start(): Promise<string>;
  /**
   * The first rows after a position, at most `limit`. No row may appear later before one of them,
   * because it would never be delivered.
   */
  read(after: string, limit: number, signal: AbortSignal): Promise<readonly Row<Data>[]>;
  /** The seconds since the oldest row after a position was recorded; undefined if there is none. */
  ageAfter(position: string): Promise<number | undefined>;
}

/** Another system that receives rows. */
export interface Target {
  /** A row as `send` expects it. */
  format(row: Row): string;
  /**
   * Sends rows, and resolves when the target has confirmed all of them. It rejects with an error
   * whose message is for operators and contains no secret, also when the signal aborts. It must
   * stop sending then, because another replica can send the same rows.
   */
  send(rows: readonly string[], signal: AbortSignal): Promise<void>;
}

/** A table of the same database that receives rows. */
export interface Store<Data extends object = object> {
  /**
   * Stores rows and advances the position in one transaction, so that each row is stored exactly once.
   * @param advance advances the position with statements of the transaction
   * @returns the result of `advance`: if it is false, another replica delivers, and nothing may be stored
   */
  store(rows: readonly Row<Data>[], advance: (query: StatementQuery) => Promise<boolean>): Promise<boolean>;
}

/** Times in milliseconds. */
export interface DeliveryTimings {
  /** The wait between two looks for rows while there are none. */
  readonly poll: number;
  /**
   * How long a replica delivers without renewing its lease. It must be longer than reading and sending
   * a batch and storing its position take.
   */
  readonly lease: number;
  /** The time limit for sending a batch. */
  readonly send: number;
  /** The wait after a first failure. It doubles with each further one, up to `longestRetry`. */
  readonly firstRetry: number;
  readonly longestRetry: number;
}

const TIMINGS: DeliveryTimings = {
  poll: 1000,
  lease: 30_000,
  send: 15_000,
  firstRetry: 1000,
  longestRetry: 60_000,
};

/** The bounds of a batch, and so of what a delivery keeps in memory. */
interface BatchLimits {
  readonly rows: number;
  /** Of the formatted rows. A single row can be longer. */
  readonly bytes: number;
}

const LIMITS: BatchLimits = { rows: 500, bytes: 512 * 1024 };

export interface DeliveryOptions<Data extends object = object> {
  /** The name of the row in the table `deliveries`, and of the metrics. */
  readonly name: string;
  readonly source: Source<Data>;
  readonly target: Target | Store<Data>;
  /** Runs statements on the database of the service. */
  readonly query: StatementQuery;
  readonly log: Log;
  /** The timings of production apply unless given. */
  readonly timings?: Partial<DeliveryTimings> | undefined;
  /** The limits of production apply unless given. */
  readonly limits?: BatchLimits | undefined;
}

export interface Delivery {
  readonly name: string;
  start(): void;
  /** Ends a batch in progress, which is sent again later, and releases the lease. */
  stop(): Promise<void>;
  /** The age of the oldest row that is not delivered, in seconds; 0 if there is none. */
  lag(): Promise<number>;
  /** Whether the last attempt of any replica failed. */
  health(): Promise<HealthCheck>;
}

/**
 * Delivers the rows of a source to a target in the background: each at least once, and in their order,
 * except that rows that were already delivered can be delivered again after a failure. A table of the same
 * database receives each row once. One replica
 * delivers at a time. Only one batch is in memory; all other rows stay in the database until the target
 * confirms them.
 */
export function createDelivery<Data extends object>({
  name,
  source,
  target,
  query,
  log,
  ...options
}: DeliveryOptions<Data>): Delivery {
  const timings = { ...TIMINGS, ...options.timings };
  const limits = options.limits ?? LIMITS;
  const leaseSeconds = timings.lease / 1000;
  const positions = createPositions({ query, name, owner: randomUUID() });
  registerDelivery(name);

  /** The position, which is that of the source before the first attempt. */
  const current = async (): Promise<string> => {
    const stored = await positions.read();
    if (stored) return stored.position;
    const position = await source.start();
    await positions.create(position);
    return (await positions.read())?.position ?? position;
  };

  /** Delivers the next batch. @returns whether there can be more */
  const deliverNext = async (stopped: AbortSignal): Promise<boolean> => {
    if ((await source.ageAfter(await current())) === undefined) return false;
    const position = await positions.take(leaseSeconds);
    if (position === undefined) return false;
    const rows = await source.read(position, limits.rows, stopped);
    return 'store' in target ? storeAll(target, rows) : send(target, rows, stopped);
  };
  const storeAll = async (store: Store<Data>, rows: readonly Row<Data>[]): Promise<boolean> => {
    const last = rows.at(-1);
    if (!last) return false;
    return store.store(rows, (inTransaction) => positions.advance(last.position, leaseSeconds, inTransaction));
  };
  const send = async (receiver: Target, rows: readonly Row[], stopped: AbortSignal): Promise<boolean> => {
    const batch = batchOf(rows, receiver.format, limits.bytes);
    if (!batch) return false;
    const ending = AbortSignal.any([stopped, AbortSignal.timeout(timings.send)]);
    await receiver.send(batch.texts, ending).catch((error: unknown) => {
      throw new NotSent(messageOf(error));
    });
    if (!(await positions.advance(batch.last.position, leaseSeconds))) return false;
    countDelivered(name, batch.texts.length);
    return true;
  };

  let failures = 0;
  const failed = async (error: unknown) => {
    failures += 1;
    countFailure(name);
    const reason = messageOf(error);
    // Other errors are of the database. While it is not available, one line says so.
    const cause = error instanceof NotSent ? { reason } : { err: error };
    log.warn({ delivery: name, ...cause, failures }, 'delivery failed; will retry');
    await positions.fail(reason).catch(() => undefined); // the database can be the cause
  };
  const succeeded = () => {
    if (failures > 0) log.info({ delivery: name, failures }, 'delivery continues');
    failures = 0;
  };
  const round = async (stopped: AbortSignal): Promise<number> => {
    try {
      while (!stopped.aborted && (await deliverNext(stopped))) succeeded();
      return timings.poll;
    } catch (error) {
      if (!stopped.aborted) await failed(error);
      return retryDelay(failures, timings);
    }
  };
  let task: PeriodicTask | undefined;
  return {
    name,
    start: () => {
      task ??= runPeriodically(0, round);
    },
    stop: async () => {
      await task?.stop();
      await positions.release().catch(() => undefined); // the lease expires
    },
    lag: async () => {
      const stored = await positions.read();
      return stored === undefined ? 0 : ((await source.ageAfter(stored.position)) ?? 0);
    },
    health: async () => {
      const failure = (await positions.read())?.failure ?? null;
      return failure === null
        ? { name: `${name} delivery`, state: 'ok' }
        : { name: `${name} delivery`, state: 'degraded', detail: failure };
    },
  };
}

/** The target has not confirmed the rows. */
class NotSent extends Error {
  override name = 'NotSent';
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The first rows that have at most `maxBytes` bytes together, and at least one of them. */
function batchOf(rows: readonly Row[], format: Target['format'], maxBytes: number) {
  const texts: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const text = format(row);
    bytes += Buffer.byteLength(text);
    if (texts.length > 0 && bytes > maxBytes) break;
    texts.push(text);
  }
  const last = rows[texts.length - 1];
  return last && { texts, last };
}

/** The wait after a number of failures, plus or minus 20 percent, so that replicas do not retry together. */
const retryDelay = (failures: number, { firstRetry, longestRetry }: DeliveryTimings): number =>
  Math.min(longestRetry, firstRetry * 2 ** Math.max(0, failures - 1)) * (0.8 + 0.4 * Math.random());
