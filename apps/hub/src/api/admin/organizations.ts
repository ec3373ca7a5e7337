import { hubEndpoints } from '@svc/contract/hub';
import { etagOfVersion, notFound, pickDefined, requireVersion, withEtag } from '@svc/http';
import { defaultSlug } from '../../catalog/derived.ts';
import { containsText } from '../../database/search.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { insertOrganization } from '../../organizations/insert.ts';
import { presentManagedOrganization, withMembers } from '../../organizations/present.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { type Created, NEWEST_FIRST, type Range, readList, rowsAfter } from '../request/lists.ts';
import { resourceId } from '../request/resource-id.ts';

export const listOrganizations = route(hubEndpoints.listOrganizations, async ({ database: { client } }, { query }) => {
  const { search } = query;
  const where: Prisma.OrganizationWhereInput = pickDefined(query, ['status']);
  if (search !== undefined) where.OR = [{ name: containsText(search) }, { slug: containsText(search) }];
  return readList(client, query, {
    member: 'organizations',
    schema: hubEndpoints.listOrganizations.reply.shape.organizations.element,
    rows: ({ after, skip, take }: Range<Created>) =>
      client.organization.findMany({
        where: { AND: [where, rowsAfter(after, NEWEST_FIRST)] },
        include: withMembers,
        orderBy: NEWEST_FIRST,
        skip,
        take,
      }),
    total: () => client.organization.count({ where }),
    present: presentManagedOrganization,
  });
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

export const createManagedOrganization = changeRoute(hubEndpoints.createManagedOrganization, (_context, { body }) => {
  const { name, slug = defaultSlug(name), tier } = body;
  return async (transaction) => {
    const row = await insertOrganization(transaction, { name, slug, tier, createdBy: null });
    return { id: row.id, orgId: row.id, reply: { organization: presentManagedOrganization(row) } };
  };
});

export const updateOrganization = changeRoute(hubEndpoints.updateOrganization, ({ ifMatch }, { query, body }) => {
  const id = resourceId({ query, body });
  const matches = ifMatch();
  const { tier } = body;
  const data: Prisma.OrganizationUpdateInput = pickDefined(body, ['status']);
  if (tier !== undefined) data.subscription = { update: { tier } };
  return async (transaction) => {
    const { organization } = transaction;
    const [existing] = await transaction.$queryRaw<{ version: number }[]>`
          SELECT version FROM organizations WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
    if (!existing) throw notFound();
    requireVersion(matches, existing.version);
    await organization.update({ where: { id }, data });
    // A trigger sets the version.
    const updated = await organization.findUniqueOrThrow({ where: { id }, include: withMembers });
    return { id, reply: { organization: presentManagedOrganization(updated) } };
  };
});
