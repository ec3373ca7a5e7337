import { returnPath } from '../../shared/api/sign-in-failure.ts';
import { fleet, sessionGate, sessionQuery } from '../api.ts';

sessionGate.onSignIn(() => void fleet.queries.invalidateQueries());

/** Starts a sign-in at the identity provider, which returns to the current page. */
export function signInAtProvider(): void {
  location.assign(fleet.urlOf('startOidcLogin', { query: { session: 'cookie', return_to: returnPath() } }));
}

/** Signs in in another window, so that the current page keeps its state. */
export function signInInWindow(): void {
  open(
    fleet.urlOf('startOidcLogin', { query: { session: 'cookie', return_to: '/signed-in' } }),
    '_blank',
    'popup,width=520,height=680',
  );
}

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
