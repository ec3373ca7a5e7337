import { hubEndpoints } from '@svc/contract/hub';
import { alreadyExists, invalid, notFound, pickDefined } from '@svc/http';
import { writeCatalog } from '../../database/catalog-write.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { catalogChangeRoute, recorded } from '../request/change.ts';
import { route } from '../request/context.ts';
import { type Created, NEWEST_FIRST, type Range, readList, rowsAfter } from '../request/lists.ts';

const withSlugs = {
  organization: { select: { slug: true } },
  category: { select: { slug: true } },
} satisfies Prisma.CatalogAccessInclude;

const presentGrant = ({
  organization,
  category,
  ...grant
}: Prisma.CatalogAccessGetPayload<{ include: typeof withSlugs }>) => ({
  ...grant,
  org_slug: organization.slug,
  category_slug: category.slug,
});

export const listGrants = route(hubEndpoints.listGrants, async ({ database: { client } }, { query }) => {
  const where = pickDefined(query, ['org_id', 'category_id']);
  return readList(client, query, {
    member: 'grants',
    schema: hubEndpoints.listGrants.reply.shape.grants.element,
    rows: ({ after, skip, take }: Range<Created>) =>
      client.catalogAccess.findMany({
        where: { AND: [where, rowsAfter(after, NEWEST_FIRST)] },
        include: withSlugs,
        orderBy: NEWEST_FIRST,
        skip,
        take,
      }),
    total: () => client.catalogAccess.count({ where }),
    present: presentGrant,
  });
});

export const grantAccess = route(hubEndpoints.grantAccess, async (context, { body }) => {
  const { database } = context;
  const where = { org_id_category_id: body };
  // Checked before the write, so that a repeated grant does not advance the catalog clock, and
  // again under its lock.
  const existing = await database.client.catalogAccess.findUnique({ where, include: withSlugs });
  if (existing) return alreadyExists({ grant: presentGrant(existing) });
  return writeCatalog(database, async (transaction) => {
    const { catalogAccess } = transaction;
    const concurrent = await catalogAccess.findUnique({ where, include: withSlugs });
    if (concurrent) return alreadyExists({ grant: presentGrant(concurrent) });
    const grant = presentGrant(await catalogAccess.create({ data: body, include: withSlugs }));
    return recorded({ ...context, transaction }, hubEndpoints.grantAccess, { id: grant.id, reply: { grant } });
  });
});

export const changeAccess = catalogChangeRoute(hubEndpoints.changeAccess, (_context, { body: { grants, revokes } }) => {
  const both = grants.find(({ org_id, category_id }) =>
    revokes.some((each) => each.org_id === org_id && each.category_id === category_id),
  );
  if (both) throw invalid([{ path: 'revokes', message: 'must not contain a pair that is also in grants' }]);
  return async ({ catalogAccess }) => {
    const { count: granted } = await catalogAccess.createMany({ data: [...grants], skipDuplicates: true });
    const { count: revoked } =
      revokes.length === 0 ? { count: 0 } : await catalogAccess.deleteMany({ where: { OR: [...revokes] } });
    return { id: null, reply: { granted, revoked } };
  };
});

export const revokeAccess = catalogChangeRoute(hubEndpoints.revokeAccess, (_context, { query, body }) => {
  const where = whereGrant({ ...query, ...body });
  return async ({ catalogAccess }) => {
    const existing = await catalogAccess.findFirst({ where, select: { id: true } });
    if (!existing) throw notFound();
    const { id } = await catalogAccess.delete({ where: { id: existing.id } });
    return { id, reply: undefined };
  };
});

interface GrantReference {
  readonly id?: string | undefined;
  readonly org_id?: string | undefined;
  readonly category_id?: string | undefined;
}

/**
 * Selects a grant by its id, by its organization and category, or by all of them. @throws 400 if
 * neither is complete
 */
function whereGrant({ id, org_id, category_id }: GrantReference): Prisma.CatalogAccessWhereInput {
  if (id === undefined && (org_id === undefined || category_id === undefined)) {
    throw invalid([{ path: 'id', message: 'is required unless both org_id and category_id are given' }]);
  }
  return pickDefined({ id, org_id, category_id }, ['id', 'org_id', 'category_id']);
}
