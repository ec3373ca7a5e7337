import { codedMessages } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { invalid, notFound, pickDefined, requireVersion } from '@svc/http';
import { containsText } from '../../database/search.ts';
import type { Prisma, User } from '../../generated/prisma/client.ts';
import { callerOf } from '../../identity/caller.ts';
import { checkRoleChange, lockRoles } from '../../identity/roles.ts';
import { endAdministration } from '../../identity/service-tokens.ts';
import { endAuthority, type KeysOf, lastOrgAdmin, lockMember, lockOrgAdmins } from '../../organizations/authority.ts';
import { presentUser, withOrganization } from '../../organizations/present.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { type Created, NEWEST_FIRST, type Range, readList, rowsAfter } from '../request/lists.ts';
import { resourceId } from '../request/resource-id.ts';

export const listUsers = route(hubEndpoints.listUsers, async ({ database: { client } }, { query }) => {
  const { search } = query;
  const where: Prisma.UserWhereInput = pickDefined(query, ['role', 'org_id']);
  if (search !== undefined) where.OR = [{ name: containsText(search) }, { email: containsText(search) }];
  return readList(client, query, {
    member: 'users',
    schema: hubEndpoints.listUsers.reply.shape.users.element,
    rows: ({ after, skip, take }: Range<Created>) =>
      client.user.findMany({
        where: { AND: [where, rowsAfter(after, NEWEST_FIRST)] },
        include: withOrganization,
        orderBy: NEWEST_FIRST,
        skip,
        take,
      }),
    total: () => client.user.count({ where }),
    present: presentUser,
  });
});

export const updateUser = changeRoute(hubEndpoints.updateUser, ({ principal, ifMatch }, { query, body }) => {
  const id = resourceId({ query, body });
  const matches = ifMatch();
  const { role, org_id, org_role, blocked, keys } = body;
  return async (transaction) => {
    const roles = await lockRoles(transaction, { caller: callerOf(principal).id, target: id });
    const target = await transaction.user.findUnique({ where: { id } });
    if (!target) throw notFound();
    requireVersion(matches, target.version);
    if (role !== undefined && role !== target.role) checkRoleChange(roles, role);
    const membership = membershipOf({ org_id, org_role }, target);
    const isOther = blocked !== undefined && blocked !== (target.blocked_at !== null);
    if (isOther && blocked) checkRoleChange(roles, 'user');
    const ended = await endingOf(transaction, { target, membership, isBlocked: isOther && blocked, keys });
    const data = {
      ...membership,
      ...(role !== undefined && { role, role_set: true }),
      ...(isOther && { blocked_at: blocked ? new Date() : null }),
    };
    const updated = await transaction.user.update({ where: { id }, data, include: withOrganization });
    if (updated.role === 'user' || updated.blocked_at !== null) await endAdministration(transaction, id);
    const joins = updated.org_id !== null && updated.org_id !== target.org_id ? updated.org_id : undefined;
    if (joins && updated.org_role === 'member') await lockOrgAdmins(transaction, joins);
    if (isOther && blocked) {
      await transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE user_id = ${id}::uuid AND ended_at IS NULL`;
    }
    return { id, orgId: target.org_id ?? updated.org_id, reply: { user: presentUser(updated), keys: ended } };
  };
});

interface Change {
  readonly target: User;
  readonly membership: Membership;
  readonly isBlocked: boolean;
  readonly keys: KeysOf;
}

/**
 * Ends what the target created as an org_admin, if the change makes it one no longer.
 * @returns its keys @throws 409 `last_org_admin` if other members would have no org_admin
 */
async function endingOf(transaction: Prisma.TransactionClient, { target, membership, isBlocked, keys }: Change) {
  const { id: userId, org_id: orgId } = target;
  if (orgId === null || target.org_role !== 'org_admin') return [];
  const leaves = membership.org_id !== undefined && membership.org_id !== orgId;
  const isDemoted = membership.org_role !== undefined && membership.org_role !== 'org_admin';
  if (!leaves && !isDemoted && !isBlocked) return [];
  const locked = await lockMember(transaction, { userId, orgId });
  // Counted after the lock: members join with a lock of an org_admin.
  const others = await transaction.user.count({ where: { org_id: orgId, id: { not: userId } } });
  if (others > 0 && !locked?.hasOther) throw lastOrgAdmin();
  return endAuthority(transaction, { userId, orgId, keys, newOwner: null });
}

type Membership = Pick<Prisma.UserUncheckedUpdateInput, 'org_id' | 'org_role'>;
type RequestedMembership = {
  readonly org_id?: string | null | undefined;
  readonly org_role?: 'org_admin' | 'member' | undefined;
};

/**
 * The columns to update when a user joins or leaves an organization, or gets another role in it.
 * @throws 400
 */
function membershipOf(
  { org_id, org_role }: RequestedMembership,
  current: { readonly org_id: string | null },
): Membership {
  if (org_id === null) {
    if (org_role !== undefined) throw invalid([{ path: 'org_role', message: codedMessages.role_without_organization }]);
    return { org_id: null, org_role: null };
  }
  if (org_id !== undefined && org_id !== current.org_id) return { org_id, org_role: org_role ?? 'member' };
  if (org_role === undefined) return {};
  if (current.org_id === null)
    throw invalid([{ path: 'org_id', message: 'is required, because the user does not belong to an organization' }]);
  return { org_role };
}
