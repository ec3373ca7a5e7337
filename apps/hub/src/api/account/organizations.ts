import { hubEndpoints } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import { callerOf } from '../../identity/caller.ts';
import { presentOrganization, withTier } from '../../organizations/present.ts';
import { route } from '../context.ts';

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

export const createOrganization = route(
  hubEndpoints.createOrganization,
  async ({ database: { client }, principal }, { body: { name, slug } }) => {
    const { id } = callerOf(principal);
    const created = await client.$transaction(async (transaction) => {
      // The row lock serializes concurrent requests of the same user.
      const [user] = await transaction.$queryRaw<{ org_id: string | null }[]>`
          SELECT org_id FROM users WHERE id = ${id}::uuid FOR UPDATE`;
      if (user?.org_id) {
        throw new Problem(
          'already_in_organization',
          'You already belong to an organization. A user can belong to one organization only.',
        );
      }
      const data = { name, slug, subscription: { create: { tier: 'free' } } };
      const row = await transaction.organization.create({ data, include: withTier });
      await transaction.user.update({ where: { id }, data: { org_id: row.id, org_role: 'org_admin' } });
      return row;
    });
    return { organization: presentOrganization(created) };
  },
);
