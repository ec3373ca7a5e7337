import type { Input } from '@svc/contract';
import { approvalLevels, type fleetEndpoints, planStates, sourceStates } from '@svc/contract/fleet';
import { notFound } from '@svc/http';
import { z } from 'zod';
import { by, isText, type List, readListed, readPage } from '../../database/lists.ts';
import { problemRecord, RECORDED, type RecordedEvent, recoveryRecord } from '../../events/record.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { isUuid } from '../../resources/kind.ts';
import { planState } from '../rows.ts';

type Transaction = Prisma.TransactionClient;
type Reader = Pick<Transaction, '$queryRaw'>;
type Query = Input<typeof fleetEndpoints.listSources>['query'];

/** The members of a source that a list shows and a check needs. */
const members = {
  id: z.string(),
  name: z.string(),
  url: z.string(),
  branch: z.string(),
  folder: z.string(),
  user_name: z.string(),
  interval_seconds: z.int(),
  mode: z.enum(['manual', 'automatic']),
  heal: z.boolean(),
  prune: z.enum(['never', 'ask', 'automatic']),
  max_deletions: z.int(),
  commit: z.string().nullable(),
  applied_commit: z.string().nullable(),
  plan_id: z.string().nullable(),
  version: z.int(),
};

const sourceRow = z.object({
  ...members,
  set: z.string(),
  has_token: z.boolean(),
  state: z.enum(sourceStates),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable(),
  commit_title: z.string().nullable(),
  commit_author: z.string().nullable(),
  committed_at: z.date().nullable(),
  plan_state: z.enum(planStates).nullable(),
  checking: z.boolean(),
  checked_at: z.date().nullable(),
  next_check_at: z.date().nullable(),
  failing_since: z.date().nullable(),
  failure: z.string().nullable(),
  created_by: z.string(),
  created_at: z.date(),
});

/** The state of a source, a row named `r`. */
export const sourceState = Prisma.sql`CASE WHEN r.disabled_at IS NOT NULL THEN 'disabled'
  WHEN r.failing_since IS NOT NULL THEN 'failing' WHEN r.checked_at IS NULL THEN 'pending' ELSE 'ok' END`;

const columns = Prisma.sql`${sourceState} AS state, r.id, r.name, r.set_name AS set, r.url, r.branch, r.folder, r.user_name, r.has_token, r.interval_seconds, r.mode,
  r.heal, r.prune, r.max_deletions, r.disabled_at IS NULL AS enabled, r.disabled_reason, r.commit, r.commit_title, r.commit_author,
  r.committed_at, r.applied_commit, r.plan_id, p.state AS plan_state, r.checked_at,
  r.disabled_at IS NULL AND (r.check_at <= now() OR coalesce(r.lease_until > now(), false)) AS checking,
  CASE WHEN r.disabled_at IS NULL THEN r.check_at END AS next_check_at, r.failing_since, r.failure, r.created_by, r.created_at, r.version`;

const sourceList: List<Query & { readonly sort: 'name' }> = {
  table: Prisma.sql`sources`,
  joins: Prisma.sql`LEFT JOIN (SELECT r.id, ${planState} AS state FROM plans r) p ON p.id = r.plan_id`,
  columns,
  rules: {
    filters: { name: isText(Prisma.sql`r.name`), set: isText(Prisma.sql`r.set_name`) },
    sorts: { name: by(Prisma.sql`r.name`) },
  },
};

function present(row: unknown) {
  const { commit, commit_title, commit_author, committed_at, ...rest } = sourceRow.parse(row);
  return {
    ...rest,
    commit:
      commit === null || committed_at === null
        ? null
        : { sha: commit, title: commit_title ?? '', author: commit_author ?? '', at: committed_at },
  };
}

/** A page of sources, in the order of their names. */
export async function readSources(reader: Reader, query: Query) {
  const { rows, pagination } = await readPage(reader, sourceList, { ...query, sort: 'name' });
  return { sources: rows.map(present), pagination };
}

/** @throws 404 */
export async function readSource(reader: Reader, id: string) {
  if (!isUuid(id)) throw notFound();
  const [row] = await readListed(reader, sourceList, [id]);
  if (row === undefined) throw notFound();
  return present(row);
}

/** Locks a source. @throws 404 */
export async function lockSource(transaction: Transaction, id: string) {
  if (!isUuid(id)) throw notFound();
  const rows = await transaction.$queryRaw<unknown[]>`SELECT FROM sources WHERE id = ${id}::uuid FOR UPDATE`;
  if (rows.length === 0) throw notFound();
  return transaction.source.findUniqueOrThrow({ where: { id } });
}

/** A source that is checked now. */
const claimed = z.object({
  ...members,
  set_name: z.string(),
  sealed: z.string(),
  approval: z.enum(approvalLevels),
  settled: z.boolean(),
  drift: z.string().nullable(),
  failures: z.int(),
  created_by_user: z.string().nullable(),
  created_by_token: z.string().nullable(),
});
export type ClaimedSource = z.output<typeof claimed>;

/** The longest time of a check. Another replica begins a new one after it. */
const LEASE = Prisma.sql`interval '3 minutes'`;

/** Claims sources whose check is due, the longest due first. A claim that ends without a result is due again after its lease. */
export async function claimSources(reader: Reader, owner: string, limit: number): Promise<ClaimedSource[]> {
  const rows = await reader.$queryRaw<unknown[]>`
    UPDATE sources SET lease_owner = ${owner}::uuid, lease_until = now() + ${LEASE}, check_at = now() + ${LEASE} WHERE id = ANY (ARRAY(
      SELECT id FROM sources WHERE disabled_at IS NULL AND check_at <= now() AND (lease_until IS NULL OR lease_until < now())
      ORDER BY check_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING *`;
  return rows.map((row) => claimed.parse(row));
}

/** What a check has found. */
export interface CheckResult {
  readonly commit: string | null;
  /** Of the commit, if it was read; undefined: as before. */
  readonly described?: { readonly title: string; readonly author: string; readonly at: Date } | undefined;
  readonly applied_commit: string | null;
  readonly plan_id: string | null;
  readonly settled: boolean;
  readonly drift: string | null;
}

interface Ended {
  readonly owner: string;
  readonly source: Pick<ClaimedSource, 'id' | 'version'>;
  /** What is known of the source from now on; undefined: nothing new. */
  readonly result: CheckResult | undefined;
  /** Why nothing was changed; undefined: the check succeeded. */
  readonly failure: string | undefined;
  readonly nextSeconds: number;
}

/** After so many failed checks, the source has a problem. A failure of the network often ends earlier. */
const FAILURES_OF_PROBLEM = 3;

/**
 * Stores the end of a check. It has no effect if another replica has claimed the source since then. If the settings have changed,
 * the result is discarded, and the source is due again. It is also due again if a check was requested during this one.
 * @returns the events that it has recorded
 */
export async function endCheck(client: Reader, ended: Ended): Promise<readonly RecordedEvent[]> {
  const { owner, source, result, failure, nextSeconds } = ended;
  const known = result
    ? Prisma.sql`commit = ${result.commit}, applied_commit = ${result.applied_commit}, plan_id = ${result.plan_id}::uuid,
        settled = ${result.settled}, drift = ${result.drift},`
    : Prisma.empty;
  const described = result?.described
    ? Prisma.sql`commit_title = ${result.described.title}, commit_author = ${result.described.author}, committed_at = ${result.described.at},`
    : Prisma.empty;
  const outcome =
    failure === undefined
      ? Prisma.sql`failures = 0, failing_since = NULL, failure = NULL`
      : Prisma.sql`failures = failures + 1, failing_since = coalesce(failing_since, now()), failure = ${failure}`;
  const record =
    failure === undefined
      ? recoveryRecord('sources')
      : problemRecord({
          kind: 'sources',
          reason: 'SourceFailed',
          message: failure,
          when: Prisma.sql`failures >= ${FAILURES_OF_PROBLEM}`,
        });
  const [row] = await client.$queryRaw<{ events: RecordedEvent[]; stored: boolean }[]>`
    WITH updated AS (
      UPDATE sources SET ${known} ${described} ${outcome}, checked_at = now(), lease_owner = NULL, lease_until = NULL,
        check_at = CASE WHEN check_at = lease_until THEN now() + make_interval(secs => ${nextSeconds}::float8) ELSE check_at END
      WHERE id = ${source.id}::uuid AND lease_owner = ${owner}::uuid AND version = ${source.version}
      RETURNING id, name, failures),
    ${record}
    SELECT ${RECORDED} AS events, EXISTS (SELECT FROM updated) AS stored`;
  if (row?.stored) return row.events;
  await client.$queryRaw`
    UPDATE sources SET lease_owner = NULL, lease_until = NULL, check_at = now()
    WHERE id = ${source.id}::uuid AND lease_owner = ${owner}::uuid`;
  return [];
}

/** Disables a source, and records that as a problem. */
export async function disableSource(client: Reader, id: string, reason: string): Promise<readonly RecordedEvent[]> {
  const [row] = await client.$queryRaw<{ events: RecordedEvent[] }[]>`
    WITH updated AS (
      UPDATE sources SET disabled_at = now(), disabled_reason = ${reason}, lease_owner = NULL, lease_until = NULL
      WHERE id = ${id}::uuid AND disabled_at IS NULL RETURNING id, name),
    ${problemRecord({ kind: 'sources', reason: 'SourceDisabled', message: `The source was disabled. ${reason}` })}
    SELECT ${RECORDED} AS events`;
  return row?.events ?? [];
}

/** Makes a check of a source due. */
export const makeDue = (client: Pick<Transaction, '$executeRaw'>, id: string) =>
  client.$executeRaw`UPDATE sources SET check_at = now() WHERE id = ${id}::uuid AND disabled_at IS NULL`;

/** Makes a check of the source of a plan due, which continues with what a caller has decided. */
export const continueSource = (client: Pick<Transaction, '$executeRaw'>, planId: string) =>
  client.$executeRaw`UPDATE sources SET check_at = now() WHERE plan_id = ${planId}::uuid AND disabled_at IS NULL`;

/**
 * Identifies the objects of a set that were changed since their documents were applied, with their versions; null: there are none.
 */
export async function readDrift(reader: Reader, set: string): Promise<string | null> {
  const [row] = await reader.$queryRaw<{ drift: string | null }[]>`
    SELECT md5(string_agg(o.id || ' ' || o.version, ',' ORDER BY o.id)) AS drift FROM set_objects s
    JOIN (SELECT 'deployment' AS kind, id, version FROM deployments UNION ALL SELECT 'application', id, version FROM applications) o
      ON o.kind = s.kind AND o.id = s.object_id
    WHERE s.set_name = ${set} AND s.version <> o.version`;
  return row?.drift ?? null;
}
