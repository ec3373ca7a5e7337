import { z } from 'zod';

/**
 * A sign-in belongs to the page that began it: the page sends the challenge of a verifier, which it
 * keeps in the storage of its origin, and states the verifier in exchange for the session.
 */
export const challenge = z
  .string()
  .regex(/^[A-Za-z0-9\-_]{43}$/, 'must be the SHA-256 hash of a verifier in base64url (RFC 7636, S256)');

export const verifier = z.string().regex(/^[A-Za-z0-9\-._~]{43,128}$/, 'must be a PKCE code verifier (RFC 7636)');

export const finishOidcLoginBody = z.strictObject({
  code: z.string().max(4096, 'must have at most 4096 characters').meta({
    description: '`sign_in_code` in the fragment of the address to which the callback redirected',
  }),
  verifier,
});
