import { challengeOfTab } from '../../shared/api/begun-sign-in.ts';
import { returnPath } from '../../shared/api/sign-in-failure.ts';
import { fleet, sessionGate, sessionQuery } from '../api.ts';

sessionGate.onSignIn(() => void fleet.queries.invalidateQueries());

/** Starts a sign-in at the identity provider, which returns to the current page. */
export const signInAtProvider = async (): Promise<void> => location.assign(await startingAt(returnPath()));

/** Signs in in another window, so that the current page keeps its state. */
export async function signInInWindow(): Promise<void> {
  open(await startingAt('/signed-in'), '_blank', 'popup,width=520,height=680');
}

const startingAt = async (return_to: string) =>
  fleet.urlOf('startOidcLogin', { query: { session: 'cookie', return_to, challenge: await challengeOfTab() } });

type Credentials = Readonly<{ password: string } & ({ email: string } | { username: string })>;

export async function signInLocally(credentials: Credentials): Promise<void> {
  const session = await fleet.call('openBrowserSession', { body: credentials });
  if (sessionGate.note(session.user)) fleet.queries.setQueryData(sessionQuery.queryKey, session);
  sessionGate.announceSignIn();
}

/**
 * Signs out of this browser, or of all browsers. The page loads again, so that nothing of the
 * session stays in memory.
 */
export async function signOut(everywhere = false): Promise<void> {
  await fleet.call(everywhere ? 'endOwnSessions' : 'endBrowserSession');
  sessionGate.announceSignOut();
  location.assign('/');
}

/**
 * Resolves at once if the user is signed in, and otherwise after the next sign-in, for which the
 * page asks.
 */
export async function whenSignedIn(): Promise<void> {
  const session = await fleet.call('getBrowserSession').catch(() => undefined);
  if (session) sessionGate.note(session.user);
  if (session?.user === null) await sessionGate.wait();
}
