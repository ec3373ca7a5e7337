import type { ApprovalLevel, FleetRole } from '@svc/contract/fleet';

/** A local user, or a user of the identity provider. */
export interface User {
  readonly kind: 'user';
  readonly id: string;
  readonly source: 'local' | 'oidc';
  readonly name: string;
  readonly email: string | null;
  /** undefined if the claims of the provider map to no role. */
  readonly role: FleetRole | undefined;
  /** undefined for a request with an access token of the provider. */
  readonly sessionId: string | undefined;
}

export interface TemporaryAdministrator {
  readonly kind: 'temporary-admin';
  readonly name: string;
  readonly role: 'admin';
  readonly sessionId: string;
}

/** A program with an MCP token. */
interface TokenBearer {
  readonly kind: 'token';
  readonly id: string;
  readonly name: string;
  /** undefined if the user who created the token has no role. */
  readonly role: FleetRole | undefined;
  /** The id of the user who created the token; null if none did. */
  readonly createdByUser: string | null;
  /** Which of its changes need the approval of a person. */
  readonly approval: ApprovalLevel;
}

/** A principal other than anonymous. */
export type Caller = User | TemporaryAdministrator | TokenBearer;

/** The identity behind a credential, or anonymous. */
export type Principal = { readonly kind: 'anonymous' } | Caller;

/** A source of files, as the author of the plans that it makes and applies. */
export interface SourcePrincipal {
  readonly kind: 'source';
  readonly id: string;
  readonly name: string;
  /** Which of its plans need the approval of a person, because of the token that created it. */
  readonly approval: ApprovalLevel;
}

/** The fleet itself, as the author of changes that no caller requests. */
export const THE_FLEET = { kind: 'fleet' } as const;

/** Who makes a change. */
export type Changer = Principal | SourcePrincipal | typeof THE_FLEET;

/** The reason of the 403 for a user without a role. */
export const NO_ROLE = 'Your claims from the identity provider map to no role in this fleet.';

/** A string that identifies the caller in the request log and for limits per caller. */
export const callerKey = (principal: Principal | SourcePrincipal): string =>
  'id' in principal ? `${principal.kind} ${principal.id}` : principal.kind;
