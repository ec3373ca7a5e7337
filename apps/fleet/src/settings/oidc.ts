import type { FleetRole } from '@svc/contract/fleet';
import { type Layered, layer, type Some, type Source, secretFor } from './layers.ts';
import type { Stored } from './store.ts';

/** How people of an identity provider sign in, and what they may. */
export interface OidcValues {
  readonly issuer: string | null;
  readonly client_id: string | null;
  /** Of access tokens of the provider; without one none is accepted. */
  readonly audience: string | null;
  readonly role_claim: string;
  readonly role_map: Readonly<Record<string, FleetRole>> | null;
  readonly default_role: 'viewer' | 'none';
  readonly allow_userinfo: boolean;
}

export type OidcEnvironment = Some<OidcValues & { readonly client_secret: string }>;

const defaults: OidcValues = {
  issuer: null,
  client_id: null,
  audience: null,
  role_claim: 'role',
  role_map: null,
  default_role: 'none',
  allow_userinfo: false,
};

export interface OidcInEffect extends OidcValues {
  readonly client_secret: string | undefined;
  readonly sources: Layered<OidcValues>['sources'] & { readonly client_secret: Source };
  /** The issuer is the environment's: the operator's word. */
  readonly isTrusted: boolean;
}

export function oidcInEffect(environment: OidcEnvironment, { values: set, secret }: Stored<OidcValues>): OidcInEffect {
  const { client_secret, ...fromEnvironment } = environment;
  const { values, sources } = layer(defaults, fromEnvironment, set);
  const addresses = { inEffect: values.issuer, ofEnvironment: environment.issuer ?? undefined };
  const { value, source } = secretFor(addresses, secret, client_secret);
  return {
    ...values,
    client_secret: value,
    sources: { ...sources, client_secret: source },
    isTrusted: values.issuer === environment.issuer,
  };
}

export const presentOidc = ({ client_secret, isTrusted: _, ...shown }: OidcInEffect) => ({
  ...shown,
  role_map: shown.role_map && { ...shown.role_map },
  has_client_secret: client_secret !== undefined,
});
