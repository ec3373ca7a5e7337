import { completePagination } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { alreadyExists, invalid, isStreamed, notFound } from '@svc/http';
import { route } from '../context.ts';
import { writeCatalog } from '../database/catalog-write.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { isComplete, paginationFor, rowsOf } from '../paging.ts';
import { catalogChangeRoute, recorded } from './change.ts';
import { PART_ROWS, partOf, readComplete, rowsAfter } from './complete-list.ts';

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

/** The sort order of the list. */
const ORDER = { created_at: 'desc', id: 'asc' } as const;
const inOrder = [{ created_at: ORDER.created_at }, { id: ORDER.id }];
type CatalogAccessRow = Prisma.CatalogAccessGetPayload<{ include: typeof withSlugs }>;

export const listGrants = route(hubEndpoints.listGrants, async ({ database: { client } }, { query }) => {
  const { org_id, category_id } = query;
  const where = {
    ...(org_id === undefined ? {} : { org_id }),
    ...(category_id === undefined ? {} : { category_id }),
  };
  if (isComplete(query)) {
    const list = await readComplete({
      member: 'grants',
      schema: hubEndpoints.listGrants.reply.shape.grants.element,
      read: async (after: CatalogAccessRow | undefined) => {
        const [rows] = await client.$transaction(
          [
            client.catalogAccess.findMany({
              where: { AND: [where, rowsAfter(after, ORDER)] },
              include: withSlugs,
              orderBy: inOrder,
              take: PART_ROWS,
            }),
          ],
          { isolationLevel: 'RepeatableRead' },
        );
        return partOf(rows, presentGrant);
      },
    });
    return isStreamed(list) ? list : { grants: [...list], pagination: completePagination(list.length) };
  }
  const [grants, total] = await client.$transaction(
    [
      client.catalogAccess.findMany({
        where,
        include: withSlugs,
        orderBy: inOrder,
        ...rowsOf(query),
      }),
      client.catalogAccess.count({ where }),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { grants: grants.map(presentGrant), pagination: paginationFor(query, total) };
});

export const grantAccess = route(hubEndpoints.grantAccess, async (context, { body }) => {
  const { database } = context;
  const where = { org_id_category_id: body };
  // Checked before the write, so that a repeated grant does not advance the catalog clock, and again under its lock.
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

/** Selects a grant by its id, by its organization and category, or by all of them. @throws 400 if neither is complete */
function whereGrant({ id, org_id, category_id }: GrantReference): Prisma.CatalogAccessWhereInput {
  if (id === undefined && (org_id === undefined || category_id === undefined)) {
    throw invalid([{ path: 'id', message: 'is required unless both org_id and category_id are given' }]);
  }
  return { ...(id && { id }), ...(org_id && { org_id }), ...(category_id && { category_id }) };
}
