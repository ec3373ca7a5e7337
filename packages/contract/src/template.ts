import { z } from 'zod';
import { newTemplateFields, templateChangeFields, templateReply } from './template-fields.ts';
import { commaSeparated, flag, ignored, line, name, paging, slug, uuid } from './wire.ts';

/** A template as every caller who may see it sees it (specification, Resources: Template). */
export const template = z.object(templateReply).meta({ id: 'Template' });
export type Template = z.output<typeof template>;

/** A template as administrators see it: with the organization that owns it. */
export const ownedTemplate = template.extend({ owner_org_id: z.string().nullable() }).meta({ id: 'OwnedTemplate' });

/** Narrows a list of templates; what the caller may see is decided elsewhere. */
export const templateFilters = {
  category: line(200).optional().meta({ description: 'Slug of a category' }),
  search: line(200)
    .optional()
    .meta({ description: 'Text that the name or the description has, in any case, literally' }),
  featured: flag.optional().meta({ description: '`true`: only featured templates; `false` filters nothing out' }),
  tags: commaSeparated.optional().meta({ description: 'Comma-separated; a template matches when it has any of them' }),
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

/** A new template: `name` and `category_id` are required, the slug is made from the name when it is not given. */
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

/** A change of a template: only the members that are named change. `id` may be in the query instead. */
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
