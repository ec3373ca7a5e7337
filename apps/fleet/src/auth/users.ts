import type { FleetRole } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { roleOf } from '../oidc/claims.ts';
import type { User as Caller } from '../principal.ts';
import type { OidcValues } from '../settings/values.ts';

/** How claims become a role. */
type Mapping = Pick<OidcValues, 'role_claim' | 'role_map' | 'default_role'>;

/** The role of a user: a local one has it, one of the identity provider gets it from their claims as they are mapped now. */
function roleOfUser(
  { source, role, claims }: Pick<User, 'source' | 'role'> & { readonly claims: unknown },
  { role_claim, role_map, default_role }: Mapping,
): FleetRole | undefined {
  if (source === 'local') return role ?? undefined;
  const mapping = {
    roleClaim: role_claim,
    roleMap: role_map,
    defaultRole: default_role === 'none' ? undefined : default_role,
  };
  return roleOf((claims ?? {}) as Readonly<Record<string, unknown>>, mapping); // claims are kept as they were given
}

/** Somebody with an account as who they are when they call. */
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

/**
 * A user whom nobody else changes or removes before the transaction ends; undefined where they were removed. Who also locks
 * admins does that first.
 */
export async function holdUser(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
  id: string,
): Promise<Pick<User, 'password_hash'> | undefined> {
  const [user] = await transaction.$queryRaw<Pick<User, 'password_hash'>[]>`
    SELECT password_hash FROM users WHERE id = ${id}::uuid AND removed_at IS NULL FOR NO KEY UPDATE`;
  return user;
}

/** A user as the API shows them. */
export const presentUser = (user: User, mapping: Mapping) => ({
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
});

/**
 * Locks every local admin, in one order, so that two who demote each other at the same moment leave one.
 * @throws last_admin when the user is the last of them
 */
export async function refuseLastAdmin(transaction: Prisma.TransactionClient, userId: string): Promise<void> {
  const admins = await transaction.$queryRaw<{ id: string }[]>`
    SELECT id FROM users WHERE source = 'local' AND role = 'admin' ORDER BY id FOR UPDATE`;
  if (admins.length === 1 && admins[0]?.id === userId) {
    throw new Problem('last_admin', 'This is the last local admin: make another one first.');
  }
}
