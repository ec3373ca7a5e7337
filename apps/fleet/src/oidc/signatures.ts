import { type KeySource, KeysUnavailable } from '@svc/auth';
import { compactVerify, errors } from 'jose';
import { GrantRefused, ProviderUnavailable } from './errors.ts';

/** What an ID token may be signed with: nothing symmetric, and never nothing. */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

/**
 * Checks an ID token's signature; openid-client has checked all else, and would take the connection's word for the rest.
 * Rejects with GrantRefused, or with ProviderUnavailable where the key can't be had.
 */
export async function checkSignature(idToken: string, keys: KeySource): Promise<void> {
  try {
    await compactVerify(idToken, keys.keyFor, { algorithms: ALGORITHMS });
  } catch (error) {
    if (error instanceof KeysUnavailable)
      throw new ProviderUnavailable('The provider’s keys can’t be had.', { cause: error });
    // Not for good: a new key may be published later than it signs.
    if (error instanceof errors.JWKSNoMatchingKey)
      throw new ProviderUnavailable('The ID token is signed with a key that the provider does not publish.');
    if (error instanceof errors.JOSEError)
      throw new GrantRefused(`The ID token’s signature fails its check (${error.code}).`);
    // jose will not use some keys, such as RSA below 2048 bits.
    if (error instanceof TypeError)
      throw new ProviderUnavailable('A key of the provider can’t be used.', { cause: error });
    throw error;
  }
}
