import { z } from 'zod';
import type { FieldError } from '../shared/field-errors.ts';
import { id, line, NOT_BLANK, slug, text } from '../shared/wire.ts';

/** An advisory, as everyone who sees the template or the application receives it. */
export const advisory = z
  .object({
    id,
    severity: z.string().meta({ description: '`note`, `warning` or `critical`', examples: ['warning'] }),
    message: z.string().meta({ description: 'Plain text' }),
    url: z.string().nullable().prefault(null).meta({ description: 'An https URL with more information' }),
    first_revision: z.int(),
    last_revision: z.int().nullable().prefault(null).meta({ description: 'null: also all later revisions' }),
  })
  .meta({ id: 'Advisory', description: 'A message about the revisions of a template or an application in a range' });
export type Advisory = z.output<typeof advisory>;

interface Advice {
  readonly revision: number | null;
  readonly status: string;
  readonly status_message: string;
  readonly replacement: string | null;
  readonly advisories: Advisory[];
}

/** What readers assume for a template or an application of a hub that does not send these members. */
export const adviceDefaults: Advice = {
  revision: null,
  status: 'active',
  status_message: '',
  replacement: null,
  advisories: [],
};

/** The members that tell readers about a template or an application, beside its content. They are not part of a revision. */
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
    description:
      'The slug of the template, or of the application, to use instead. The caller may not see it, and it need not exist',
  }),
  advisories: z
    .array(advisory)
    .prefault(adviceDefaults.advisories)
    .meta({ description: 'The advisories that are not withdrawn' }),
};

/** What a publisher can send of these members. A member that is left out does not change. */
export const adviceFields = {
  status: z
    .enum(['active', 'deprecated', 'blocked'], 'must be active, deprecated or blocked')
    .optional()
    .meta({ examples: ['deprecated'] }),
  status_message: text(500)
    .optional()
    .meta({ examples: ['Use the template server-2.'] }),
  replacement: slug
    .nullable()
    .optional()
    .meta({ examples: ['server-2'] }),
};

/** The members of a template that the rules for its status compare. */
interface WithStatus {
  readonly slug?: string | undefined;
  readonly status?: string | undefined;
  readonly status_message?: string | undefined;
  readonly replacement?: string | null | undefined;
}

/** What is wrong with the status of an object of the catalog, or with its replacement. */
export const statusProblems = ({ slug: own, status, status_message = '', replacement }: WithStatus): FieldError[] => [
  ...(status === 'blocked' && status_message === ''
    ? [{ path: 'status_message', message: 'is required, because the template is blocked' }]
    : []),
  ...(replacement != null && replacement === own
    ? [{ path: 'replacement', message: 'must be the slug of another template' }]
    : []),
];

/** Refuses a new template, or a file, with such a problem. */
export const refuseStatusProblems = z.check<WithStatus>(({ value, issues }) => {
  for (const { path, message } of statusProblems(value))
    issues.push({ code: 'custom', path: [path], message, input: value });
});

/** Why a template or an application is changed, for its history and its changelog. */
export const changeMessage = text(1000).optional().meta({
  description: 'Why the content changes. Everyone who sees the object can read it in the changelog',
});

/** The largest number that a revision can have. */
export const MAX_REVISION = 2 ** 31 - 1;

export const revisionNumber = z.int().min(1).max(MAX_REVISION);

/** A link that consoles show with its host. */
const link = line(2048)
  .regex(/^https:\/\/[^/?#@]+(?:[/?#]|$)/, {
    message: 'must be an https URL without a user or a password',
    abort: true,
  })
  .refine((value) => URL.canParse(value), 'must be an https URL');

/** An advisory that is published now. */
export const newAdvisory = z
  .strictObject({
    severity: z.enum(['note', 'warning', 'critical'], 'must be note, warning or critical'),
    message: text(2000).regex(NOT_BLANK, 'must not be blank'),
    url: link.nullable().default(null),
    first_revision: revisionNumber,
    last_revision: revisionNumber.nullable().default(null).meta({ description: 'null: also all later revisions' }),
  })
  .refine(({ first_revision, last_revision }) => last_revision === null || last_revision >= first_revision, {
    path: ['last_revision'],
    message: 'must not be below the first revision',
  })
  .meta({
    id: 'NewAdvisory',
    examples: [
      {
        severity: 'critical',
        message: 'Anyone can read the data of this version. Update to 1.3.',
        url: 'https://example.com/advisories/1',
        first_revision: 1,
        last_revision: 4,
      },
    ],
  });
