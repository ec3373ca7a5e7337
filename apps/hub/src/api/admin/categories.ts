import { fold, type managedCategory } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfVersion, notFound, Problem, pickDefined, requireVersion, withEtag } from '@svc/http';
import type { z } from 'zod';
import { defaultSlug } from '../../catalog/derived.ts';
import { containsFolded } from '../../database/search.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { catalogChangeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { type Range, readList, rowsAfter } from '../request/lists.ts';
import { resourceId } from '../request/resource-id.ts';

const WRITABLE = ['name', 'slug', 'description', 'icon', 'sort_order', 'is_private'] as const;

/** The sort order of the list. */
const ORDER = [
  { sort_order: 'asc' },
  { sort_name: 'asc' },
  { id: 'asc' },
] satisfies Prisma.CategoryOrderByWithRelationInput[];
type Position = Pick<Prisma.CategoryGetPayload<object>, 'sort_order' | 'sort_name' | 'id'>;

export const listAllCategories = route(hubEndpoints.listAllCategories, async ({ database: { client } }, { query }) => {
  const { search } = query;
  const where: Prisma.CategoryWhereInput = {};
  if (search !== undefined) where.OR = [{ sort_name: containsFolded(search) }, { slug: containsFolded(search) }];
  return readList(client, query, {
    member: 'categories',
    schema: hubEndpoints.listAllCategories.reply.shape.categories.element,
    rows: ({ after, skip, take }: Range<Position>) =>
      client.category.findMany({
        where: { AND: [where, rowsAfter(after, ORDER)] },
        include: withCounts,
        orderBy: ORDER,
        skip,
        take,
      }),
    total: () => client.category.count({ where }),
    present: presentCategory,
  });
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
  const data = changes.name === undefined ? changes : { ...changes, sort_name: fold(changes.name) };
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
  return async ({ category, template, application }) => {
    const existing = await category.findUnique({ where: { id }, select: { version: true } });
    if (!existing) throw notFound();
    requireVersion(matches, existing.version);
    // The count cannot change: other catalog writes wait for the clock row that this transaction
    // has locked.
    const where = { category_id: id };
    const used = [
      { noun: 'template', count: await template.count({ where }) },
      { noun: 'application', count: await application.count({ where }) },
    ].filter(({ count }) => count > 0);
    if (used.length > 0) {
      const objects = used.map(({ noun, count }) => `${count} ${noun}${count === 1 ? '' : 's'}`).join(' and ');
      const verb = used.length === 1 && used[0]?.count === 1 ? 'refers' : 'refer';
      const nouns = used.map(({ noun }) => `${noun}s`).join(' and ');
      throw new Problem(
        'category_in_use',
        `${objects} ${verb} to this category. Move or delete all its ${nouns} first.`,
      );
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
