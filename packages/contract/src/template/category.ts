import { z } from 'zod';
import { timestamp } from '../shared/timestamp.ts';
import { id, ignored, line, name, objectVersion, slug, storedName, text, uuid, visible } from '../shared/wire.ts';

/**
 * A category as callers see it. `template_count` counts the templates that are visible to the
 * caller.
 */
export const category = z
  .object({
    id,
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    icon: z.string(),
    sort_order: z.int(),
    is_private: z.boolean(),
    template_count: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Category' });
export type Category = z.output<typeof category>;

/** A category as administrators see it. */
export const managedCategory = category
  .extend({
    access_count: z.int().meta({ description: 'Number of organizations with a grant' }),
    version: objectVersion,
  })
  .meta({ id: 'ManagedCategory' });

export const categoryFields = {
  description: text(4000),
  icon: line(200),
  sort_order: z.int().min(-2_147_483_648).max(2_147_483_647),
  is_private: z.boolean(),
} as const;

/** The values of members that a new category or the response of a hub leaves out. */
export const categoryDefaults = { description: '', icon: '', sort_order: 0, is_private: false } as const;

const readOnly = ignored('template_count', 'access_count', 'version', 'created_at', 'updated_at');

/** The icon of a category that is written now. */
const icon = visible(categoryFields.icon);

/** A category in a catalog file. Its name and icon can be from before the rule for new names. */
export const categoryInFile = z.strictObject({
  name: storedName,
  slug: slug.optional(),
  description: categoryFields.description.default(categoryDefaults.description),
  icon: categoryFields.icon.default(categoryDefaults.icon),
  sort_order: categoryFields.sort_order.default(categoryDefaults.sort_order),
  is_private: categoryFields.is_private.default(categoryDefaults.is_private),
  ...ignored('id'),
  ...readOnly,
});

/** A new category: only `name` is required. */
export const newCategory = categoryInFile
  .extend({ name, icon: icon.default(categoryDefaults.icon) })
  .meta({ id: 'NewCategory' });

/**
 * A change of a category. Members that are left out do not change. `id` can be in the query
 * instead.
 */
export const categoryChange = z
  .strictObject({
    id: uuid.optional(),
    name: name.optional(),
    slug: slug.optional(),
    description: categoryFields.description.optional(),
    icon: icon.optional(),
    sort_order: categoryFields.sort_order.optional(),
    is_private: categoryFields.is_private.optional(),
    ...readOnly,
  })
  .meta({ id: 'CategoryChange' });
