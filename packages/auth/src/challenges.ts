import { Problem } from '@svc/http';

/** A service refuses a token, and states the reason to the caller: the message. */
export class TokenRefused extends Error {
  override name = 'TokenRefused';
}

/** The problems of a protected resource, with their challenges (RFC 6750, section 3). */
export interface Challenges {
  /** 401: the request has no credential. */
  unauthenticated(): Problem;
  /**
   * 401: the credential is unknown, expired, revoked or for another service. The response does not
   * state which, unless it has a detail.
   */
  invalidToken(detail?: string): Problem;
  /** 400: the credential is malformed. */
  malformed(detail: string): Problem;
  /** 403: the principal is not permitted. */
  insufficientScope(detail: string): Problem;
}

/** The challenges of one realm. */
export const challengesOf = (realm: string): Challenges => ({
  unauthenticated: () =>
    new Problem('unauthenticated', 'Authentication is required. Send the header Authorization: Bearer <token>.', {
      headers: { 'WWW-Authenticate': `Bearer realm="${realm}"` },
    }),
  invalidToken: (detail = 'The credential is unknown, expired, revoked or for another service.') =>
    new Problem('invalid_token', detail, {
      headers: { 'WWW-Authenticate': `Bearer realm="${realm}", error="invalid_token"` },
    }),
  malformed: (detail) =>
    new Problem('invalid_request', detail, {
      headers: { 'WWW-Authenticate': `Bearer realm="${realm}", error="invalid_request"` },
    }),
  insufficientScope: (detail) =>
    new Problem('insufficient_scope', detail, {
      headers: { 'WWW-Authenticate': `Bearer realm="${realm}", error="insufficient_scope"` },
    }),
});
