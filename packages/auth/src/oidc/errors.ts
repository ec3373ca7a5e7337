import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';

/**
 * The provider or a validation by the fleet rejects the grant permanently. The message contains no
 * text that the provider or caller sent.
 */
export class GrantRefused extends Error {
  override name = 'GrantRefused';
}

/**
 * The provider sent no usable response. The call can be retried. The message is for the log, and
 * contains no secret.
 */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
  /**
   * What the provider rejected, if it sent an error response: the client authentication or the
   * request.
   */
  readonly refuses: 'client' | 'request' | undefined;
  constructor(message: string, { refuses, ...options }: ErrorOptions & { refuses?: 'client' | 'request' } = {}) {
    super(message, options);
    this.refuses = refuses;
  }
}

/** Error codes of RFC 6749, sections 4.1.2.1 and 5.2. Messages do not include other codes. */
const NAMED = [
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'server_error',
  'temporarily_unavailable',
];

/**
 * Translates an error of openid-client to GrantRefused or ProviderUnavailable. Returns any other
 * error unchanged.
 */
export function failureOf(error: unknown): unknown {
  if (error instanceof ResponseBodyError) return ofTokenEndpoint(error);
  if (error instanceof AuthorizationResponseError) return ofCallback(error.error);
  if (error instanceof ClientError) return ofCheck(error);
  return error;
}

/**
 * Whether the provider rejected the client authentication. Keycloak responds with
 * unauthorized_client to a wrong secret.
 */
export const isClientRefused = (error: unknown): boolean =>
  error instanceof ResponseBodyError &&
  (error.error === 'invalid_client' || (error.error === 'unauthorized_client' && error.status === 401));

function ofTokenEndpoint(error: ResponseBodyError): Error {
  if (error.error === 'invalid_grant') return new GrantRefused('The provider refuses the code or the refresh token.');
  if (isClientRefused(error))
    return new ProviderUnavailable('The provider refuses this client: the client id or the client secret is wrong.', {
      refuses: 'client',
    });
  const message = `The provider refuses the request (${error.status}, ${nameOf(error.error)}).`;
  return new ProviderUnavailable(message, { refuses: 'request' });
}

function ofCallback(error: string): Error {
  const message = `The provider ended the sign-in with an error (${nameOf(error)}).`;
  return NAMED.includes(error) ? new ProviderUnavailable(message) : new GrantRefused(message);
}

const nameOf = (error: string) => (NAMED.includes(error) || error === 'access_denied' ? error : 'another error');

/** Error codes of openid-client for unusable metadata or an unusable response. */
const UNUSABLE = [
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
];

function ofCheck(error: ClientError): Error {
  const { cause } = error;
  // Thrown by the custom fetch, and wrapped by openid-client.
  if (cause instanceof ProviderUnavailable) return cause;
  // A constant text of the library.
  const reason = cause instanceof Error ? cause.message : error.message;
  const status = cause instanceof Response ? ` (${cause.status})` : '';
  if (UNUSABLE.includes(error.code ?? '') || isAboutBody(cause))
    return new ProviderUnavailable(`The response of the provider cannot be used${status}: ${reason}.`);
  return new GrantRefused(`The response of the provider is invalid: ${reason}.`);
}

/**
 * Whether the cause is an incomplete token response, as opposed to an invalid ID token or callback.
 */
const isAboutBody = (cause: unknown) =>
  cause instanceof Error && typeof cause.cause === 'object' && cause.cause !== null && 'body' in cause.cause;
