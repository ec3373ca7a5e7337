import type { Endpoint } from '@svc/contract';
import { type ApprovalLevel, approvalLevels } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Settings } from '../settings/settings.ts';
import type { Changer, Principal } from './principal.ts';
import { rolesFrom } from './roles.ts';
import { roleOfUser } from './users.ts';

/** The strictest of several levels. */
export const strictest = (...levels: readonly ApprovalLevel[]): ApprovalLevel =>
  approvalLevels.findLast((level) => levels.includes(level)) ?? 'none';

/** Which changes of a caller need the approval of a person, whatever the settings of the fleet are. */
export const approvalOf = (principal: Changer): ApprovalLevel =>
  principal.kind === 'token' || principal.kind === 'source' ? principal.approval : 'none';

/** The changes of what runs and of what it needs. Others, such as those of users, are not made with plans. */
const PLANNED: readonly string[] = ['resources-write', 'secrets-write'];

/**
 * Refuses a change of a token that only an approved plan may make. @throws 403
 */
export function refuseUnapproved({ operationId, method, access }: Endpoint, principal: Principal): void {
  const level = approvalOf(principal);
  if (level === 'none' || !PLANNED.includes(access) || operationId === 'applyPlan') return;
  if (level === 'deletions' && method !== 'delete') return;
  const what = level === 'all' ? 'Changes' : 'Deletions';
  const detail = `Nothing was changed. ${what} of this token need the approval of a person: make a plan (POST /api/v1/plans), and have a signed-in operator or admin approve it.`;
  throw new Problem('approval_required', detail);
}

/** The users whose roles are counted. */
const MAX_COUNTED = 1000;

/** The number of users who can approve plans. */
export async function countApprovers(
  client: Pick<Prisma.TransactionClient, 'user' | 'setting'>,
  settings: Pick<Settings, 'oidc'>,
): Promise<number> {
  const where = { removed_at: null, blocked_at: null };
  const users = await client.user.findMany({ where, orderBy: { updated_at: 'desc' }, take: MAX_COUNTED });
  const oidc = await settings.oidc(client);
  const admitted = rolesFrom('operator');
  return users.filter((user) => {
    const role = roleOfUser(user, oidc);
    return role !== undefined && admitted.includes(role);
  }).length;
}
