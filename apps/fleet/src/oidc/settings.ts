/** How the fleet knows its provider, and is known there. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** Of access tokens that are JWTs; without one none is accepted. */
  readonly audience?: string | undefined;
  /** Whether an opaque access token may be proved by userinfo, which can't say for whom it was issued. */
  readonly allowUserinfo: boolean;
}
