import { z } from 'zod';
import { anyValue } from '../../shared/list-query.ts';
import { uuid } from '../../shared/wire.ts';
import { adviceReply, advisory } from '../../template/advice.ts';

/** The severities of advisories, ascending. */
export const severities = ['note', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];

const templateStatuses = z.enum(['active', 'deprecated', 'blocked']);

/** Whether a copy of a template is like the template of the mirror. */
export const templateState = z.enum(['current', 'outdated', 'withdrawn']);

/** The filters of lists by what is known about the template of a copy. */
export const adviceFilters = {
  template_state: anyValue('template_state', templateState),
  template_status: anyValue('status of the template', templateStatuses),
  advisory: z
    .enum(severities, 'must be note, warning or critical')
    .optional()
    .meta({ description: 'With an advisory of at least this severity' }),
};

/** The same for the applications of the catalog. */
export const applicationAdviceFilters = {
  application_state: anyValue('application_state', templateState),
  application_status: anyValue('status of the application of the catalog', templateStatuses),
  advisory: adviceFilters.advisory,
};

const { status, status_message, replacement } = adviceReply;

/** What the hub says about the template of a revision of a workload, or about the application that was copied. */
export const adviceOfTemplate = z
  .object({
    status,
    status_message,
    replacement,
    advisories: z
      .array(
        advisory.extend({
          acknowledged: z.boolean().meta({ description: 'Whether a request has acknowledged it for this copy' }),
        }),
      )
      .meta({ description: 'Those about the copied revision; all of them, if `certain` is false' }),
    certain: z.boolean().meta({ description: 'Whether it is known which revision was copied' }),
  })
  .meta({
    id: 'TemplateAdvice',
    description:
      'What the hub says about the template or the application, as of the last sync, also after it has left the mirror',
  });

/** The members about the template of a copy. */
export const adviceMembers = {
  template_revision: z.int().nullable().meta({
    description: 'The revision of the template that was copied; null: no template, or not known',
  }),
  advice: adviceOfTemplate.nullable().meta({ description: 'null: no template' }),
};

/** A member of a template that differs from what a deployment runs. */
export const templateChange = z
  .object({
    member: z.string(),
    before: z.unknown().meta({ description: 'What the deployment runs' }),
    after: z.unknown().meta({ description: 'What the template has' }),
    overridden: z.boolean().meta({
      description: 'The workload sets the member itself, so that the value of the template has no effect',
    }),
  })
  .meta({ id: 'TemplateChange' });

/** The problems of a request for a copy of a template. */
export const templateRefusals = ['template_blocked', 'template_flawed'] as const;

/** The critical advisories that a request acknowledges, about a template or an application. */
export const acknowledge = z.array(uuid).max(16, 'must have at most 16 entries').meta({
  description:
    'Ids of critical advisories despite which the request is made. Others have no effect: an advisory can be withdrawn meanwhile',
});
