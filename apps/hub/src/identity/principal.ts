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
    };

/** The perspective from which the catalog is read. */
export type Viewer =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'organization'; readonly orgId: string }
  | { readonly kind: 'administrator' };

export const isAdministrator = (principal: Principal): boolean =>
  principal.kind === 'user' && (principal.role === 'admin' || principal.role === 'superadmin');

/**
 * Users other than administrators read the catalog anonymously. Only an API key gives the view of
 * an organization.
 */
export function viewerOf(principal: Principal): Viewer {
  if (principal.kind === 'organization') return { kind: 'organization', orgId: principal.organization.id };
  return isAdministrator(principal) ? { kind: 'administrator' } : { kind: 'anonymous' };
}

/** A string that identifies a viewer in cursors and entity tags. */
export const viewerKey = (viewer: Viewer): string => (viewer.kind === 'organization' ? viewer.orgId : viewer.kind);

/** A user with a JWT or a session. */
export type UserPrincipal = Extract<Principal, { readonly kind: 'user' }>;

/**
 * A string that identifies the caller for limits per caller: an organization, a user, or an
 * anonymous network.
 */
export function callerKey(principal: Principal, address: string): string {
  switch (principal.kind) {
    case 'organization':
      return principal.organization.id;
    case 'user':
      return principal.id;
    case 'anonymous':
      return clientNetworks(address).network;
  }
}
