import type { Log } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** The id of the mirror of the catalog as the object of an event. */
export const CATALOG_ID = '00000000-0000-0000-0000-000000000000';

/** An event that a statement has recorded. */
export interface RecordedEvent {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly severity: 'warning' | 'normal';
  readonly reason: string;
  readonly message: string;
}

type Kind = 'hosts' | 'clusters' | 'deployments' | 'catalog' | 'plans' | 'sources';

interface Problem {
  readonly kind: Kind;
  readonly reason: string;
  readonly message: string;
  /** A condition on the row of `updated`. */
  readonly when?: Prisma.Sql;
}

/**
 * Common table expressions that record that the object in `updated`, which has the columns `id` and
 * `name`, has a problem. Nothing is recorded if it already has the problem. `RECORDED` returns the
 * event.
 */
export const problemRecord = ({ kind, reason, message, when = Prisma.sql`true` }: Problem): Prisma.Sql => Prisma.sql`
  recorded AS (
    INSERT INTO events (id, kind, object_id, name, severity, reason, message)
    SELECT ${uuidv7()}::uuid, ${kind}, id, name, 'warning', ${reason}, ${message} FROM updated WHERE ${when}
    ON CONFLICT (object_id, reason) WHERE severity = 'warning' AND resolved_at IS NULL DO NOTHING
    RETURNING id, kind, name, severity, reason, message)`;

/**
 * Common table expressions that record that the object in `updated` has recovered from all its
 * problems: one event, whatever their number, and none if it had none. `except` is the reason of a
 * problem that lasts.
 */
export const recoveryRecord = (kind: Kind, except = ''): Prisma.Sql => Prisma.sql`
  resolved AS (
    UPDATE events SET resolved_at = clock_timestamp() FROM updated
    WHERE object_id = updated.id AND severity = 'warning' AND resolved_at IS NULL AND reason <> ${except}
    RETURNING events.at, events.reason),
  recorded AS (
    INSERT INTO events (id, kind, object_id, name, severity, reason, message)
    SELECT ${uuidv7()}::uuid, ${kind}, updated.id, updated.name, 'normal', 'Recovered',
      format('It recovered after %s s: %s.', resolved.seconds, resolved.reasons)
    FROM updated, (SELECT round(extract(epoch FROM clock_timestamp() - min(at))) AS seconds, string_agg(reason, ', ' ORDER BY at) AS reasons
                   FROM resolved HAVING count(*) > 0) resolved
    RETURNING id, kind, name, severity, reason, message)`;

/** Something that happened to an object and is no problem. */
interface Notice {
  readonly kind: Kind;
  readonly objectId: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
}

/** Records that something happened, in the transaction in which it happens. */
export const recordNotice = (
  transaction: Pick<Prisma.TransactionClient, '$executeRaw'>,
  { kind, objectId, name, reason, message }: Notice,
): Promise<number> => transaction.$executeRaw`
  INSERT INTO events (id, kind, object_id, name, severity, reason, message)
  VALUES (${uuidv7()}::uuid, ${kind}, ${objectId}::uuid, ${name}, 'normal', ${reason}, ${message})`;

/** Ends the problems of an object without an event, because a caller has ended their cause. */
export const endProblems = (transaction: Pick<Prisma.TransactionClient, '$executeRaw'>, id: string): Promise<number> =>
  transaction.$executeRaw`
    UPDATE events SET resolved_at = clock_timestamp()
    WHERE object_id = ${id}::uuid AND severity = 'warning' AND resolved_at IS NULL`;

/** The common table expression if nothing is to be recorded. */
export const NO_RECORD = Prisma.sql`recorded AS (SELECT WHERE false)`;

/** An expression for the recorded events, as JSON. */
export const RECORDED = Prisma.sql`(SELECT coalesce(json_agg(recorded), '[]') FROM recorded)`;

/**
 * Writes a line for each event. The process whose statement recorded an event calls it, after the
 * commit.
 */
export function logEvents(log: Log, events: readonly RecordedEvent[]): void {
  for (const { id, kind, name, severity, reason, message } of events) {
    const fields = { event: id, kind, name, reason, detail: message };
    if (severity === 'warning') log.warn(fields, 'a state became worse');
    else log.info(fields, 'a state recovered');
  }
}

/** The bounds of the events. Warnings that last are kept. */
const MAX_ROWS = 100_000;
const MAX_AGE_DAYS = 90;
/** The maximum number of rows that a statement reads. */
const BATCH = 5000;

/** Deletes the events beyond the bounds. @returns the number of deleted rows */
export async function pruneEvents(
  { client }: Database,
  ending: AbortSignal,
  { maxRows = MAX_ROWS, batch = BATCH } = {},
): Promise<number> {
  let rows = 0;
  let after = 0n;
  // From the oldest row on. A batch with a row within the bounds is the last one.
  for (let expired = batch; expired === batch && !ending.aborted; ) {
    const [read] = await client.$queryRaw<[{ expired: number; deleted: number; last: bigint | null }]>`
      WITH oldest AS (
        SELECT seq, severity = 'normal' OR resolved_at IS NOT NULL AS has_ended,
          seq <= newest - ${maxRows} OR at < now() - make_interval(days => ${MAX_AGE_DAYS}) AS is_expired
        FROM events, (SELECT max(seq) AS newest FROM events) history
        WHERE seq > ${after} ORDER BY seq LIMIT ${batch}),
      deleted AS (
        DELETE FROM events WHERE seq = ANY (ARRAY(SELECT seq FROM oldest WHERE has_ended AND is_expired)) RETURNING 1)
      SELECT count(*) FILTER (WHERE is_expired)::int AS expired, max(seq) AS last,
        (SELECT count(*)::int FROM deleted) AS deleted
      FROM oldest`;
    rows += read.deleted;
    expired = read.expired;
    after = read.last ?? after;
  }
  return rows;
}
