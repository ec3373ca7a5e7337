import { Problem } from '@svc/http';

/** The refusals of a protected resource, with their challenges (RFC 6750, section 3). Descriptions are fixed strings. */
export interface Challenges {
  /** 401: nobody is calling where somebody must. */
  unauthenticated(): Problem;
  /** 401: unknown, expired, revoked or another service's credential, all alike. */
  invalidToken(): Problem;
  /** 400: the credential is not sent as a credential is sent. */
  malformed(detail: string): Problem;
  /** 403: somebody is calling who may not. */
  insufficientScope(detail: string): Problem;
}

/** The challenges of one realm. */
export const challengesOf = (realm: string): Challenges => ({
  unauthenticated: () =>
    new Problem('unauthenticated', 'This needs a credential: send Authorization: Bearer <token>.', {
      headers: { 'WWW-Authenticate': `Bearer realm="${realm}"` },
    }),
  invalidToken: () =>
    new Problem(
      'invalid_token',
      'The credential is not valid here: it is unknown, expired, revoked or for another service.',
      {
        headers: { 'WWW-Authenticate': `Bearer realm="${realm}", error="invalid_token"` },
      },
    ),
  malformed: (detail) =>
    new Problem('invalid_request', detail, {
      headers: { 'WWW-Authenticate': `Bearer realm="${realm}", error="invalid_request"` },
    }),
  insufficientScope: (detail) =>
    new Problem('insufficient_scope', detail, {
      headers: { 'WWW-Authenticate': `Bearer realm="${realm}", error="insufficient_scope"` },
    }),
});
