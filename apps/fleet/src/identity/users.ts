import type { FleetRole } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma, User } from '../generated/prisma/client.ts';
import type { OidcValues } from '../settings/values.ts';
import { type User as Caller, NO_ROLE } from './principal.ts';
import { claimAt, roleOf } from './roles.ts';

/** The mapping from claims to a role. */
export type Mapping = Pick<OidcValues, 'role_claim' | 'role_map' | 'default_role'>;

/**
 * The role of a user. A local user has a stored role. For a user of an identity provider, the
 * current mapping of claims applies.
 */
export function roleOfUser(
  { source, role, claims }: Pick<User, 'source' | 'role'> & { readonly claims: unknown },
  { role_claim, role_map, default_role }: Mapping,
): FleetRole | undefined {
  if (source === 'local') return role ?? undefined;
  const mapping = {
    roleClaim: role_claim,
    roleMap: role_map,
    defaultRole: default_role === 'none' ? undefined : default_role,
  };
  // The column contains the claims object of the provider.
  return roleOf((claims ?? {}) as Readonly<Record<string, unknown>>, mapping);
}

/** The principal of a user. */
export const userOf = (
  row: Omit<User, 'claims'> & { readonly claims: unknown },
  mapping: Mapping,
  sessionId: string | undefined,
): Caller => ({
  kind: 'user',
  id: row.id,
  source: row.source,
  name: row.name,
  email: row.email,
  role: roleOfUser(row, mapping),
  sessionId,
});

type LockedUser = Pick<User, 'password_hash' | 'role' | 'blocked_at'>;

/**
 * Locks a user against changes and removal until the transaction ends; undefined if the user was
 * removed. A transaction that also locks the admins must do that first.
 */
export async function lockUser(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
  id: string,
): Promise<LockedUser | undefined> {
  const [user] = await transaction.$queryRaw<LockedUser[]>`
    SELECT password_hash, role, blocked_at FROM users WHERE id = ${id}::uuid AND removed_at IS NULL FOR NO KEY UPDATE`;
  return user;
}

/** Why the claims of a user of the identity provider give no role. */
export function reasonWithoutRole(claims: unknown, { role_claim }: Pick<Mapping, 'role_claim'>): string {
  const what = hasClaim(claims, role_claim) ? 'has no value that maps to a role' : 'is missing';
  return `${NO_ROLE} The claim "${role_claim}" ${what}. Ask an admin of the fleet, or of the identity provider.`;
}

/** Whether the claims of a user contain the claim that gives roles. */
export const hasClaim = (claims: unknown, roleClaim: string): boolean =>
  // The column contains the claims object of the provider.
  claimAt((claims ?? {}) as Readonly<Record<string, unknown>>, roleClaim) !== undefined;

/** 403 for a user whom an admin has blocked. */
export const userBlocked = () => new Problem('user_blocked', 'This user is blocked. Contact an admin of the fleet.');

/** The columns of a user that the API shows. */
export type ShownUser = Omit<User, 'password_hash' | 'claims' | 'removed_at'> & { readonly claims: unknown };

/** The representation of a user in the API. */
export const presentUser = (user: ShownUser, mapping: Mapping) => ({
  id: user.id,
  source: user.source,
  email: user.email,
  name: user.name,
  role: roleOfUser(user, mapping) ?? null,
  issuer: user.iss,
  subject: user.sub,
  created_at: user.created_at,
  updated_at: user.updated_at,
  last_sign_in_at: user.last_sign_in_at,
  blocked_at: user.blocked_at,
});

/**
 * Locks all local admins in the order of their ids, so that two admins who demote each other at the
 * same time cannot both succeed. An admin who has not accepted an invitation yet, or is blocked, does
 * not count.
 * @throws last_admin if the user is the last local admin
 */
export async function refuseLastAdmin(transaction: Prisma.TransactionClient, userId: string): Promise<void> {
  const admins = await transaction.$queryRaw<{ id: string; has_password: boolean }[]>`
    SELECT id, password_hash IS NOT NULL AS has_password FROM users
    WHERE source = 'local' AND role = 'admin' AND blocked_at IS NULL ORDER BY id FOR UPDATE`;
  const [last, ...others] = admins.filter(({ has_password }) => has_password);
  if (others.length === 0 && last?.id === userId) {
    throw new Problem('last_admin', 'This is the last local admin. Create another one first.');
  }
}
