import type { ApprovalLevel } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { approvalOf, strictest } from '../identity/approvals.ts';
import type { Changer } from '../identity/principal.ts';
import { readApproval } from '../settings/approvals.ts';
import { isCovered, lockPlan, type Origin, type Review, readOrigin, readPlan, recordReview } from './rows.ts';

type Transaction = Prisma.TransactionClient;
type Plan = Awaited<ReturnType<typeof readPlan>>;

/** Which of the plans of a caller need the approval of a person: what the fleet or the token requires. */
export const approvalFor = async (client: Pick<Transaction, 'setting'>, principal: Changer): Promise<ApprovalLevel> =>
  strictest(await readApproval(client), approvalOf(principal));

/** Whether a person has made a plan without a token. */
const isOwn = (origin: Origin, principal: Changer): boolean =>
  origin.created_by_token === null &&
  (principal.kind === 'user'
    ? origin.created_by_user === principal.id
    : origin.created_by_user === null && origin.created_by === authorOf(principal));

const isPerson = (principal: Changer): boolean => 'sessionId' in principal && principal.sessionId !== undefined;

const refusal = (plan: Plan, why: string) =>
  new Problem('approval_required', `Nothing was changed: the plan ${plan.id} needs the approval of a person. ${why}`);

/**
 * Makes sure that a person has approved a locked plan that needs it. A person who applies a plan of somebody else, or of a token,
 * approves it by that. @throws 403
 */
export async function requireApproval(transaction: Transaction, plan: Plan, principal: Changer): Promise<void> {
  if (plan.review?.decision === 'approved') return;
  const origin = await readOrigin(transaction, plan.id);
  const isNeeded = origin.needs_approval || isCovered(await approvalFor(transaction, principal), plan);
  if (!isNeeded) return;
  if (!isPerson(principal)) throw refusal(plan, 'A signed-in operator or admin approves it.');
  if (isOwn(origin, principal)) throw refusal(plan, 'You made it, so another signed-in operator or admin approves it.');
  await recordReview(transaction, plan.id, reviewBy(principal, 'approved'));
}

const reviewBy = (principal: Changer, decision: Review['decision'], reason = ''): Review => ({
  decision,
  by: authorOf(principal),
  at: new Date(),
  reason,
});

interface Reviewed {
  readonly id: string;
  readonly digest: string;
  readonly decision: Review['decision'];
  readonly reason?: string;
}

/** Records what a person decides about a plan. @throws 403, 404, 409 */
export async function reviewPlan(
  transaction: Transaction,
  principal: Changer,
  { id, digest, decision, reason }: Reviewed,
): Promise<void> {
  await lockPlan(transaction, id);
  const plan = await readPlan(transaction, id);
  if (plan.digest !== digest) {
    const detail = `Nothing was recorded: the digest is not that of the plan ${id}. Review the plan again.`;
    throw new Problem('plan_outdated', detail);
  }
  if (plan.state !== 'ready' && plan.state !== 'needs_approval')
    throw new Problem('plan_closed', `Nothing was recorded: the plan is ${plan.state}.`);
  if (plan.review !== null)
    throw new Problem('plan_closed', `Nothing was recorded: ${plan.review.by} has ${plan.review.decision} the plan.`);
  if (decision === 'approved' && isOwn(await readOrigin(transaction, id), principal))
    throw refusal(plan, 'You made it, so another signed-in operator or admin approves it.');
  await recordReview(transaction, id, reviewBy(principal, decision, reason));
}
