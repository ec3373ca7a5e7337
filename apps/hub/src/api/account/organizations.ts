import { hubEndpoints, MAX_NEW_ORGANIZATIONS } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import { defaultSlug } from '../../catalog/derived.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { callerOf } from '../../identity/caller.ts';
import { insertOrganization } from '../../organizations/insert.ts';
import { presentOrganization, withTier } from '../../organizations/present.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';

export const getAccountOrganization = route(
  hubEndpoints.getAccountOrganization,
  async ({ database: { client }, principal }) => {
    const { membership } = callerOf(principal);
    if (!membership) return { organization: null };
    const where = { id: membership.orgId };
    const row = await client.organization.findUniqueOrThrow({ where, include: withTier });
    return { organization: presentOrganization(row) };
  },
);

export const createOrganization = changeRoute(hubEndpoints.createOrganization, ({ principal }, { body }) => {
  const { name, slug = defaultSlug(name) } = body;
  return async (transaction) => {
    const { id: userId } = callerOf(principal);
    // The row lock serializes concurrent requests of the same user.
    const [user] = await transaction.$queryRaw<{ org_id: string | null }[]>`
        SELECT org_id FROM users WHERE id = ${userId}::uuid FOR UPDATE`;
    if (user?.org_id) {
      throw new Problem(
        'already_in_organization',
        'You already belong to an organization. A user can belong to one organization only.',
      );
    }
    await refuseTooMany(transaction, userId);
    const row = await insertOrganization(transaction, { name, slug, tier: 'free', createdBy: userId });
    const membership = { org_id: row.id, org_role: 'org_admin' } as const;
    await transaction.user.update({ where: { id: userId }, data: membership });
    return { id: row.id, orgId: row.id, reply: { organization: presentOrganization(row) } };
  };
});

/**
 * A user who is removed from organizations cannot occupy any number of slugs. The caller has locked
 * the user. @throws 409
 */
async function refuseTooMany(transaction: Prisma.TransactionClient, userId: string): Promise<void> {
  const [{ count } = { count: 0 }] = await transaction.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM organizations
    WHERE created_by_user = ${userId}::uuid AND created_at > now() - interval '1 day'`;
  if (count < MAX_NEW_ORGANIZATIONS) return;
  throw new Problem(
    'too_many_organizations',
    `You have created ${count} organizations in 24 hours, which is the maximum. Ask an administrator, or try again later.`,
  );
}
