import { inRounds, type Log, type Rounds } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from './database/client.ts';

/**
 * What is of no use any more, by table. `over` is a condition of SQL, by the database's clock; `key` the primary key.
 *
 * A session takes its refresh tokens along, used or not, and no token goes before its session: who shows a used one must be
 * found, since that is how a theft ends the session. With a used token gone, its rightful owner, back after a pause, would
 * merely be refused, and the thief's tokens would live on.
 */
const LEFTOVERS: readonly Leftover[] = [
  { table: 'sign_in_failures', key: 'subject', over: "last_at < now() - interval '15 minutes'" },
  { table: 'sign_in_transactions', key: 'state_hash', over: 'expires_at < now()' },
  { table: 'sign_in_codes', key: 'code_hash', over: 'expires_at < now()' },
  { table: 'repeatable_requests', key: 'key_hash', over: "created_at < now() - interval '1 day'" },
  { table: 'departed', key: 'id', over: "at < now() - interval '1 day'" },
  { table: 'sessions', key: 'id', over: "least(ended_at, expires_at) < now() - interval '1 day'" },
];

interface Leftover {
  readonly table: string;
  readonly key: string;
  readonly over: string;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Rows in one statement: it ends long before its timeout, also where each takes a hundred refresh tokens along. */
const BATCH = 500;

interface Keeping {
  readonly database: Database;
  readonly log: Log;
  /** Milliseconds between two rounds. */
  readonly every?: number;
  /** Days for which entries of the audit log are kept; without it for ever. */
  readonly auditDays?: number | undefined;
}

/**
 * Deletes what is over, within a minute after the start and then again and again; what failed is tried again in the next
 * round. Replicas that do it at once share the work: none waits for rows that another is deleting.
 */
export function keepHouse({ database, log, every = HOUR_MS, auditDays }: Keeping): Rounds {
  const tidy = async (table: string, work: () => Promise<number>) => {
    try {
      const rows = await work();
      if (rows > 0) log.info({ table, rows }, 'leftovers deleted');
    } catch (error) {
      log.warn({ err: error, table }, 'leftovers could not be deleted; tried again in the next round');
    }
  };
  const first = Math.random() * Math.min(MINUTE_MS, every); // replicas that start together don't work together
  return inRounds(first, async (ending) => {
    for (const leftover of LEFTOVERS) await tidy(leftover.table, () => deleteAll(database, leftover, ending));
    if (auditDays !== undefined) await tidy('audit_entries', () => forgetEntries(database, auditDays, ending));
    return every;
  });
}

/** Deletes batch after batch, until nothing is over or it is to end. @returns how many rows */
async function deleteAll({ client }: Database, leftover: Leftover, ending: AbortSignal): Promise<number> {
  const { table, key, over } = leftover;
  // ARRAY makes the choice of rows happen once; else a plan could choose, and lock, anew for each row. Nothing in the text
  // comes from anywhere but this file.
  const statement = `
    DELETE FROM ${table} WHERE ${key} = ANY (ARRAY(
      SELECT ${key} FROM ${table} WHERE ${over} LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`;
  let rows = 0;
  for (let batch = BATCH; batch === BATCH && !ending.aborted; rows += batch) {
    batch = await client.$executeRawUnsafe(statement);
  }
  return rows;
}

/** Old entries of the audit log go by the one way that leaves an entry of its own. @returns how many */
async function forgetEntries({ client }: Database, days: number, ending: AbortSignal): Promise<number> {
  let rows = 0;
  for (let batch = 1; batch > 0 && !ending.aborted; rows += batch) {
    const [forgotten] = await client.$queryRaw<{ count: number }[]>`
      SELECT audit_forget(now() - make_interval(days => ${days}::int), ${uuidv7()}::uuid) AS count`;
    batch = forgotten?.count ?? 0;
  }
  return rows;
}
