import { completePagination } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfVersion, isStreamed, notFound, requireVersion, withEtag } from '@svc/http';
import { route } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { presentManagedOrganization, withMembers } from '../organization.ts';
import { isComplete, paginationFor, rowsOf } from '../paging.ts';
import { resourceId } from '../resource-id.ts';
import { changeRoute } from './change.ts';
import { PART_ROWS, partOf, readComplete, rowsAfter } from './complete-list.ts';
import { containsText } from './search.ts';

/** The sort order of the list. */
const ORDER = { created_at: 'desc', id: 'asc' } as const;
const inOrder = [{ created_at: ORDER.created_at }, { id: ORDER.id }];
type OrganizationRow = Prisma.OrganizationGetPayload<{ include: typeof withMembers }>;

export const listOrganizations = route(hubEndpoints.listOrganizations, async ({ database: { client } }, { query }) => {
  const { search, status } = query;
  const where = {
    ...(search === undefined ? {} : { OR: [{ name: containsText(search) }, { slug: containsText(search) }] }),
    ...(status === undefined ? {} : { status }),
  };
  if (isComplete(query)) {
    const list = await readComplete({
      member: 'organizations',
      schema: hubEndpoints.listOrganizations.reply.shape.organizations.element,
      read: async (after: OrganizationRow | undefined) => {
        const [rows] = await client.$transaction(
          [
            client.organization.findMany({
              where: { AND: [where, rowsAfter(after, ORDER)] },
              include: withMembers,
              orderBy: inOrder,
              take: PART_ROWS,
            }),
          ],
          { isolationLevel: 'RepeatableRead' },
        );
        return partOf(rows, presentManagedOrganization);
      },
    });
    return isStreamed(list) ? list : { organizations: [...list], pagination: completePagination(list.length) };
  }
  const [organizations, total] = await client.$transaction(
    [
      client.organization.findMany({
        where,
        include: withMembers,
        orderBy: inOrder,
        ...rowsOf(query),
      }),
      client.organization.count({ where }),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { organizations: organizations.map(presentManagedOrganization), pagination: paginationFor(query, total) };
});

export const getManagedOrganization = route(
  hubEndpoints.getManagedOrganization,
  async ({ database: { client } }, { params: { id } }) => {
    const row = await client.organization.findUnique({ where: { id }, include: withMembers });
    if (!row) throw notFound();
    const organization = presentManagedOrganization(row);
    return withEtag({ organization }, etagOfVersion(row.version, organization));
  },
);

export const updateOrganization = changeRoute(hubEndpoints.updateOrganization, ({ ifMatch }, { query, body }) => {
  const id = resourceId({ query, body });
  const matches = ifMatch();
  const { status, tier } = body;
  const data = {
    ...(status === undefined ? {} : { status }),
    ...(tier === undefined ? {} : { subscription: { update: { tier } } }),
  };
  return async (transaction) => {
    const { organization } = transaction;
    const [existing] = await transaction.$queryRaw<{ version: number }[]>`
          SELECT version FROM organizations WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
    if (!existing) throw notFound();
    requireVersion(matches, existing.version);
    await organization.update({ where: { id }, data });
    const updated = await organization.findUniqueOrThrow({ where: { id }, include: withMembers }); // a trigger sets the version
    return { id, reply: { organization: presentManagedOrganization(updated) } };
  };
});
