import type { Input, Reply } from '@svc/contract';
import { type ApprovalLevel, type fleetEndpoints, planLimits, planStates } from '@svc/contract/fleet';
import { notFound, Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { by, isText, type List, readPage } from '../database/lists.ts';
import { recordNotice } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Creator } from '../identity/mcp-tokens.ts';
import { isUuid } from '../resources/kind.ts';
import type { PlanContent } from './decide.ts';
import type { PlanFile } from './documents.ts';
import { keptDrifts, type PlanOptions } from './step.ts';

type Transaction = Prisma.TransactionClient;
type Reader = Pick<Transaction, '$queryRaw'>;
type Plan = Reply<typeof fleetEndpoints.getPlan>['plan'];
type Query = Input<typeof fleetEndpoints.listPlans>['query'];

/** A plan that was not applied in time has the state `expired`. */
export const planState = Prisma.sql`CASE
  WHEN r.state IN ('ready', 'refused', 'unchanged') AND r.expires_at <= now() THEN 'expired'
  WHEN r.state = 'ready' AND r.needs_approval AND r.review IS NULL THEN 'needs_approval'
  ELSE r.state END`;

/** The decision of a person about a plan. */
const review = z.object({
  decision: z.enum(['approved', 'rejected']),
  by: z.string(),
  at: z.coerce.date(),
  reason: z.string(),
});
export type Review = z.output<typeof review>;

const planRow = z.object({
  id: z.string(),
  set_name: z.string(),
  title: z.string(),
  state: z.enum(planStates),
  digest: z.string(),
  options: z.object({
    prune: z.boolean(),
    max_deletions: z.int(),
    adopt: z.boolean(),
    drift: z.enum(keptDrifts).optional(),
  }),
  summary: z.custom<Omit<PlanContent['summary'], 'kept'>>(),
  created_at: z.date(),
  created_by: z.string(),
  expires_at: z.date(),
  applied_at: z.date().nullable(),
  applied_by: z.string().nullable(),
  source_id: z.string().nullable(),
  commit: z.string().nullable(),
  review: review.nullable(),
});

const planList: List<Query & { readonly sort: '-created_at' }> = {
  table: Prisma.sql`plans`,
  columns: Prisma.sql`r.id, r.set_name, r.title, ${planState} AS state, r.digest, r.options, r.summary, r.created_at, r.created_by,
    r.expires_at, r.applied_at, r.applied_by, r.source_id, r.commit, r.review`,
  rules: {
    filters: {
      state: (states) => Prisma.sql`${planState} = ANY(${states}::text[])`,
      set: isText(Prisma.sql`r.set_name`),
    },
    sorts: { created_at: by(Prisma.sql`r.created_at`) },
  },
};

function presentRow(
  row: unknown,
): Omit<Plan, 'changes' | 'refusals' | 'losses' | 'left_out'> & Pick<PlanOptions, 'drift'> {
  const { set_name, options, expires_at, summary, ...rest } = planRow.parse(row);
  return {
    ...rest,
    ...options,
    summary: { kept: 0, ...summary }, // earlier versions stored none
    set: set_name,
    expires_at: rest.state === 'applied' ? null : expires_at,
  };
}

/** A page of plans, newest first. */
export async function readPlans(reader: Reader, query: Query) {
  const { rows, pagination } = await readPage(reader, planList, { ...query, sort: '-created_at' });
  return { plans: rows.map(presentRow), pagination };
}

/** What a plan states, as this service has stored it. */
const storedContent = z.custom<Pick<PlanContent, 'changes' | 'refusals' | 'losses' | 'left_out' | 'parts'>>();

/** A plan with its changes. @throws 404 */
export async function readPlan(
  reader: Reader,
  id: string,
): Promise<Plan & { readonly parts: PlanContent['parts']; readonly drift?: PlanOptions['drift'] }> {
  const row = await readColumns(reader, id, Prisma.sql`${planList.columns}, r.decision`);
  const { changes, refusals, losses, left_out, parts } = storedContent.parse(row.decision);
  return { ...presentRow(row), changes, refusals, losses, left_out, parts };
}

const storedFiles = z.array(z.object({ path: z.string(), text: z.string() }));

/** The files of a plan. @throws 404 */
export const readFiles = async (reader: Reader, id: string): Promise<PlanFile[]> =>
  storedFiles.parse((await readColumns(reader, id, Prisma.sql`r.files`)).files);

async function readColumns(reader: Reader, id: string, columns: Prisma.Sql): Promise<Record<string, unknown>> {
  if (!isUuid(id)) throw notFound();
  const [row] = await reader.$queryRaw<
    Record<string, unknown>[]
  >`SELECT ${columns} FROM plans r WHERE r.id = ${id}::uuid`;
  if (row === undefined) throw notFound();
  return row;
}

/** Who made a plan, and whether it needed the approval of a person then. */
export interface Origin extends Creator {
  readonly needs_approval: boolean;
}

const originRow = z.object({
  created_by: z.string(),
  created_by_user: z.string().nullable(),
  created_by_token: z.string().nullable(),
  needs_approval: z.boolean(),
});

/** @throws 404 */
export const readOrigin = async (reader: Reader, id: string): Promise<Origin> =>
  originRow.parse(
    await readColumns(reader, id, Prisma.sql`r.created_by, r.created_by_user, r.created_by_token, r.needs_approval`),
  );

/** Records the decision of a person about a locked plan. */
export async function recordReview(transaction: Transaction, id: string, given: Review): Promise<void> {
  await transaction.$executeRaw`
    UPDATE plans SET review = ${JSON.stringify(given)}::jsonb,
      state = CASE WHEN ${given.decision} = 'rejected' THEN 'rejected' ELSE state END WHERE id = ${id}::uuid`;
}

/** Locks a plan, so that it is applied once. @throws 404 */
export async function lockPlan(transaction: Transaction, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound();
  const rows = await transaction.$queryRaw<unknown[]>`SELECT FROM plans WHERE id = ${id}::uuid FOR UPDATE`;
  if (rows.length === 0) throw notFound();
}

export interface NewPlan {
  readonly creator: Creator;
  readonly title: string;
  readonly options: PlanOptions;
  readonly files: readonly PlanFile[];
  readonly content: PlanContent;
  readonly digest: string;
  /** Which plans need the approval of a person. */
  readonly approval: ApprovalLevel;
  /** What a source has read; undefined: a caller makes the plan. */
  readonly read?: { readonly source: string; readonly commit: string } | undefined;
}

/**
 * Stores a plan. Of those of a caller that cannot be applied, only the newest are kept.
 * @returns its id. @throws 409 if too many plans are ready
 */
export async function insertPlan(transaction: Transaction, plan: NewPlan): Promise<string> {
  const { creator, title, options, files, content, digest, approval, read } = plan;
  const { set, ...rest } = options;
  const { summary, ...decision } = content;
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('plans'))`;
  const newState = stateOf(content);
  if (newState === 'ready') await refuseTooMany(transaction, creator);
  else await forgetOlder(transaction, creator);
  const id = uuidv7();
  const needsApproval = newState === 'ready' && isCovered(approval, content);
  await transaction.$executeRaw`
    INSERT INTO plans (id, created_by, created_by_user, created_by_token, set_name, title, options, files, summary, decision, digest, state,
      needs_approval, source_id, commit)
    VALUES (${id}::uuid, ${creator.created_by}, ${creator.created_by_user}::uuid, ${creator.created_by_token}::uuid, ${set}, ${title},
      ${JSON.stringify(rest)}::jsonb, ${JSON.stringify(files)}::jsonb, ${JSON.stringify(summary)}::jsonb,
      ${JSON.stringify(decision)}::jsonb, ${digest}, ${newState}, ${needsApproval},
      ${read?.source ?? null}::uuid, ${read?.commit ?? null})`;
  if (needsApproval) {
    const message = `${title === '' ? `A plan of the set ${set}` : title} waits for the approval of a person.`;
    await recordNotice(transaction, {
      kind: 'plans',
      objectId: id,
      name: title === '' ? set : title,
      reason: 'NeedsApproval',
      message,
    });
  }
  return id;
}

/** Whether a level of approval covers what a plan does. */
export const isCovered = (
  level: ApprovalLevel,
  { summary, losses }: Pick<PlanContent, 'summary' | 'losses'>,
): boolean => level === 'all' || (level === 'deletions' && (summary.delete > 0 || losses.length > 0));

const stateOf = ({ refusals, changes }: PlanContent) =>
  refusals.length > 0 ? 'refused' : changes.length === 0 ? 'unchanged' : 'ready';

const isOf = ({ created_by, created_by_user, created_by_token }: Creator) =>
  created_by_token !== null
    ? Prisma.sql`created_by_token = ${created_by_token}::uuid`
    : created_by_user !== null
      ? Prisma.sql`created_by_user = ${created_by_user}::uuid AND created_by_token IS NULL`
      : Prisma.sql`created_by = ${created_by} AND created_by_user IS NULL AND created_by_token IS NULL`;

const isOpen = Prisma.sql`state = 'ready' AND expires_at > now()`;

/** @throws 409 */
async function refuseTooMany(transaction: Transaction, creator: Creator): Promise<void> {
  const [count] = await transaction.$queryRaw<{ own: number; all: number }[]>`
    SELECT count(*)::int AS all, count(*) FILTER (WHERE ${isOf(creator)})::int AS own FROM plans WHERE ${isOpen}`;
  const { own = 0, all = 0 } = count ?? {};
  const [found, limit, whose] =
    own >= planLimits.openOfCaller ? [own, planLimits.openOfCaller, 'of yours '] : [all, planLimits.open, ''];
  if (found < limit) return;
  const detail = `The plan was not stored: ${found} plans ${whose}can still be applied, and at most ${limit} are allowed. Apply one, or wait until one expires.`;
  throw new Problem('too_many_plans', detail);
}

const forgetOlder = (transaction: Transaction, creator: Creator) => transaction.$executeRaw`
  DELETE FROM plans WHERE id IN (
    SELECT id FROM plans WHERE state IN ('refused', 'unchanged') AND ${isOf(creator)}
    ORDER BY created_at DESC, id OFFSET ${planLimits.openOfCaller - 1})`;

/** The number of applied plans that are kept. */
const MAX_APPLIED = 1000;

/** Records that a plan was applied, and forgets the oldest ones. */
export async function recordApplied(
  transaction: Transaction,
  { id, author }: { readonly id: string; readonly author: string },
): Promise<void> {
  await transaction.$executeRaw`
    UPDATE plans SET state = 'applied', applied_at = now(), applied_by = ${author} WHERE id = ${id}::uuid`;
  await transaction.$executeRaw`
    DELETE FROM plans WHERE id IN (SELECT id FROM plans WHERE state = 'applied' ORDER BY applied_at DESC, id OFFSET ${MAX_APPLIED})`;
}

/** Records that what a plan was decided about has changed. */
export const recordOutdated = (transaction: Pick<Transaction, '$executeRaw'>, id: string) =>
  transaction.$executeRaw`UPDATE plans SET state = 'outdated' WHERE id = ${id}::uuid AND state NOT IN ('applied', 'rejected')`;
