import type { FleetRole } from '@svc/contract/fleet';

/** Somebody with an account: a local one, or one of the identity provider. */
export interface User {
  readonly kind: 'user';
  readonly id: string;
  readonly source: 'local' | 'oidc';
  readonly name: string;
  readonly email: string | null;
  /** None where the provider's claims give none. */
  readonly role: FleetRole | undefined;
  /** None for a request with an access token of the provider itself. */
  readonly sessionId: string | undefined;
}

export interface TemporaryAdministrator {
  readonly kind: 'temporary-admin';
  readonly name: string;
  readonly role: 'admin';
  readonly sessionId: string;
}

/** Automation, by an MCP token. */
interface TokenBearer {
  readonly kind: 'token';
  readonly id: string;
  readonly name: string;
  readonly role: FleetRole;
  /** The person behind it. */
  readonly createdByUser: string | null;
}

/** Somebody, rather than nobody. */
export type Caller = User | TemporaryAdministrator | TokenBearer;

/** Who can call the fleet. */
export type Principal = { readonly kind: 'anonymous' } | Caller;
