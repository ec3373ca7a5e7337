import { hubOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { UsageError } from '../errors.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { type RevisedKind, revisedId } from '../names.ts';
import { ageOf, print } from '../output.ts';
import { oneLine } from '../text.ts';

interface OfKind extends Common {
  /** What the slug is of. */
  readonly kind: RevisedKind;
}

interface HistoryOptions extends OfKind {
  readonly limit: number;
}

/** Lists the revisions of a template or an application, also of a deleted one. */
export const history: Action<HistoryOptions> = async ([slug = ''], { limit, kind, ...options }) => {
  const hub = hubOf(options);
  const params = { path: { id: await revisedId(hub, kind, slug) }, query: { limit } };
  const { revisions } = await reply(
    kind === 'template'
      ? hub.GET('/api/v1/admin/templates/{id}/revisions', { params })
      : hub.GET('/api/v1/admin/applications/{id}/revisions', { params }),
  );
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

interface RestoreOptions extends OfKind {
  readonly message?: string;
}

const numberOf = (text: string): number => {
  if (!/^\d{1,10}$/.test(text)) throw new UsageError('The revision must be a number.');
  return Number(text);
};

/** Gives a template or an application the content of an earlier revision, also if it was deleted. */
export const restore: Action<RestoreOptions> = async ([slug = '', text = ''], { message, kind, ...options }) => {
  requireConsent(options);
  const revision = numberOf(text);
  const hub = hubOf(options);
  const params = { path: { id: await revisedId(hub, kind, slug) } };
  await confirm(`Restore revision ${revision} of ${oneLine(slug)}?`, options);
  const body = { revision, ...given({ message }) };
  const restored =
    kind === 'template'
      ? (await reply(hub.POST('/api/v1/admin/templates/{id}/restore', { params, body }))).template
      : (await reply(hub.POST('/api/v1/admin/applications/{id}/restore', { params, body }))).application;
  await print(restored, {
    format: options.output,
    as: () => `The ${kind} ${restored.slug} has the content of revision ${revision}: revision ${restored.revision}.`,
  });
  return undefined;
};

const SEVERITIES = ['note', 'warning', 'critical'] as const;

interface AdviseOptions extends OfKind {
  readonly severity: string;
  readonly message: string;
  readonly from: number;
  readonly to?: number;
  readonly url?: string;
}

/** Publishes an advisory about revisions of a template or an application. */
export const advise: Action<AdviseOptions> = async ([slug = ''], options) => {
  requireConsent(options);
  const { message, from, to, url, kind } = options;
  const severity = SEVERITIES.find((one) => one === options.severity);
  if (!severity) throw new UsageError(`The severity must be ${SEVERITIES.join(', ')}.`);
  const hub = hubOf(options);
  const params = { path: { id: await revisedId(hub, kind, slug) } };
  await confirm(`Publish the advisory about ${oneLine(slug)}? Everyone who sees the ${kind} can read it.`, options);
  const body = { severity, message, first_revision: from, ...given({ last_revision: to, url }) };
  const { advisory } = await reply(
    kind === 'template'
      ? hub.POST('/api/v1/admin/templates/{id}/advisories', { params, body })
      : hub.POST('/api/v1/admin/applications/{id}/advisories', { params, body }),
  );
  await print(advisory, { format: options.output, as: () => advisory.id });
  return undefined;
};

/** Withdraws an advisory. */
export const withdrawAdvisory: Action<OfKind> = async ([slug = '', advisory_id = ''], { kind, ...options }) => {
  requireConsent(options);
  const hub = hubOf(options);
  const params = { path: { id: await revisedId(hub, kind, slug), advisory_id } };
  await confirm(`Withdraw the advisory about ${oneLine(slug)}?`, options);
  await reply(
    kind === 'template'
      ? hub.DELETE('/api/v1/admin/templates/{id}/advisories/{advisory_id}', { params })
      : hub.DELETE('/api/v1/admin/applications/{id}/advisories/{advisory_id}', { params }),
  );
  await print({ id: advisory_id, withdrawn: true }, { format: options.output, as: () => 'Withdrawn.' });
  return undefined;
};
