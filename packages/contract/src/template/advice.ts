import { z } from 'zod';
import { id } from '../shared/wire.ts';

/** An advisory, as everyone who sees the template receives it. */
export const advisory = z
  .object({
    id,
    severity: z.string().meta({ description: '`note`, `warning` or `critical`', examples: ['warning'] }),
    message: z.string().meta({ description: 'Plain text' }),
    url: z.string().nullable().prefault(null).meta({ description: 'An https URL with more information' }),
    first_revision: z.int(),
    last_revision: z.int().nullable().prefault(null).meta({ description: 'null: also all later revisions' }),
  })
  .meta({ id: 'Advisory', description: 'A message about the revisions of a template in a range' });
export type Advisory = z.output<typeof advisory>;

interface Advice {
  readonly revision: number | null;
  readonly status: string;
  readonly status_message: string;
  readonly replacement: string | null;
  readonly advisories: Advisory[];
}

/** What readers assume for a template of a hub that does not send these members. */
export const adviceDefaults: Advice = {
  revision: null,
  status: 'active',
  status_message: '',
  replacement: null,
  advisories: [],
};

/** The members that tell readers about a template, beside its content. They are not part of a revision. */
export const adviceReply = {
  revision: z.int().nullable().prefault(adviceDefaults.revision).meta({
    description:
      'The number of the newest revision of the content. It increases with each change of the content, with gaps. null: the hub is of a version without revisions',
  }),
  status: z
    .string()
    .prefault(adviceDefaults.status)
    .meta({ description: '`active`, `deprecated` or `blocked`', examples: ['active'] }),
  status_message: z
    .string()
    .prefault(adviceDefaults.status_message)
    .meta({ description: 'The reason for the status, as plain text' }),
  replacement: z.string().nullable().prefault(adviceDefaults.replacement).meta({
    description: 'The slug of the template to use instead. The caller may not see it, and it need not exist',
  }),
  advisories: z
    .array(advisory)
    .prefault(adviceDefaults.advisories)
    .meta({ description: 'The advisories that are not withdrawn' }),
};
