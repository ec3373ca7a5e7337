import type { SignInError } from '@svc/contract';
import { base64url } from './base64url.ts';
import { Refused } from './client.ts';

/**
 * A sign-in at the identity provider belongs to the tab that began it, which keeps a verifier in
 * its storage. Pages on other ports of the host share cookies, but not this storage, so that they
 * cannot make the browser complete a sign-in that they began.
 */
const VERIFIER = 'sign-in-verifier';

/** After this time, in milliseconds, a request without a response is sent again. */
const RETRY_MS = 500;

/** The challenge of this tab, for a sign-in that begins. */
export async function challengeOfTab(): Promise<string> {
  const verifier = sessionStorage.getItem(VERIFIER) ?? base64url(crypto.getRandomValues(new Uint8Array(32)));
  sessionStorage.setItem(VERIFIER, verifier);
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

/**
 * Completes the sign-in with whose code the page was opened. If this tab did not begin it, the page
 * for signing in states it.
 * @param send exchanges the code and the verifier for the session
 */
export async function finishSignIn(
  send: (body: { code: string; verifier: string }) => Promise<unknown>,
): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('sign_in_code');
  if (code === null) return;
  const page = location.pathname + location.search;
  history.replaceState(null, '', page);
  const verifier = sessionStorage.getItem(VERIFIER);
  if (verifier === null) return showFailure('not_begun_here', page);
  try {
    // A browser aborts its requests when the network of its machine changes.
    await send({ code, verifier }).catch(async (error: unknown) => {
      if (error instanceof Refused) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      return send({ code, verifier });
    });
    sessionStorage.removeItem(VERIFIER);
  } catch (error) {
    const status = error instanceof Refused ? error.status : undefined;
    showFailure(status === 401 ? 'not_begun_here' : status === 403 ? 'no_role' : 'unavailable', page);
  }
}

function showFailure(sign_in_error: SignInError, page: string): void {
  location.replace(`/?${new URLSearchParams({ sign_in_error, return_to: page })}`);
}
