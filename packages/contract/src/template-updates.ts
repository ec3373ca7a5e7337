import { z } from 'zod';
import { cursorInput } from './cursor.ts';
import { documentedAs } from './openapi-schema.ts';
import { template } from './template.ts';
import { timestamp, timestampInput } from './timestamp.ts';
import { queryInteger } from './wire.ts';

/** The maximum and the default number of templates and removals on a page. */
export const MAX_UPDATES = 1000;
export const DEFAULT_UPDATES = 500;

/** Exactly one of `since`, for one complete response, and `cursor`, for pages. */
export const updatesQuery = z
  .strictObject({
    since: timestampInput.optional(),
    cursor: cursorInput.optional(),
    limit: queryInteger(1, MAX_UPDATES)
      .optional()
      .meta({
        ...documentedAs({ type: 'integer', minimum: 1, maximum: MAX_UPDATES, default: DEFAULT_UPDATES }),
        description: 'Maximum number of templates and removals on a page; only with `cursor`',
      }),
  })
  .check(({ value, issues }) => {
    const refuse = (path: string, message: string) =>
      issues.push({ code: 'custom', path: [path], message, input: value });
    if (value.since && value.cursor) refuse('cursor', 'must not be combined with since');
    if (!value.since && !value.cursor) {
      refuse(
        'since',
        'is required unless cursor is set: 1970-01-01T00:00:00Z in the first request, then the last checked_at',
      );
    }
    if (value.since && value.limit) refuse('limit', 'requires cursor; a response to since is not paged');
  });

export const templateUpdates = z.object({
  templates: z.array(template).meta({ description: 'Visible templates that are new or changed for the caller' }),
  removed: z
    .array(z.object({ id: z.string() }))
    .meta({ description: 'Templates that were visible to the caller and no longer are' }),
  checked_at: timestamp.meta({
    description: 'Catalog time up to which the caller has all changes; it advances with the last page of a walk',
  }),
  cursor: z.string().meta({ description: 'Opaque position from which to continue' }),
  reset: z.boolean().meta({ description: 'A full walk starts: at its end, remove all templates that it did not list' }),
  has_more: z.boolean().meta({ description: 'More pages are available' }),
});
export type TemplateUpdates = z.output<typeof templateUpdates>;
