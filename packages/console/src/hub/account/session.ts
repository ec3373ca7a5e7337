import { challengeOfTab } from '../../shared/api/begun-sign-in.ts';
import { returnPath } from '../../shared/api/sign-in-failure.ts';
import { hub, sessionGate } from '../api.ts';
import { forgetInvitation } from '../organization/invitation.ts';

sessionGate.onSignIn(() => void hub.queries.invalidateQueries());

/** Starts a sign-in at the identity provider, which returns to the current page. */
export const signIn = async (): Promise<void> => location.assign(await startingAt(returnPath()));

/** Signs in in another window, so that the current page keeps its state. */
export async function signInInWindow(): Promise<void> {
  open(await startingAt('/signed-in'), '_blank', 'popup,width=520,height=680');
}

const startingAt = async (return_to: string) =>
  hub.urlOf('startOidcLogin', { query: { return_to, challenge: await challengeOfTab() } });

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
