import { hubEndpoints } from '@svc/contract/hub';
import { notFound } from '@svc/http';
import { route } from '../context.ts';
import { presentManagedOrganization, withMembers } from '../organization.ts';
import { paginationFor, rowsOf } from '../paging.ts';
import { resourceId } from '../resource-id.ts';

export const listOrganizations = route(hubEndpoints.listOrganizations, async ({ database: { client } }, { query }) => {
  const [organizations, total] = await client.$transaction(
    [
      client.organization.findMany({
        include: withMembers,
        orderBy: [{ created_at: 'desc' }, { id: 'asc' }],
        ...rowsOf(query),
      }),
      client.organization.count(),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { organizations: organizations.map(presentManagedOrganization), pagination: paginationFor(query, total) };
});

export const updateOrganization = route(
  hubEndpoints.updateOrganization,
  async ({ database: { client } }, { query, body }) => {
    const id = resourceId({ query, body });
    const { status, tier } = body;
    const updated = await client.$transaction(async ({ organization }) => {
      if (!(await organization.findUnique({ where: { id }, select: { id: true } }))) throw notFound();
      const data = {
        ...(status === undefined ? {} : { status }),
        ...(tier === undefined ? {} : { subscription: { update: { tier } } }),
      };
      return organization.update({ where: { id }, data, include: withMembers });
    });
    return { organization: presentManagedOrganization(updated) };
  },
);
