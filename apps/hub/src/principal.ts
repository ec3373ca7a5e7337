import type { OrgRole, OrgStatus, UserRole } from './generated/prisma/enums.ts';

/** Who can call the hub. */
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
      readonly role: UserRole;
      readonly membership: { readonly orgId: string; readonly role: OrgRole; readonly status: OrgStatus } | undefined;
    };

/** Whose eyes the catalog is seen with. */
export type Viewer =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'organization'; readonly orgId: string }
  | { readonly kind: 'administrator' };

export const isAdministrator = (principal: Principal): boolean =>
  principal.kind === 'user' && (principal.role === 'admin' || principal.role === 'superadmin');

/** A user who is no administrator sees what anybody sees: only a key speaks for an organization. */
export function viewerOf(principal: Principal): Viewer {
  if (principal.kind === 'organization') return { kind: 'organization', orgId: principal.organization.id };
  return isAdministrator(principal) ? { kind: 'administrator' } : { kind: 'anonymous' };
}

/** Tells one viewer from another. */
export const viewerKey = (viewer: Viewer): string => (viewer.kind === 'organization' ? viewer.orgId : viewer.kind);

/** A person, rather than a key or nobody. */
export type UserPrincipal = Extract<Principal, { readonly kind: 'user' }>;
