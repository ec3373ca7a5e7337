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
import { type KeySource, KeysUnavailable } from '../key-source.ts';
import { failureOf, GrantRefused, isClientRefused, ProviderUnavailable } from './errors.ts';
import type { Metadata } from './metadata.ts';
import { customFetchOver, isSecure } from './provider-fetch.ts';

/** The settings of the identity provider and of the client of the fleet there. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /**
   * An audience of access tokens that are JWTs. Without an audience and a resource, no JWT is
   * accepted.
   */
  readonly audience?: string | undefined;
  /**
   * The URL of the MCP endpoint: the audience of access tokens that clients of it request (RFC
   * 8707).
   */
  readonly resource?: string | undefined;
  /** The longest time until the expiry of an access token, in hours. Default: 24. */
  readonly maxTokenHours?: number | undefined;
  /**
   * Whether opaque access tokens can be verified with userinfo, which does not show for which
   * client they were issued.
   */
  readonly allowUserinfo: boolean;
  /** Whether sign-ins request a refresh token. Default: true. */
  readonly offlineAccess?: boolean;
}

/**
 * The accepted signature algorithms of ID tokens. Symmetric algorithms and `none` are not accepted.
 */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

/**
 * Verifies the signature of an ID token. openid-client validates everything else, but relies on TLS
 * instead of the signature. Rejects with GrantRefused, or with ProviderUnavailable if the key
 * cannot be fetched or used.
 */
export async function checkSignature(idToken: string, keys: KeySource): Promise<void> {
  try {
    const verify = () => compactVerify(idToken, keys.keyFor, { algorithms: ALGORITHMS });
    await verify().catch(async (error: unknown) => {
      const isOtherKey = error instanceof errors.JWSSignatureVerificationFailed;
      if (isOtherKey && (await keys.refetch())) return verify();
      throw error;
    });
  } catch (error) {
    if (error instanceof KeysUnavailable)
      throw new ProviderUnavailable('The provider’s keys could not be fetched.', { cause: error });
    // This error can be temporary: a provider may publish a new key after it begins to sign with
    // it.
    if (error instanceof errors.JWKSNoMatchingKey)
      throw new ProviderUnavailable('The ID token is signed with a key that the provider does not publish.');
    if (error instanceof errors.JOSEError)
      throw new GrantRefused(`The signature of the ID token is invalid (${error.code}).`);
    // jose rejects some keys, such as RSA keys with less than 2048 bits.
    if (error instanceof TypeError)
      throw new ProviderUnavailable('A key of the provider cannot be used.', { cause: error });
    throw error;
  }
}

/** A call of openid-client. */
type Use<T> = (configuration: Configuration) => T | Promise<T>;

export interface Client {
  metadata(): Promise<Metadata>;
  /**
   * Runs a call of openid-client. The members of `form` replace those of the form that it sends,
   * without normalization. Rejects with GrantRefused or ProviderUnavailable.
   */
  call<T>(use: Use<T>, form?: Readonly<Record<string, string>>): Promise<T>;
}

interface ClientOptions {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly metadata: () => Promise<Metadata>;
  readonly send: Send;
}

/**
 * Creates the client of the fleet at the provider. It uses the first authentication method that the
 * provider accepts.
 */
export function createClient({ clientId, clientSecret, metadata, send }: ClientOptions): Client {
  let preferred: AuthMethod | undefined;

  const attempt = async <T>(use: Use<T>, form?: Readonly<Record<string, string>>): Promise<T> => {
    const known = await metadata();
    const configured = (auth: ClientAuth) => {
      const server = { ...known, id_token_signing_alg_values_supported: ALGORITHMS };
      // Optional members can be present with the value undefined, which has the same meaning.
      const configuration = new Configuration(server as ServerMetadata, clientId, undefined, auth);
      configuration[customFetch] = customFetchOver(send, form);
      if (!isSecure(known.issuer)) allowInsecureRequests(configuration);
      return configuration;
    };
    if (clientSecret === undefined) return use(configured(None()));
    const [first, second] = methodsOf(known, preferred);
    try {
      return await use(configured(methods[first](clientSecret)));
    } catch (error) {
      if (second === undefined || !isClientRefused(error)) throw error;
      const response = await use(configured(methods[second](clientSecret)));
      preferred = second;
      return response;
    }
  };
  return {
    metadata,
    call: (use, form) =>
      attempt(use, form).catch((error: unknown) => {
        throw failureOf(error);
      }),
  };
}

const methods = { client_secret_basic: ClientSecretBasic, client_secret_post: ClientSecretPost };
type AuthMethod = keyof typeof methods;

/**
 * The implemented authentication methods that the provider supports, in the order in which to try
 * them. If the metadata do not list any, the method is client_secret_basic (RFC 8414, section 2).
 */
function methodsOf(metadata: Metadata, preferred: AuthMethod | undefined): readonly [AuthMethod, AuthMethod?] {
  const offered = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  if (!offered.includes('client_secret_post')) return ['client_secret_basic'];
  if (!offered.includes('client_secret_basic')) return ['client_secret_post'];
  return preferred === 'client_secret_post'
    ? ['client_secret_post', 'client_secret_basic']
    : ['client_secret_basic', 'client_secret_post'];
}
