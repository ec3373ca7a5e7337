const KEY = 'invitation';
const PREFIX = '#invitation=';

/**
 * The address to which an invited user is led. The code is in the fragment, which browsers do not
 * send: it reaches neither logs nor the stored path to which a sign-in returns.
 */
export const invitationLink = (code: string): string =>
  `${location.origin}/organization${PREFIX}${encodeURIComponent(code)}`;

/** Moves a code from the address to the storage of the tab, where a sign-in does not lose it. */
function takeFromAddress(): boolean {
  if (location.pathname !== '/organization' || !location.hash.startsWith(PREFIX)) return false;
  sessionStorage.setItem(KEY, new URLSearchParams(location.hash.slice(1)).get('invitation') ?? '');
  history.replaceState(null, '', location.pathname + location.search);
  return true;
}

takeFromAddress();
addEventListener('hashchange', () => {
  // The link was opened in a tab that shows the page already.
  if (takeFromAddress()) location.reload();
});

/** The code of the link that was opened in this tab; empty without one. */
export const invitationCode = (): string => sessionStorage.getItem(KEY) ?? '';

export const forgetInvitation = (): void => sessionStorage.removeItem(KEY);
