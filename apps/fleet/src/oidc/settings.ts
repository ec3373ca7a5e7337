/** The settings of the identity provider and of the client of the fleet there. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** The required audience of access tokens that are JWTs. Without an audience, no JWT is accepted. */
  readonly audience?: string | undefined;
  /** Whether opaque access tokens can be verified with userinfo, which does not show for which client they were issued. */
  readonly allowUserinfo: boolean;
}
