import type { ServiceScope } from '@svc/contract/hub';
import { clientNetworks } from '@svc/http';
import type { OrgRole, OrgStatus, UserRole } from '../generated/prisma/enums.ts';

/** The identity behind a credential, or anonymous. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'organization';
      readonly keyId: string;
      readonly organization: {
        readonly id: string;
        readonly name: string;
        readonly slug: string;
        readonly tier: string;
        readonly status: OrgStatus;
      };
    }
  | {
      readonly kind: 'user';
      readonly id: string;
      readonly email: string | null;
      readonly role: UserRole;
      readonly membership: { readonly orgId: string; readonly role: OrgRole; readonly status: OrgStatus } | undefined;
      /** The session of the console or of a program; undefined for a request with a JWT. */
      readonly sessionId: string | undefined;
    }
  | {
      /** A program with a service token. */
      readonly kind: 'service';
      readonly tokenId: string;
      readonly scopes: readonly ServiceScope[];
      /** The categories outside which it reads and changes nothing. */
      readonly categoryIds: readonly string[];
      /** The administrator who created the token. */
      readonly owner: { readonly id: string; readonly email: string | null };
    };

/** A caller without a credential. */
export const anonymous = { kind: 'anonymous' } as const satisfies Principal;

/** The perspective from which the catalog is read. */
export type Viewer =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'organization'; readonly orgId: string }
  | { readonly kind: 'administrator' };

export const isAdministrator = (principal: Principal): boolean =>
  principal.kind === 'user' && (principal.role === 'admin' || principal.role === 'superadmin');

/**
 * Users other than administrators read the catalog anonymously. Only an API key gives the view of
 * an organization. A service token is not valid for the catalog.
 */
export function viewerOf(principal: Principal): Viewer {
  if (principal.kind === 'organization') return { kind: 'organization', orgId: principal.organization.id };
  return isAdministrator(principal) ? { kind: 'administrator' } : { kind: 'anonymous' };
}

/** A string that identifies a viewer in cursors and entity tags. */
export const viewerKey = (viewer: Viewer): string => (viewer.kind === 'organization' ? viewer.orgId : viewer.kind);

/** A user with a JWT or a session. */
export type UserPrincipal = Extract<Principal, { readonly kind: 'user' }>;

/** The caller as it appears in the log. */
export function nameOf(principal: Principal): string {
  switch (principal.kind) {
    case 'anonymous':
      return 'anonymous';
    case 'organization':
      return `key ${principal.keyId}`;
    case 'user':
      return `user ${principal.id}`;
    case 'service':
      return `service token ${principal.tokenId}`;
  }
}

/** A program with a service token. */
export type ServicePrincipal = Extract<Principal, { readonly kind: 'service' }>;

/**
 * A string that identifies the caller for limits per caller: an organization, a user, a
 * service token, or an anonymous network.
 */
export function callerKey(principal: Principal, address: string): string {
  switch (principal.kind) {
    case 'organization':
      return principal.organization.id;
    case 'user':
      return principal.id;
    case 'service':
      return principal.tokenId;
    case 'anonymous':
      return clientNetworks(address).network;
  }
}
