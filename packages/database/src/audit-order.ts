import { setTimeout as pause } from 'node:timers/promises';
import { invalid, unavailable } from '@svc/http';

// The order of the audit log. Each entry has a number from a sequence, `audit_entries.seq`. Entries of
// versions without numbers have 0, and come first.

/** Runs one statement with parameters, `$1` and so on, and resolves to its rows. */
export type StatementQuery = (sql: string, ...values: readonly unknown[]) => Promise<unknown>;

const WAIT_MS = 5000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

interface Wait {
  /** The number of an entry that is known. Nothing is waited for if there is no higher one. Default: 0. */
  readonly after?: bigint | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The longest wait for transactions, in milliseconds. Default: 5,000. */
  readonly waitMs?: number | undefined;
}

/**
 * The last number, when no entry can appear any more at or below it. A reader that continues after it
 * therefore misses no entry of a transaction that commits late.
 *
 * A number is taken during an INSERT, which holds a lock on the table until its transaction has ended
 * and its entry is visible. Therefore only transactions that hold this lock after the last number was
 * read can still make an entry with a lower number visible. The function waits for the end of these, and
 * delays none.
 * @throws 503 if one of them does not end in time
 */
export async function settledAuditNumber(
  query: StatementQuery,
  { after = 0n, signal, waitMs = WAIT_MS }: Wait = {},
): Promise<bigint> {
  const last = await lastNumber(query);
  if (last <= after) return after;
  const until = performance.now() + waitMs;
  let writers = await writersOf(query);
  for (let pauseMs = FIRST_PAUSE_MS; writers.size > 0; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (performance.now() > until)
      throw unavailable('A transaction that writes to the audit log has not ended for several seconds.');
    await pause(pauseMs, undefined, { signal });
    const present = await writersOf(query);
    writers = new Set([...writers].filter((writer) => present.has(writer)));
  }
  return last;
}

async function lastNumber(query: StatementQuery): Promise<bigint> {
  // The column of the statement is the member of the type.
  const [row] = (await query(
    'SELECT CASE WHEN is_called THEN last_value ELSE 0 END::text AS last FROM audit_entries_seq_seq',
  )) as { last: string }[];
  return BigInt(row?.last ?? 0);
}

/** The transactions that hold the lock of an INSERT on the table. Each has an id of its own. */
async function writersOf(query: StatementQuery): Promise<Set<string>> {
  // The column of the statement is the member of the type.
  const rows = (await query(`
    SELECT virtualtransaction AS writer FROM pg_locks
    WHERE locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND relation = 'audit_entries'::regclass AND mode = 'RowExclusiveLock' AND granted`)) as { writer: string }[];
  return new Set(rows.map(({ writer }) => writer));
}

/** An entry, by its number and its id. */
interface Numbered {
  readonly seq: bigint;
  readonly id: string;
}

/**
 * The end of an export that continues after an entry: `settledAuditNumber`.
 * @throws 400 if the database was restored to a time before the entry; 503
 */
export async function endOfAuditExport(query: StatementQuery, after: Numbered): Promise<bigint> {
  const until = await settledAuditNumber(query, { after: after.seq });
  if (await isKnown(query, after)) return until;
  throw invalid([{ path: 'cursor', message: 'is not known; send start, which exports all entries again' }]);
}

/**
 * After a restore, another entry has the number of the entry, or it is missing although older ones exist.
 * If the retention has deleted it, the older ones are missing, too.
 */
async function isKnown(query: StatementQuery, { seq, id }: Numbered): Promise<boolean> {
  if (seq === 0n) return true;
  // The column of the statement is the member of the type.
  const [row] = (await query(
    `SELECT EXISTS (SELECT FROM audit_entries WHERE seq > 0 AND seq = $1::bigint AND id = $2::uuid)
       OR NOT EXISTS (SELECT FROM audit_entries WHERE seq > 0 AND seq <= $1::bigint) AS known`,
    ...[seq, id],
  )) as { known: boolean }[];
  return row?.known === true && seq <= (await lastNumber(query));
}

/** The age of the first entry after a number, in seconds; undefined if there is none. */
export async function ageOfAuditEntries(query: StatementQuery, after: bigint): Promise<number | undefined> {
  // The column of the statement is the member of the type.
  const [row] = (await query(
    `SELECT greatest(0, extract(epoch FROM clock_timestamp() - at))::float8 AS seconds FROM audit_entries
     WHERE seq > 0 AND seq > $1::bigint ORDER BY seq LIMIT 1`,
    after,
  )) as { seconds: number }[];
  return row?.seconds;
}
