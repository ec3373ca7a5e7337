import { hashCredential } from '@svc/auth';
import { hubEndpoints } from '@svc/contract/hub';
import { notFound, Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { OrgRole } from '../../generated/prisma/enums.ts';
import { callerOf, organizationOf } from '../../identity/caller.ts';
import type { Principal } from '../../identity/principal.ts';
import { endAuthority, lastOrgAdmin, lockMember } from '../../organizations/authority.ts';
import { presentOrganization, withTier } from '../../organizations/present.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { emptyList, readPage } from '../request/lists.ts';

type Transaction = Prisma.TransactionClient;

const memberColumns = { id: true, email: true, name: true, org_role: true } as const;
const presentMember = (row: Prisma.UserGetPayload<{ select: typeof memberColumns }>) => ({
  ...row,
  org_role: row.org_role ?? 'member', // a member of an organization has a role
});

export const listMembers = route(hubEndpoints.listMembers, async ({ database: { client }, principal }, { query }) => {
  const { membership } = callerOf(principal);
  if (!membership) return emptyList('members', query);
  const where = { org_id: membership.orgId };
  return readPage(client, query, {
    member: 'members',
    rows: ({ skip, take }) =>
      client.user.findMany({
        where,
        select: memberColumns,
        orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
        skip,
        take,
      }),
    total: () => client.user.count({ where }),
    present: presentMember,
  });
});

export const updateMember = changeRoute(
  hubEndpoints.updateMember,
  ({ principal }, { params: { id }, body: { org_role, keys } }) => {
    const orgId = organizationOf(principal);
    return async (transaction) => {
      const wasAdmin = await requireMember(transaction, { orgId, id, next: org_role });
      const row = await transaction.user.update({ where: { id }, data: { org_role }, select: memberColumns });
      const isDemoted = wasAdmin && org_role !== 'org_admin';
      const ending = { userId: id, orgId, keys, newOwner: newOwnerOf(principal, id) };
      const ended = isDemoted ? await endAuthority(transaction, ending) : [];
      return { id, orgId, reply: { member: presentMember(row), keys: ended } };
    };
  },
);

export const removeMember = changeRoute(
  hubEndpoints.removeMember,
  ({ principal }, { params: { id }, query: { keys } }) => {
    const orgId = organizationOf(principal);
    return async (transaction) => {
      await requireMember(transaction, { orgId, id, next: undefined });
      await transaction.user.update({ where: { id }, data: { org_id: null, org_role: null } });
      await endAuthority(transaction, { userId: id, orgId, keys, newOwner: newOwnerOf(principal, id) });
      return { id, orgId, reply: undefined };
    };
  },
);

/** The owner of keys that are kept: the caller, or the organization if the caller leaves. */
function newOwnerOf(principal: Principal, userId: string): string | null {
  const { id } = callerOf(principal);
  return id === userId ? null : id;
}

interface MemberChange {
  readonly orgId: string;
  readonly id: string;
  /** The role after the change; undefined: the member leaves. */
  readonly next: OrgRole | undefined;
}

/** Locks a member for a change. @returns whether it is an org_admin @throws 404, 409 `last_org_admin` */
async function requireMember(transaction: Transaction, { orgId, id, next }: MemberChange): Promise<boolean> {
  const member = await lockMember(transaction, { userId: id, orgId });
  if (!member) throw notFound();
  if (member.isAdmin && next !== 'org_admin' && !member.hasOther) throw lastOrgAdmin();
  return member.isAdmin;
}

interface InvitationRow {
  readonly org_id: string;
  readonly org_role: OrgRole;
}

export const joinOrganization = changeRoute(
  hubEndpoints.joinOrganization,
  ({ principal }, { body: { code } }) =>
    async (transaction) => {
      const { id } = callerOf(principal);
      // The row lock serializes concurrent requests of the same user.
      const [user] = await transaction.$queryRaw<{ org_id: string | null; email: string | null }[]>`
        SELECT org_id, CASE WHEN email_verified THEN email END AS email FROM users WHERE id = ${id}::uuid FOR UPDATE`;
      if (user?.org_id) throw alreadyInOrganization();
      const hash = hashCredential(code);
      // The creator is locked, because the last org_admin could leave meanwhile.
      const [invitation] = await transaction.$queryRaw<InvitationRow[]>`
        WITH creator AS (
          SELECT c.id FROM invitations i JOIN users c ON c.id = i.created_by_user AND c.org_id = i.org_id
          WHERE i.code_hash = ${hash} AND c.org_role = 'org_admin' AND c.blocked_at IS NULL FOR SHARE OF c)
        DELETE FROM invitations i USING organizations o, creator c
        WHERE o.id = i.org_id AND o.status = 'active' AND c.id = i.created_by_user AND i.code_hash = ${hash}
          AND i.expires_at > now() AND (i.email IS NULL OR i.email = ${user?.email ?? null}::text)
        RETURNING i.org_id, i.org_role::text AS org_role`;
      if (!invitation) throw invalidInvitation();
      const { org_id, org_role } = invitation;
      await transaction.user.update({ where: { id }, data: { org_id, org_role } });
      const row = await transaction.organization.findUniqueOrThrow({ where: { id: org_id }, include: withTier });
      return { id, orgId: org_id, reply: { organization: presentOrganization(row), org_role } };
    },
);

const alreadyInOrganization = () =>
  new Problem(
    'already_in_organization',
    'You already belong to an organization. A user can belong to one organization only.',
  );

/** The response does not state why, so that a code for another person reveals nothing. */
const invalidInvitation = () =>
  new Problem(
    'invalid_grant',
    'The invitation is unknown, was used, has expired, is for another e-mail address, or is of a user who is no longer an org_admin. Ask for another one.',
  );
