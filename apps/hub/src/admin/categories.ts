import { completePagination, fold, type managedCategory } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfVersion, isStreamed, notFound, Problem, pickDefined, requireVersion, withEtag } from '@svc/http';
import type { z } from 'zod';
import { route } from '../context.ts';
import { defaultSlug } from '../derived.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { isComplete, paginationFor, rowsOf } from '../paging.ts';
import { resourceId } from '../resource-id.ts';
import { catalogChangeRoute } from './change.ts';
import { PART_ROWS, partOf, readComplete, rowsAfter } from './complete-list.ts';
import { containsFolded } from './search.ts';

const WRITABLE = ['name', 'slug', 'description', 'icon', 'sort_order', 'is_private'] as const;

/** The sort order of the list. */
const ORDER = { sort_order: 'asc', sort_name: 'asc', id: 'asc' } as const;
const inOrder = [{ sort_order: ORDER.sort_order }, { sort_name: ORDER.sort_name }, { id: ORDER.id }];
type CategoryRow = Prisma.CategoryGetPayload<{ include: typeof withCounts }>;

export const listAllCategories = route(hubEndpoints.listAllCategories, async ({ database: { client } }, { query }) => {
  const { search } = query;
  const where =
    search === undefined ? {} : { OR: [{ sort_name: containsFolded(search) }, { slug: containsFolded(search) }] };
  if (isComplete(query)) {
    const list = await readComplete({
      member: 'categories',
      schema: hubEndpoints.listAllCategories.reply.shape.categories.element,
      read: async (after: CategoryRow | undefined) => {
        const [rows] = await client.$transaction(
          [
            client.category.findMany({
              where: { AND: [where, rowsAfter(after, ORDER)] },
              include: withCounts,
              orderBy: inOrder,
              take: PART_ROWS,
            }),
          ],
          { isolationLevel: 'RepeatableRead' },
        );
        return partOf(rows, presentCategory);
      },
    });
    return isStreamed(list) ? list : { categories: [...list], pagination: completePagination(list.length) };
  }
  const [categories, total] = await client.$transaction(
    [
      client.category.findMany({
        where,
        include: withCounts,
        orderBy: inOrder,
        ...rowsOf(query),
      }),
      client.category.count({ where }),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { categories: categories.map(presentCategory), pagination: paginationFor(query, total) };
});

export const getManagedCategory = route(
  hubEndpoints.getManagedCategory,
  async ({ database: { client } }, { params: { id } }) => {
    const row = await client.category.findUnique({ where: { id }, include: withCounts });
    if (!row) throw notFound();
    const category = presentCategory(row);
    return withEtag({ category }, etagOfVersion(row.version, category));
  },
);

export const createCategory = catalogChangeRoute(hubEndpoints.createCategory, (_context, { body }) => {
  const { name, description, icon, sort_order, is_private, slug = defaultSlug(name) } = body;
  const data = { name, slug, description, icon, sort_order, is_private, sort_name: fold(name) };
  return async ({ category }) => {
    const created = await category.create({ data, include: withCounts });
    return { id: created.id, reply: { category: presentCategory(created) } };
  };
});

export const updateCategory = catalogChangeRoute(hubEndpoints.updateCategory, ({ ifMatch }, { query, body }) => {
  const id = resourceId({ query, body });
  const matches = ifMatch();
  const changes = pickDefined(body, WRITABLE);
  const data = { ...changes, ...(changes.name === undefined ? {} : { sort_name: fold(changes.name) }) };
  return async ({ category }) => {
    const existing = await category.findUnique({ where: { id }, select: { version: true } });
    if (!existing) throw notFound();
    requireVersion(matches, existing.version);
    const updated = await category.update({ where: { id }, data, include: withCounts });
    return { id, reply: { category: presentCategory(updated) } };
  };
});

export const deleteCategory = catalogChangeRoute(hubEndpoints.deleteCategory, ({ ifMatch }, input) => {
  const id = resourceId(input);
  const matches = ifMatch();
  return async ({ category, template }) => {
    const existing = await category.findUnique({ where: { id }, select: { version: true } });
    if (!existing) throw notFound();
    requireVersion(matches, existing.version);
    // The count cannot change: other catalog writes wait for the clock row that this transaction has locked.
    const used = await template.count({ where: { category_id: id } });
    if (used > 0) {
      const references = used === 1 ? '1 template refers' : `${used} templates refer`;
      throw new Problem('category_in_use', `${references} to this category. Move or delete all its templates first.`);
    }
    await category.delete({ where: { id } });
    return { id, reply: undefined };
  };
});

/** The counts that administrators receive with a category. */
export const withCounts = {
  _count: { select: { templates: true, catalog_access: true } },
} satisfies Prisma.CategoryInclude;

type Row = Prisma.CategoryGetPayload<{ include: typeof withCounts }>;

export const presentCategory = ({ _count, ...category }: Row): z.input<typeof managedCategory> => ({
  ...category,
  template_count: _count.templates,
  access_count: _count.catalog_access,
});
