import { hashCredential } from '@svc/auth';
import { hubEndpoints } from '@svc/contract/hub';
import { notFound, Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { OrgRole } from '../../generated/prisma/enums.ts';
import { callerOf, organizationOf } from '../../identity/caller.ts';
import { presentOrganization, withTier } from '../../organizations/present.ts';
import { route } from '../context.ts';
import { emptyList, readPage } from '../lists.ts';

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

export const updateMember = route(
  hubEndpoints.updateMember,
  async ({ database: { client }, principal }, { params: { id }, body: { org_role } }) =>
    client.$transaction(async (transaction) => {
      await requireMember(transaction, { orgId: organizationOf(principal), id, next: org_role });
      const row = await transaction.user.update({ where: { id }, data: { org_role }, select: memberColumns });
      return { member: presentMember(row) };
    }),
);

export const removeMember = route(
  hubEndpoints.removeMember,
  async ({ database: { client }, principal }, { params: { id } }) =>
    client.$transaction(async (transaction) => {
      await requireMember(transaction, { orgId: organizationOf(principal), id, next: undefined });
      await transaction.user.update({ where: { id }, data: { org_id: null, org_role: null } });
      return undefined;
    }),
);

interface MemberChange {
  readonly orgId: string;
  readonly id: string;
  /** The role after the change; undefined: the member leaves. */
  readonly next: OrgRole | undefined;
}

/**
 * Locks the member and all org_admins of the organization, in the order of their ids to prevent
 * deadlocks.
 * @throws 404, 409 `last_org_admin`
 */
async function requireMember(transaction: Transaction, { orgId, id, next }: MemberChange): Promise<void> {
  const rows = await transaction.$queryRaw<{ id: string; org_role: OrgRole }[]>`
    SELECT id, org_role::text AS org_role FROM users
    WHERE org_id = ${orgId}::uuid AND (id = ${id}::uuid OR org_role = 'org_admin')
    ORDER BY id FOR UPDATE`;
  if (!rows.some((row) => row.id === id)) throw notFound();
  const hasOther = rows.some((row) => row.id !== id && row.org_role === 'org_admin');
  const isAdmin = rows.some((row) => row.id === id && row.org_role === 'org_admin');
  if (!isAdmin || next === 'org_admin' || hasOther) return;
  throw new Problem('last_org_admin', 'This is the last org_admin. Give another member the role org_admin first.');
}

interface InvitationRow {
  readonly org_id: string;
  readonly org_role: OrgRole;
}

export const joinOrganization = route(
  hubEndpoints.joinOrganization,
  async ({ database: { client }, principal }, { body: { code } }) => {
    const { id } = callerOf(principal);
    return client.$transaction(async (transaction) => {
      // The row lock serializes concurrent requests of the same user.
      const [user] = await transaction.$queryRaw<{ org_id: string | null; email: string | null }[]>`
        SELECT org_id, CASE WHEN email_verified THEN email END AS email FROM users WHERE id = ${id}::uuid FOR UPDATE`;
      if (user?.org_id) throw alreadyInOrganization();
      const [invitation] = await transaction.$queryRaw<InvitationRow[]>`
        DELETE FROM invitations i USING organizations o
        WHERE o.id = i.org_id AND o.status = 'active' AND i.code_hash = ${hashCredential(code)} AND i.expires_at > now()
          AND (i.email IS NULL OR i.email = ${user?.email ?? null}::text)
        RETURNING i.org_id, i.org_role::text AS org_role`;
      if (!invitation) throw invalidInvitation();
      const { org_id, org_role } = invitation;
      await transaction.user.update({ where: { id }, data: { org_id, org_role } });
      const row = await transaction.organization.findUniqueOrThrow({ where: { id: org_id }, include: withTier });
      return { organization: presentOrganization(row), org_role };
    });
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
    'The invitation is unknown, was used, has expired, or is for another e-mail address. Ask for another one.',
  );
