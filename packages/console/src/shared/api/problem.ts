import { t } from '../texts/texts.ts';
import { Refused, Unreachable } from './client.ts';

export interface FieldMessage {
  readonly path: string;
  readonly message: string;
}

/** The invalid members that a problem document lists. */
export const fieldErrorsOf = (error: unknown): readonly FieldMessage[] =>
  error instanceof Refused ? (error.problem?.errors ?? []) : [];

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Refused ? error.problem?.code : undefined;

/**
 * Whether a view cannot be shown: nothing was read yet, or the object no longer exists. Otherwise
 * the view keeps what is known while reading it again fails.
 */
export const isUnavailable = ({ data, error }: { readonly data: unknown; readonly error: unknown }): boolean =>
  error !== null && (data === undefined || codeOf(error) === 'not_found');

/** What a user can do about a problem, by code. */
const nextSteps: Readonly<Record<string, string>> = {
  insufficient_scope: t('Ask an administrator for a role that permits this.'),
  organization_suspended: t('Contact the administrators of the hub.'),
  not_found: t('It may have been deleted. Go back to the list.'),
  name_taken: t('Choose another name.'),
  slug_taken: t('Choose another slug.'),
  email_taken: t('Use another e-mail address, or change the existing user.'),
  in_use: t('Remove what uses it first.'),
  version_conflict: t('Reload to see the current state, then repeat the change.'),
  rate_limited: t('Wait a moment, then try again.'),
  internal: t('Try again. If it happens again, give the request id to an administrator.'),
  hub_unreachable: t('Check the hub in the settings, and that it runs.'),
  hub_not_configured: t('Set the URL and the API key of the hub in the settings.'),
  oidc_not_configured: t('Set the identity provider in the settings.'),
  overloaded: t('Wait a moment, then try again.'),
  unavailable: t('Wait a moment, then try again.'),
  last_admin: t('Make another user an administrator first.'),
  role_managed_by_provider: t('Change the role at the identity provider.'),
  no_placement: t('See the reasons of the candidates, then change the requirements or add capacity.'),
  already_registered: t('Open the existing registration instead.'),
};

export interface ProblemWords {
  readonly title: string;
  readonly detail: string;
  readonly nextStep: string | undefined;
  readonly requestId: string | undefined;
}

/**
 * A problem as text: what is wrong, what to do, and the id with which it can be found in the log.
 */
export function wordsOf(error: unknown): ProblemWords {
  if (error instanceof Unreachable) {
    return { title: t('No response'), detail: error.message, nextStep: t('Try again.'), requestId: undefined };
  }
  if (error instanceof Refused) {
    const { problem, status } = error;
    return {
      title: problem?.title ?? t('Status {status}', { status }),
      detail: problem?.detail ?? error.message,
      nextStep: problem && nextSteps[problem.code],
      requestId: problem?.request_id,
    };
  }
  return {
    title: t('This page failed'),
    detail: error instanceof Error ? error.message : String(error),
    nextStep: t('Reload the page.'),
    requestId: undefined,
  };
}
