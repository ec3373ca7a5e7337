import { z } from 'zod';
import { cursorInput } from './cursor.ts';
import { shownAs } from './shown.ts';
import { template } from './template.ts';
import { timestamp, timestampInput } from './timestamp.ts';
import { wholeNumber } from './wire.ts';

/** Templates and removals that one page holds at most, and unless its caller says otherwise. */
export const MAX_UPDATES = 1000;
export const DEFAULT_UPDATES = 500;

/** `since` for whole answers, or `cursor` for pages: exactly one of them. */
export const updatesQuery = z
  .strictObject({
    since: timestampInput.optional(),
    cursor: cursorInput.optional(),
    limit: wholeNumber(1, MAX_UPDATES)
      .optional()
      .meta({
        ...shownAs({ type: 'integer', minimum: 1, maximum: MAX_UPDATES, default: DEFAULT_UPDATES }),
        description: 'With `cursor` only: templates and removals of one page',
      }),
  })
  .check(({ value, issues }) => {
    const refuse = (path: string, message: string) =>
      issues.push({ code: 'custom', path: [path], message, input: value });
    if (value.since && value.cursor) refuse('cursor', 'must not be given beside since: choose one of the two');
    if (!value.since && !value.cursor) {
      refuse('since', `is required: 1970-01-01T00:00:00Z the first time, then the last checked_at (or use cursor)`);
    }
    if (value.since && value.limit) refuse('limit', 'goes with cursor only: an answer to since is whole');
  });

export const templateUpdates = z.object({
  templates: z.array(template).meta({ description: 'Visible now, and new or changed for the caller since then' }),
  removed: z
    .array(z.object({ id: z.string() }))
    .meta({ description: 'Seen by the caller before, and no longer visible' }),
  checked_at: timestamp.meta({
    description: 'The catalog’s time up to which the caller has everything; it moves with the last page of a walk',
  }),
  cursor: z.string().meta({ description: 'Where to go on; opaque' }),
  reset: z.boolean().meta({ description: 'This begins from nothing: drop whatever is not listed by the end of it' }),
  has_more: z.boolean().meta({ description: 'More pages follow at once' }),
});
export type TemplateUpdates = z.output<typeof templateUpdates>;
