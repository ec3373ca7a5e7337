import { hashCredential, newCredential } from '@svc/auth';
import { hubEndpoints, MAX_INVITATIONS } from '@svc/contract/hub';
import { notFound, Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import { callerOf, organizationOf } from '../../identity/caller.ts';
import { requireOrgAdmin } from '../../organizations/keys.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { readPage } from '../request/lists.ts';

/** The days for which an invitation is valid. */
const INVITATION_DAYS = 7;

const open = (orgId: string) => ({ org_id: orgId, expires_at: { gt: new Date() } });

export const listInvitations = route(
  hubEndpoints.listInvitations,
  async ({ database: { client }, principal }, { query }) => {
    const where = open(organizationOf(principal));
    return readPage(client, query, {
      member: 'invitations',
      rows: ({ skip, take }) =>
        client.invitation.findMany({ where, orderBy: [{ created_at: 'desc' }, { id: 'desc' }], skip, take }),
      total: () => client.invitation.count({ where }),
      present: (row) => row,
    });
  },
);

export const inviteMember = changeRoute(hubEndpoints.inviteMember, ({ principal }, { body: { email, org_role } }) => {
  const orgId = organizationOf(principal);
  const { id: userId, email: invited_by } = callerOf(principal);
  const code = newCredential();
  return async (transaction) => {
    await requireOrgAdmin(transaction, { orgId, userId });
    await makeRoom(transaction, orgId);
    const creator = { invited_by, created_by_user: userId };
    const data = { org_id: orgId, email, org_role, code_hash: hashCredential(code), ...creator };
    const { id } = await transaction.invitation.create({ data: { ...data, expires_at: new Date() } });
    await transaction.$executeRaw`
        UPDATE invitations SET expires_at = now() + make_interval(days => ${INVITATION_DAYS}::int) WHERE id = ${id}::uuid`;
    const invitation = await transaction.invitation.findUniqueOrThrow({ where: { id } });
    return { id, orgId, reply: { invitation: { ...invitation, code } } };
  };
});

/**
 * Deletes expired invitations, and locks the organization, so that concurrent requests do not
 * exceed the bound. @throws 409
 */
async function makeRoom(transaction: Prisma.TransactionClient, orgId: string): Promise<void> {
  await transaction.$queryRaw`SELECT FROM organizations WHERE id = ${orgId}::uuid FOR NO KEY UPDATE`;
  await transaction.$executeRaw`DELETE FROM invitations WHERE org_id = ${orgId}::uuid AND expires_at <= now()`;
  const count = await transaction.invitation.count({ where: { org_id: orgId } });
  if (count < MAX_INVITATIONS) return;
  throw new Problem(
    'too_many_invitations',
    `The organization has ${count} open invitations, which is the maximum. Withdraw one that is not needed.`,
  );
}

export const withdrawInvitation = changeRoute(hubEndpoints.withdrawInvitation, ({ principal }, { params: { id } }) => {
  const orgId = organizationOf(principal);
  return async (transaction) => {
    const { count } = await transaction.invitation.deleteMany({ where: { ...open(orgId), id } });
    if (count === 0) throw notFound();
    return { id, orgId, reply: undefined };
  };
});
