import { type KeySource, KeysUnavailable } from '@svc/auth';
import type { Send } from '@svc/contract';
import { compactVerify, errors } from 'jose';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  None,
  type ServerMetadata,
} from 'openid-client';
import { failureOf, GrantRefused, isClientRefused, ProviderUnavailable } from './errors.ts';
import type { Metadata, MetadataSource } from './metadata.ts';
import { fetchBy, isSecure } from './provider-fetch.ts';

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

/** One call of openid-client. */
type Use<T> = (configuration: Configuration) => T | Promise<T>;

export interface Client {
  metadata(): Promise<Metadata>;
  /**
   * Runs a call of openid-client, with members that its form has to the letter.
   * Rejects with GrantRefused or ProviderUnavailable.
   */
  call<T>(use: Use<T>, form?: Readonly<Record<string, string>>): Promise<T>;
}

interface ClientOptions {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly metadata: MetadataSource;
  readonly send: Send;
}

/** The client that we are at the provider. It finds out by which of the offered ways the provider takes our secret. */
export function createClient({ clientId, clientSecret, metadata, send }: ClientOptions): Client {
  let preferred: AuthMethod | undefined;

  const attempt = async <T>(use: Use<T>, form?: Readonly<Record<string, string>>): Promise<T> => {
    const known = await metadata.get();
    const configured = (auth: ClientAuth) => {
      const server = { ...known, id_token_signing_alg_values_supported: ALGORITHMS };
      // Optional members may also be undefined here, which reads the same.
      const configuration = new Configuration(server as ServerMetadata, clientId, undefined, auth);
      configuration[customFetch] = fetchBy(send, form);
      if (!isSecure(known.issuer)) allowInsecureRequests(configuration);
      return configuration;
    };
    if (clientSecret === undefined) return use(configured(None()));
    const [first, second] = methodsOf(known, preferred);
    try {
      return await use(configured(methods[first](clientSecret)));
    } catch (error) {
      if (second === undefined || !isClientRefused(error)) throw error;
      const answer = await use(configured(methods[second](clientSecret)));
      preferred = second;
      return answer;
    }
  };
  return {
    metadata: () => metadata.get(),
    call: (use, form) =>
      attempt(use, form).catch((error: unknown) => {
        throw failureOf(error);
      }),
  };
}

const methods = { client_secret_basic: ClientSecretBasic, client_secret_post: ClientSecretPost };
type AuthMethod = keyof typeof methods;

/** Those of our ways to authenticate that the provider offers, the likeliest first; without a word it is Basic (RFC 8414). */
function methodsOf(metadata: Metadata, preferred: AuthMethod | undefined): readonly [AuthMethod, AuthMethod?] {
  const offered = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  if (!offered.includes('client_secret_post')) return ['client_secret_basic'];
  if (!offered.includes('client_secret_basic')) return ['client_secret_post'];
  return preferred === 'client_secret_post'
    ? ['client_secret_post', 'client_secret_basic']
    : ['client_secret_basic', 'client_secret_post'];
}
