import { returnPath } from '../../shared/api/sign-in-failure.ts';
import { hub, sessionGate } from '../api.ts';
import { forgetInvitation } from '../organization/invitation.ts';

sessionGate.onSignIn(() => void hub.queries.invalidateQueries());

/** Starts a sign-in at the identity provider, which returns to the current page. */
export function signIn(): void {
  location.assign(hub.urlOf('startOidcLogin', { query: { return_to: returnPath() } }));
}

/** Signs in in another window, so that the current page keeps its state. */
export function signInInWindow(): void {
  open(hub.urlOf('startOidcLogin', { query: { return_to: '/signed-in' } }), '_blank', 'popup,width=520,height=680');
}

/**
 * Signs out of this browser, or of all browsers. The page loads again, so that nothing of the
 * session stays in memory.
 */
export async function signOut(everywhere = false): Promise<void> {
  await hub.call(everywhere ? 'endOwnSessions' : 'endBrowserSession');
  forgetInvitation();
  sessionGate.announceSignOut();
  location.assign('/');
}
