import type { Database } from '../database/client.ts';
import { problemRecord, RECORDED, type RecordedEvent, recoveryRecord } from '../events/record.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Claim } from './queue.ts';
import { type DesiredOnTarget, hasConnectionOf, TARGET_TABLES, type TargetRow } from './targets.ts';
import type { ReconcilerTimings } from './timings.ts';

interface Due {
  /** Maximum number of targets to claim. */
  readonly limit: number;
  /** Milliseconds until the check after this one, plus or minus a tenth. */
  readonly interval: number;
}

/**
 * Claims hosts and clusters whose check is due. No other replica checks them before their next
 * check is due.
 */
export async function claimTargets(database: Database, { limit, interval }: Due): Promise<TargetRow[]> {
  const hosts = await claimOf<Extract<TargetRow, { kind: 'host' }>['row']>(database, 'host', { limit, interval });
  const rest = { limit: limit - hosts.length, interval };
  const clusters = await claimOf<Extract<TargetRow, { kind: 'cluster' }>['row']>(database, 'cluster', rest);
  return [
    ...hosts.map(({ observed, ...row }) => ({ kind: 'host' as const, row, observed })),
    ...clusters.map(({ observed, ...row }) => ({ kind: 'cluster' as const, row, observed })),
  ];
}

const claimOf = <Row>({ client }: Database, kind: TargetRow['kind'], { limit, interval }: Due) =>
  client.$queryRaw<(Row & { readonly observed: string })[]>`
    UPDATE ${TARGET_TABLES[kind].table} target
    SET check_at = now() + make_interval(secs => ${interval / 1000} * (0.9 + 0.2 * random()))
    WHERE id = ANY (ARRAY(SELECT id FROM ${TARGET_TABLES[kind].table} WHERE check_at <= now()
                          ORDER BY check_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING *, (SELECT concat_ws(' ', count(*), max(d.observed_at), max(d.id::text))
                  FROM deployments d WHERE d.${TARGET_TABLES[kind].column} = target.id) AS observed`;

/**
 * Stores the result of a successful check, given as column assignments, unless the address or
 * the credentials of the target were changed since the check began. If the target was not online before, its deployments
 * become due at once. `lastingProblem` is the reason of a problem that it still has. @returns
 * undefined if the result was not stored, otherwise the recorded events
 */
export async function recordOnline(
  client: Pick<Prisma.TransactionClient, '$executeRaw' | '$queryRaw'>,
  target: TargetRow,
  facts: Prisma.Sql,
  lastingProblem = '',
): Promise<readonly RecordedEvent[] | undefined> {
  const { table, column, list } = TARGET_TABLES[target.kind];
  const { id, reachability } = target.row;
  const [stored] = await client.$queryRaw<[Stored]>`
    WITH updated AS (
      UPDATE ${table} SET reachability = 'online', last_seen_at = now(), unreachable_reason = '', check_failures = 0, ${facts}
      WHERE id = ${id}::uuid AND ${hasConnectionOf(target)} RETURNING id, name),
    ${recoveryRecord(list, lastingProblem)}
    SELECT (SELECT count(*)::int FROM updated) AS updated, ${RECORDED} AS recorded`;
  if (reachability !== 'online') {
    await client.$executeRaw`UPDATE deployments SET due_at = now() WHERE ${column} = ${id}::uuid AND due_at > now()`;
  }
  return stored.updated > 0 ? stored.recorded : undefined;
}

interface Stored {
  /** The number of updated rows. */
  readonly updated: number;
  readonly recorded: readonly RecordedEvent[];
}

interface FailedCheck {
  readonly message: string;
  /**
   * The time at which the check began, in milliseconds since 1970. A failure is not stored if
   * another check has succeeded since then, for example while this process was suspended.
   */
  readonly startedAt: number;
  readonly timings: Pick<ReconcilerTimings, 'checkRetry' | 'checkRetryLimit'>;
}

/**
 * Stores the result of a failed check. While a host or cluster is unreachable, its deployments keep
 * their phase.
 * @returns the recorded events
 */
export async function recordUnreachable(
  { client }: Database,
  target: TargetRow,
  { message, startedAt, timings }: FailedCheck,
): Promise<readonly RecordedEvent[]> {
  const { table, list } = TARGET_TABLES[target.kind];
  const [stored] = await client.$queryRaw<[Pick<Stored, 'recorded'>]>`
    WITH updated AS (
      UPDATE ${table} SET reachability = 'unreachable', unreachable_reason = ${message}, check_failures = check_failures + 1,
        check_at = now() + make_interval(secs => least(${timings.checkRetryLimit / 1000}::float8,
          ${timings.checkRetry / 1000}::float8 * power(2, least(check_failures, 10))) * (0.8 + 0.4 * random()))
      WHERE id = ${target.row.id}::uuid AND ${hasConnectionOf(target)}
        AND coalesce(last_seen_at < now() - make_interval(secs => ${(Date.now() - startedAt) / 1000}), true)
      RETURNING id, name),
    ${problemRecord({ kind: list, reason: 'Unreachable', message })}
    SELECT ${RECORDED} AS recorded`;
  return stored.recorded;
}

/**
 * Makes the check of a target due at once, because a worker could not reach it. Has no effect if
 * the worker has lost its lease.
 */
export const requestCheck = ({ client }: Database, target: DesiredOnTarget, { id, owner }: Claim) =>
  client.$executeRaw`
    UPDATE ${TARGET_TABLES[target.kind].table} SET check_at = now()
    WHERE id = ${target.row.id}::uuid AND reachability = 'online' AND check_at > now()
      AND EXISTS (SELECT FROM deployments
                  WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid AND lease_until > now())`;
