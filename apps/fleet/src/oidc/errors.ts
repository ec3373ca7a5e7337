import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';

/** The provider, or a check of ours, says no: for good. The message holds nothing that the other side sent. */
export class GrantRefused extends Error {
  override name = 'GrantRefused';
}

/** The provider gave no answer that can be used: to be tried again. The message is for the log, and holds no secret. */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
  /** What the provider does not take, where it answered so much: who we are, or what we ask. */
  readonly refuses: 'client' | 'request' | undefined;
  constructor(message: string, { refuses, ...options }: ErrorOptions & { refuses?: 'client' | 'request' } = {}) {
    super(message, options);
    this.refuses = refuses;
  }
}

/** Errors by name that the specifications know (RFC 6749, sections 4.1.2.1 and 5.2); others are not repeated. */
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

/** What openid-client threw, as one of the two errors above; anything else is thrown as it is. */
export function failureOf(error: unknown): unknown {
  if (error instanceof ResponseBodyError) return ofTokenEndpoint(error);
  if (error instanceof AuthorizationResponseError) return ofCallback(error.error);
  if (error instanceof ClientError) return ofCheck(error);
  return error;
}

/** Whether the provider does not take us for the client that we say we are. Keycloak has its own name for a wrong secret. */
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

/** Codes of openid-client that speak of the provider's metadata or of its answer as a whole. */
const UNUSABLE = [
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
];

function ofCheck(error: ClientError): Error {
  const { cause } = error;
  if (cause instanceof ProviderUnavailable) return cause; // thrown where the request left, and wrapped on its way up
  const reason = cause instanceof Error ? cause.message : error.message; // the library's fixed words
  const status = cause instanceof Response ? ` (${cause.status})` : '';
  if (UNUSABLE.includes(error.code ?? '') || isAboutBody(cause))
    return new ProviderUnavailable(`The provider’s answer can’t be used${status}: ${reason}.`);
  return new GrantRefused(`The provider’s answer fails a check: ${reason}.`);
}

/** A token answer that lacks something, rather than an ID token or a callback that is not right. */
const isAboutBody = (cause: unknown) =>
  cause instanceof Error && typeof cause.cause === 'object' && cause.cause !== null && 'body' in cause.cause;
