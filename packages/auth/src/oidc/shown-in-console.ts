import type { ProblemCode, SignInError } from '@svc/contract';
import { problemOf } from '@svc/http';
import { SignInExpired } from './problems.ts';

const ERRORS: Readonly<Partial<Record<ProblemCode, SignInError>>> = {
  invalid_grant: 'refused',
  insufficient_scope: 'no_role',
  oidc_not_configured: 'not_configured',
  browser_session_unavailable: 'not_configured',
  rate_limited: 'too_many',
  overloaded: 'unavailable',
  unavailable: 'unavailable',
  validation_failed: 'not_begun_here', // without a challenge
};

/**
 * Performs a step of a sign-in of the console. If it fails, a browser shows the reason on the page
 * for signing in. The address of the page contains one of few errors and the id of the request,
 * never text of the provider. `returnTo` is where the next attempt returns: a path of this origin.
 */
export async function shownInConsole<T>(step: () => Promise<T>, returnTo?: string): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const problem = problemOf(error);
    if (problem.page !== undefined) throw problem; // a part of the step knows where to return
    const sign_in_error = problem instanceof SignInExpired ? 'expired' : (ERRORS[problem.code] ?? 'failed');
    const known = returnTo === undefined || returnTo === '/' ? {} : { return_to: returnTo };
    throw problem.shownAt((request_id) => `/?${new URLSearchParams({ sign_in_error, request_id, ...known })}`);
  }
}
