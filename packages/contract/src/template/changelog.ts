import { z } from 'zod';
import { timestamp } from '../shared/timestamp.ts';

/** A change of the content of a template or an application, as everyone who sees it receives it. */
export const changelogEntry = z
  .object({
    revision: z.int(),
    version: z.string().meta({ description: '`version` of the content' }),
    at: timestamp,
    message: z.string().meta({ description: 'Why the content changed, as plain text; can be empty' }),
    changed: z.array(z.string()).nullable().meta({
      description: 'The members that changed. null: the caller does not see the content before, or it is not known',
    }),
  })
  .meta({ id: 'ChangelogEntry' });
export type ChangelogEntry = z.output<typeof changelogEntry>;
