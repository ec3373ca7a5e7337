/**
 * Why a sign-in of the console at the identity provider failed: the values of `sign_in_error` in
 * the address of its page.
 */
export const signInErrors = [
  'expired',
  'not_begun_here',
  'refused',
  'unavailable',
  'no_role',
  'not_configured',
  'too_many',
  'failed',
] as const;

export type SignInError = (typeof signInErrors)[number];

/** How the failure of a sign-in is shown, for the OpenAPI documents. */
export const SIGN_IN_FAILURE = `If a sign-in of the console fails, a request that accepts \`text/html\` is redirected to \`/?sign_in_error=...&request_id=...\` with one of ${signInErrors.map((error) => `\`${error}\``).join(', ')}`;
