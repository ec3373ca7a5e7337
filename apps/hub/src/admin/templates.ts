import { templateFields } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { given, notFound } from '@svc/http';
import { route } from '../context.ts';
import { writeCatalog } from '../database/catalog-write.ts';
import { derived, slugFrom } from '../derived.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { identified } from '../identified.ts';
import { paginationFor, rowsOf } from '../paging.ts';
import { presentTemplate, withCategory } from '../presenters/template.ts';

const FIELDS = Object.keys(templateFields) as (keyof typeof templateFields)[];
const MEMBERS = ['name', 'slug', 'category_id', 'owner_org_id', ...FIELDS] as const;

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
  const slug = body.slug ?? slugFrom(body.name);
  const data = { ...given(body, MEMBERS), slug, ...derived(body) } as Prisma.TemplateUncheckedCreateInput; // body was parsed
  const created = await writeCatalog(database, ({ template }) => template.create({ data, include: withCategory }));
  return { template: presentTemplate(created) };
});

export const updateTemplate = route(hubEndpoints.updateTemplate, async ({ database }, { query, body }) => {
  const id = identified({ query, body });
  const changes = given(body, MEMBERS);
  const updated = await writeCatalog(database, async ({ template }) => {
    const present = await template.findUnique({ where: { id } });
    if (!present) throw notFound();
    const data = { ...changes, ...derived({ ...present, ...changes }) } as Prisma.TemplateUncheckedUpdateInput; // body was parsed
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
