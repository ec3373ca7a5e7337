import { hubOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { UsageError } from '../errors.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { templateId } from '../names.ts';
import { ageOf, print } from '../output.ts';
import { oneLine } from '../text.ts';

interface HistoryOptions extends Common {
  readonly limit: number;
}

/** Lists the revisions of a template, also of a deleted one. */
export const history: Action<HistoryOptions> = async ([slug = ''], { limit, ...options }) => {
  const hub = hubOf(options);
  const params = { path: { id: await templateId(hub, slug) }, query: { limit } };
  const { revisions } = await reply(hub.GET('/api/v1/admin/templates/{id}/revisions', { params }));
  await print(revisions, {
    format: options.output,
    as: () => ({
      columns: ['REVISION', 'AGE', 'AUTHOR', 'CHANGED', 'MESSAGE'],
      rows: revisions.map(({ revision, at, author, deleted, changed, message }) => [
        `${revision}`,
        ageOf(at),
        author,
        deleted ? 'deleted' : changed.join(','),
        oneLine(message),
      ]),
    }),
  });
  return undefined;
};

interface RestoreOptions extends Common {
  readonly message?: string;
}

const numberOf = (text: string): number => {
  if (!/^\d{1,10}$/.test(text)) throw new UsageError('The revision must be a number.');
  return Number(text);
};

/** Gives a template the content of an earlier revision, also if it was deleted. */
export const restore: Action<RestoreOptions> = async ([slug = '', text = ''], { message, ...options }) => {
  requireConsent(options);
  const revision = numberOf(text);
  const hub = hubOf(options);
  const path = { id: await templateId(hub, slug) };
  await confirm(`Restore revision ${revision} of ${oneLine(slug)}?`, options);
  const body = { revision, ...given({ message }) };
  const { template } = await reply(hub.POST('/api/v1/admin/templates/{id}/restore', { params: { path }, body }));
  await print(template, {
    format: options.output,
    as: () => `The template ${template.slug} has the content of revision ${revision}: revision ${template.revision}.`,
  });
  return undefined;
};

const SEVERITIES = ['note', 'warning', 'critical'] as const;

interface AdviseOptions extends Common {
  readonly severity: string;
  readonly message: string;
  readonly from: number;
  readonly to?: number;
  readonly url?: string;
}

/** Publishes an advisory about revisions of a template. */
export const advise: Action<AdviseOptions> = async ([slug = ''], options) => {
  requireConsent(options);
  const { message, from, to, url } = options;
  const severity = SEVERITIES.find((one) => one === options.severity);
  if (!severity) throw new UsageError(`The severity must be ${SEVERITIES.join(', ')}.`);
  const hub = hubOf(options);
  const path = { id: await templateId(hub, slug) };
  await confirm(`Publish the advisory about ${oneLine(slug)}? Everyone who sees the template can read it.`, options);
  const body = { severity, message, first_revision: from, ...given({ last_revision: to, url }) };
  const { advisory } = await reply(hub.POST('/api/v1/admin/templates/{id}/advisories', { params: { path }, body }));
  await print(advisory, { format: options.output, as: () => advisory.id });
  return undefined;
};

/** Withdraws an advisory. */
export const withdrawAdvisory: Action = async ([slug = '', advisory_id = ''], options) => {
  requireConsent(options);
  const hub = hubOf(options);
  const path = { id: await templateId(hub, slug), advisory_id };
  await confirm(`Withdraw the advisory about ${oneLine(slug)}?`, options);
  await reply(hub.DELETE('/api/v1/admin/templates/{id}/advisories/{advisory_id}', { params: { path } }));
  await print({ id: advisory_id, withdrawn: true }, { format: options.output, as: () => 'Withdrawn.' });
  return undefined;
};
