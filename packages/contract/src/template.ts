import { z } from 'zod';
import { newTemplateFields, templateChangeFields, templateReply } from './template-fields.ts';
import { commaSeparated, flag, ignored, line, name, paging, slug, uuid } from './wire.ts';

/** A template, as callers see it. */
export const template = z.object(templateReply).meta({ id: 'Template' });
export type Template = z.output<typeof template>;

/** A template, as administrators see it: with its owner. */
export const ownedTemplate = template.extend({ owner_org_id: z.string().nullable() }).meta({ id: 'OwnedTemplate' });

/** Filters of a list of templates. Visibility is applied separately. */
export const templateFilters = {
  category: line(200).optional().meta({ description: 'Slug of a category' }),
  search: line(200).optional().meta({ description: 'Substring of the name or the description, case-insensitive' }),
  featured: flag.optional().meta({ description: '`true`: only featured templates; `false`: all templates' }),
  tags: commaSeparated
    .optional()
    .meta({ description: 'Comma-separated; a template matches if it has at least one of them' }),
};

export const templateListQuery = z.strictObject({ ...templateFilters, ...paging });

const readOnly = ignored(
  'category_name',
  'category_slug',
  'category_icon',
  'download_count',
  'created_at',
  'updated_at',
);

const ownership = { owner_org_id: uuid.nullable() };

/** A new template. Only `name` and `category_id` are required. The default slug derives from the name. */
export const newTemplate = z
  .strictObject({
    name,
    slug: slug.optional(),
    category_id: uuid,
    ...newTemplateFields,
    owner_org_id: ownership.owner_org_id.default(null),
    ...ignored('id'),
    ...readOnly,
  })
  .meta({ id: 'NewTemplate' });

/** A change of a template. Members that are left out do not change. `id` can be in the query instead. */
export const templateChange = z
  .strictObject({
    id: uuid.optional(),
    name: name.optional(),
    slug: slug.optional(),
    category_id: uuid.optional(),
    ...templateChangeFields,
    owner_org_id: ownership.owner_org_id.optional(),
    ...readOnly,
  })
  .meta({ id: 'TemplateChange' });
