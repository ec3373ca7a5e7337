import type { apiKey } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import type { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { keyColumns } from './keys.ts';

// What a member created as an org_admin ends when the member is one no longer.

type Transaction = Prisma.TransactionClient;

/** What happens to the keys of a member who is no longer an org_admin. */
export type KeysOf = 'revoke' | 'keep';

interface Ending {
  readonly userId: string;
  readonly orgId: string;
  readonly keys: KeysOf;
  /** The member who becomes the owner of keys that are kept; null: the organization. */
  readonly newOwner: string | null;
}

/**
 * Ends what a user created as an org_admin of an organization: withdraws the invitations, and revokes
 * the keys or gives them another owner. @returns the keys
 */
export async function endAuthority(
  transaction: Transaction,
  { userId, orgId, keys, newOwner }: Ending,
): Promise<z.input<typeof apiKey>[]> {
  await transaction.$executeRaw`
    DELETE FROM invitations WHERE org_id = ${orgId}::uuid AND created_by_user = ${userId}::uuid`;
  const change = keys === 'revoke' ? Prisma.sql`revoked_at = now()` : Prisma.sql`owner_id = ${newOwner}::uuid`;
  return transaction.$queryRaw<z.input<typeof apiKey>[]>`
    UPDATE api_keys k SET ${change}
    WHERE k.org_id = ${orgId}::uuid AND k.owner_id = ${userId}::uuid AND k.revoked_at IS NULL
    RETURNING ${keyColumns}`;
}

/**
 * Locks a member and all org_admins of an organization, in the order of their ids to prevent
 * deadlocks. @returns whether the member is an org_admin, and whether another one remains; undefined
 * for a user who is not a member
 */
export async function lockMember(transaction: Transaction, { userId, orgId }: Pick<Ending, 'userId' | 'orgId'>) {
  const rows = await transaction.$queryRaw<{ id: string; is_admin: boolean; is_blocked: boolean }[]>`
    SELECT id, org_role = 'org_admin' AS is_admin, blocked_at IS NOT NULL AS is_blocked FROM users
    WHERE org_id = ${orgId}::uuid AND (id = ${userId}::uuid OR org_role = 'org_admin') ORDER BY id FOR UPDATE`;
  const member = rows.find(({ id }) => id === userId);
  return member && { isAdmin: member.is_admin, hasOther: rows.some((row) => row !== member && !row.is_blocked) };
}

/**
 * Locks the org_admins of an organization that a user joins as a member, so that the last one cannot
 * leave meanwhile. An organization without members can get one that is no org_admin.
 */
export const lockOrgAdmins = async (transaction: Transaction, orgId: string): Promise<void> => {
  await transaction.$queryRaw`
    SELECT FROM users WHERE org_id = ${orgId}::uuid AND org_role = 'org_admin' ORDER BY id FOR SHARE`;
};

/** 409: the change would leave the other members without an org_admin. */
export const lastOrgAdmin = () =>
  new Problem('last_org_admin', 'This is the last org_admin. Give another member the role org_admin first.');
