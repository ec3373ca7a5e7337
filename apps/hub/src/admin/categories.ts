import { fold } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { given, notFound, Problem } from '@svc/http';
import { route } from '../context.ts';
import { writeCatalog } from '../database/catalog-write.ts';
import { slugFrom } from '../derived.ts';
import { identified } from '../identified.ts';
import { paginationFor, rowsOf } from '../paging.ts';
import { presentCategory, withCounts } from '../presenters/category.ts';

const MEMBERS = ['name', 'slug', 'description', 'icon', 'sort_order', 'is_private'] as const;

export const listAllCategories = route(hubEndpoints.listAllCategories, async ({ database: { client } }, { query }) => {
  const [categories, total] = await client.$transaction(
    [
      client.category.findMany({
        include: withCounts,
        orderBy: [{ sort_order: 'asc' }, { sort_name: 'asc' }, { id: 'asc' }],
        ...rowsOf(query),
      }),
      client.category.count(),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { categories: categories.map(presentCategory), pagination: paginationFor(query, total) };
});

export const createCategory = route(hubEndpoints.createCategory, async ({ database }, { body }) => {
  const { name, description, icon, sort_order, is_private, slug = slugFrom(name) } = body;
  const data = { name, slug, description, icon, sort_order, is_private, sort_name: fold(name) };
  const created = await writeCatalog(database, ({ category }) => category.create({ data, include: withCounts }));
  return { category: presentCategory(created) };
});

export const updateCategory = route(hubEndpoints.updateCategory, async ({ database }, { query, body }) => {
  const id = identified({ query, body });
  const changes = given(body, MEMBERS);
  const data = { ...changes, ...(changes.name === undefined ? {} : { sort_name: fold(changes.name) }) };
  const updated = await writeCatalog(database, async ({ category }) => {
    if (!(await category.findUnique({ where: { id }, select: { id: true } }))) throw notFound();
    return category.update({ where: { id }, data, include: withCounts });
  });
  return { category: presentCategory(updated) };
});

export const deleteCategory = route(hubEndpoints.deleteCategory, async ({ database }, input) => {
  const id = identified(input);
  await writeCatalog(database, async ({ category, template }) => {
    // Exact: whoever adds a template waits for the clock that this transaction holds.
    const used = await template.count({ where: { category_id: id } });
    if (used > 0) {
      const them = used === 1 ? '1 template refers' : `${used} templates refer`;
      throw new Problem('category_in_use', `${them} to this category: move or delete them first.`);
    }
    const { count } = await category.deleteMany({ where: { id } });
    if (count === 0) throw notFound();
  });
});
