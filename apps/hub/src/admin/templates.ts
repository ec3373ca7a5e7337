import { type ownedTemplate, templateFieldNames } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { given, notFound } from '@svc/http';
import type { z } from 'zod';
import { route } from '../context.ts';
import { writeCatalog } from '../database/catalog-write.ts';
import { derived, slugFrom } from '../derived.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { identified } from '../identified.ts';
import { paginationFor, rowsOf } from '../paging.ts';

const WRITABLE = ['name', 'slug', 'category_id', 'owner_org_id', ...templateFieldNames] as const;

/** What administrators read with a template. */
const withCategory = {
  category: { select: { name: true, slug: true, icon: true } },
  downloads: { select: { count: true } },
} satisfies Prisma.TemplateInclude;

type Row = Prisma.TemplateGetPayload<{ include: typeof withCategory }>;
type JsonColumn = { [C in keyof Row]: Prisma.JsonValue extends Row[C] ? C : never }[keyof Row];
type Reply = z.input<typeof ownedTemplate>;

/** Columns have the names of the members; the reply schema drops the columns that are not members. */
function presentTemplate({ category, downloads, ...template }: Row): Reply {
  const presented: Omit<Reply, JsonColumn> = {
    ...template,
    category_name: category.name,
    category_slug: category.slug,
    category_icon: category.icon,
    download_count: Number(downloads?.count ?? 0),
  };
  return presented as Reply; // JSON columns hold values that passed the rules of the contract
}

export const listAllTemplates = route(hubEndpoints.listAllTemplates, async ({ database: { client } }, { query }) => {
  const [templates, total] = await client.$transaction(
    [
      client.template.findMany({
        include: withCategory,
        orderBy: [{ sort_name: 'asc' }, { id: 'asc' }],
        ...rowsOf(query),
      }),
      client.template.count(),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { templates: templates.map(presentTemplate), pagination: paginationFor(query, total) };
});

export const createTemplate = route(hubEndpoints.createTemplate, async ({ database }, { body }) => {
  const { name, category_id } = body;
  const slug = body.slug ?? slugFrom(name);
  const data = { ...given(body, WRITABLE), name, slug, category_id, ...derived(body) };
  const created = await writeCatalog(database, ({ template }) => template.create({ data, include: withCategory }));
  return { template: presentTemplate(created) };
});

export const updateTemplate = route(hubEndpoints.updateTemplate, async ({ database }, { query, body }) => {
  const id = identified({ query, body });
  const changes = given(body, WRITABLE);
  const updated = await writeCatalog(database, async ({ template }) => {
    const present = await template.findUnique({ where: { id } });
    if (!present) throw notFound();
    const data = { ...changes, ...derived({ ...present, ...changes }) };
    return template.update({ where: { id }, data, include: withCategory });
  });
  return { template: presentTemplate(updated) };
});

export const deleteTemplate = route(hubEndpoints.deleteTemplate, async ({ database }, input) => {
  const id = identified(input);
  await writeCatalog(database, async ({ template }) => {
    const { count } = await template.deleteMany({ where: { id } });
    if (count === 0) throw notFound();
  });
});
