import type { SignInError } from '@svc/contract';
import { t } from '../texts/texts.ts';

/**
 * The failure of a sign-in at the identity provider, which the service states in the address of the
 * page.
 */
export interface SignInFailure {
  readonly title: string;
  readonly nextStep: string;
  /** The id of the request, with which the reason can be found in the log. */
  readonly requestId: string | undefined;
  /** The path to which the next attempt returns. */
  readonly returnTo: string;
}

type Words = Pick<SignInFailure, 'title' | 'nextStep'>;

const failures: Readonly<Record<SignInError, Words>> = {
  expired: {
    title: t('The sign-in has expired'),
    nextStep: t('It took more than ten minutes, was completed already, or began in another browser. Sign in again.'),
  },
  not_begun_here: {
    title: t('The sign-in was not begun in this browser'),
    nextStep: t('Another page or person may have begun it, so it is not used. Sign in again to continue as yourself.'),
  },
  refused: {
    title: t('The identity provider did not confirm the sign-in'),
    nextStep: t('Sign in again. If it happens again, give the request id to an administrator.'),
  },
  unavailable: {
    title: t('The sign-in is not available at the moment'),
    nextStep: t('Wait a moment, then sign in again.'),
  },
  no_role: {
    title: t('Your account has no role here'),
    nextStep: t('Ask an administrator to give your account a role at the identity provider, then sign in again.'),
  },
  not_configured: {
    title: t('The sign-in at the identity provider is not configured'),
    nextStep: t('Ask an administrator to set the identity provider and PUBLIC_URL.'),
  },
  too_many: {
    title: t('You signed in too often'),
    nextStep: t('Wait ten minutes, or continue in a browser in which you are signed in.'),
  },
  failed: {
    title: t('The sign-in failed'),
    nextStep: t('Sign in again. If it happens again, give the request id to an administrator.'),
  },
};

const isKnown = (error: string): error is SignInError => Object.hasOwn(failures, error);

/** Anybody can write a link, so only known errors and the form of a request id are shown. */
function read(search: URLSearchParams): SignInFailure | undefined {
  const error = search.get('sign_in_error') ?? '';
  if (!isKnown(error)) return undefined;
  const id = search.get('request_id') ?? '';
  const requestId = /^[\w.:-]{1,40}$/.test(id) ? id : undefined;
  // The service validates the path.
  return { ...failures[error], requestId, returnTo: search.get('return_to') ?? '/' };
}

/**
 * The failure with which the page was opened. The address no longer contains it, so that a reload
 * does not show it again.
 */
export const signInFailure = read(new URLSearchParams(location.search));
if (signInFailure) history.replaceState(null, '', location.pathname);

/** Where a sign-in returns: the current page, or the page of the failed attempt. */
export const returnPath = (): string =>
  signInFailure && location.pathname + location.search === '/'
    ? signInFailure.returnTo
    : location.pathname + location.search;
