import type { UserClaims } from '@svc/auth';
import { Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import type { Organization, Prisma, User } from '../generated/prisma/client.ts';
import type { UserPrincipal } from './principal.ts';

/** The users that are superadmins until someone sets their role. */
export interface Superadmins {
  /** Verified e-mail addresses in lower case. */
  readonly superadminEmails: readonly string[];
  /** Values of the claim `sub`. */
  readonly superadminSubjects: readonly string[];
}

type Client = Pick<Database, 'client'>;

export const withMembership = { organization: { select: { status: true } } } as const;

/** The maximum length of the name of a user, in characters. */
const MAX_NAME = 200;

/**
 * The user of a token. Creates the user at the first request, and updates email and name if the
 * claims changed.
 */
export async function userOf({ client }: Client, superadmins: Superadmins, claims: UserClaims): Promise<UserPrincipal> {
  const where = { iss_sub: { iss: claims.iss, sub: claims.sub } };
  const existing = await client.user.findUnique({ where, include: withMembership });
  const claimed = columnsOf(superadmins, claims);
  if (!existing) {
    await client.user.createMany({
      data: { iss: claims.iss, sub: claims.sub, ...claimed },
      skipDuplicates: true, // a concurrent request may have created the user
    });
    return principalOf(await client.user.findUniqueOrThrow({ where, include: withMembership }));
  }
  const changes = changesOf(existing, claimed);
  if (Object.keys(changes).length === 0) return principalOf(existing);
  return principalOf(await client.user.update({ where: { id: existing.id }, data: changes, include: withMembership }));
}

type ClaimedColumns = Pick<User, 'email' | 'email_verified' | 'name' | 'role'>;

/** The columns of a user that derive from the claims of a token. */
const columnsOf = (superadmins: Superadmins, claims: UserClaims): ClaimedColumns => ({
  email: claims.email?.toLowerCase() ?? null,
  email_verified: claims.email_verified ?? false,
  name: (claims.name ?? '').slice(0, MAX_NAME).toWellFormed(),
  role: isSuperadmin(superadmins, claims) ? 'superadmin' : 'user',
});

/** The columns to update: a name and a role that were set through the API remain. */
function changesOf(existing: User, { email, email_verified, name, role }: ClaimedColumns) {
  const changes: Prisma.UserUpdateInput = {};
  if (existing.email !== email || existing.email_verified !== email_verified) {
    changes.email = email;
    changes.email_verified = email_verified;
  }
  if (!existing.name_set && existing.name !== name && name !== '') changes.name = name;
  const isPromoted = role === 'superadmin' && existing.role !== 'superadmin';
  if (!existing.role_set && isPromoted) changes.role = role;
  return changes;
}

const isSuperadmin = (
  { superadminEmails, superadminSubjects }: Superadmins,
  { sub, email, email_verified }: UserClaims,
): boolean =>
  superadminSubjects.includes(sub) ||
  (email_verified === true && email !== undefined && superadminEmails.includes(email.toLowerCase()));

type UserRow = User & { readonly organization: Pick<Organization, 'status'> | null };

/** The principal of a user: `sessionId` is its session, if there is one. @throws 403 */
export function principalOf(
  { id, email, role, org_id: orgId, org_role: orgRole, organization, blocked_at }: UserRow,
  sessionId?: string,
): UserPrincipal {
  if (blocked_at !== null) throw new Problem('user_blocked', 'You are blocked. Contact an administrator of the hub.');
  const belongs = orgId !== null && orgRole !== null && organization !== null;
  const membership = belongs ? { orgId, role: orgRole, status: organization.status } : undefined;
  return { kind: 'user', id, email, role, membership, sessionId };
}
