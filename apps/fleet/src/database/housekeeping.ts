import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from './client.ts';

/**
 * The rows that are deleted, by table. `condition` is an SQL condition that uses the clock of the
 * database; `key` is the primary key.
 *
 * Deleting a session deletes its refresh tokens, used or not. Tokens are never deleted before their
 * session, because the second use of a token reveals a theft and ends the session. If a used token
 * were deleted earlier, its owner would only be refused, and the tokens of the thief would stay
 * valid.
 */
const EXPIRED_ROWS: readonly ExpiredRows[] = [
  { table: 'sign_in_failures', key: 'subject', condition: "last_at < now() - interval '15 minutes'" },
  { table: 'sign_in_networks', key: 'subject', condition: "last_at < now() - interval '30 days'" },
  { table: 'sign_in_transactions', key: 'state_hash', condition: 'expires_at < now()' },
  { table: 'sign_in_codes', key: 'code_hash', condition: 'expires_at < now()' },
  { table: 'invitations', key: 'user_id', condition: 'expires_at < now()' },
  { table: 'idempotency_keys', key: 'key_hash', condition: "created_at < now() - interval '1 day'" },
  { table: 'tombstones', key: 'id', condition: "at < now() - interval '1 day'" },
  { table: 'update_runs', key: 'id', condition: "finished_at < now() - interval '90 days'" },
  {
    table: 'plans',
    key: 'id',
    condition: "coalesce(applied_at + interval '90 days', expires_at + interval '1 day') < now()",
  },
  { table: 'sessions', key: 'id', condition: "least(ended_at, expires_at) < now() - interval '1 day'" },
];

interface ExpiredRows {
  readonly table: string;
  readonly key: string;
  readonly condition: string;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/**
 * The maximum number of rows per statement. A statement ends well before its timeout, even with a
 * hundred tokens per session.
 */
const BATCH = 500;

interface HousekeepingOptions {
  readonly database: Database;
  readonly log: Log;
  /** Milliseconds between two rounds. */
  readonly interval?: number;
  /** Days for which audit entries are kept; unlimited if undefined. */
  readonly auditDays?: number | undefined;
}

/**
 * Deletes expired rows, first within a minute after the start and then periodically. A failed
 * deletion is repeated in the next round. Replicas that run at the same time share the work: none
 * waits for rows that another one is deleting.
 */
export function startHousekeeping({ database, log, interval = HOUR_MS, auditDays }: HousekeepingOptions): PeriodicTask {
  const deleteExpired = async (table: string, work: () => Promise<number>) => {
    try {
      const rows = await work();
      if (rows > 0) log.info({ table, rows }, 'expired rows deleted');
    } catch (error) {
      log.warn({ err: error, table }, 'deleting expired rows failed; will retry');
    }
  };
  // Spreads replicas that start at the same time.
  const first = Math.random() * Math.min(MINUTE_MS, interval);
  return runPeriodically(first, async (ending) => {
    for (const expired of EXPIRED_ROWS) await deleteExpired(expired.table, () => deleteAll(database, expired, ending));
    if (auditDays !== undefined)
      await deleteExpired('audit_entries', () => deleteOldEntries(database, auditDays, ending));
    return interval;
  });
}

/**
 * Deletes expired rows in batches until none are left or `ending` is aborted. @returns the number
 * of deleted rows
 */
async function deleteAll({ client }: Database, expired: ExpiredRows, ending: AbortSignal): Promise<number> {
  const { table, key, condition } = expired;
  // ARRAY makes PostgreSQL evaluate the subquery once. Otherwise a plan could select and lock rows
  // again for each row. All parts of the statement are constants of this file.
  const statement = `
    DELETE FROM ${table} WHERE ${key} = ANY (ARRAY(
      SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`;
  let rows = 0;
  for (let batch = BATCH; batch === BATCH && !ending.aborted; rows += batch) {
    batch = await client.$executeRawUnsafe(statement);
  }
  return rows;
}

/**
 * Deletes old audit entries with `audit_forget`, which records the deletion as an entry.
 * @returns the number of deleted entries
 */
async function deleteOldEntries({ client }: Database, days: number, ending: AbortSignal): Promise<number> {
  let rows = 0;
  for (let batch = 1; batch > 0 && !ending.aborted; rows += batch) {
    const [deleted] = await client.$queryRaw<{ count: number }[]>`
      SELECT audit_forget(now() - make_interval(days => ${days}::int), ${uuidv7()}::uuid) AS count`;
    batch = deleted?.count ?? 0;
  }
  return rows;
}
