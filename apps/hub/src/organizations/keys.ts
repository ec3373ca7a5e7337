import { challengesOf, displayPrefix, hashSecretToken, newSecretToken } from '@svc/auth';
import { type apiKey, MAX_KEYS } from '@svc/contract/hub';
import { notFound, Problem } from '@svc/http';
import type { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';

/** An API key as lists return it. The clock of the database determines its status. */
export type KeyRow = z.input<typeof apiKey>;

/** The status of a key as an SQL expression. */
export const keyStatus = Prisma.sql`
  (CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired' ELSE 'active' END)`;

/** The select list of a query `FROM api_keys k`. */
export const keyColumns = Prisma.sql`
  k.id, k.name, k.key_prefix, k.created_at, k.last_used_at, k.expires_at, ${keyStatus} AS status,
  (SELECT jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name) FROM users u WHERE u.id = k.owner_id) AS owner`;

/** A new secret, with the hash and the prefix that are stored. */
function newSecret() {
  const key = newSecretToken('svcc_');
  return { key, hash: hashSecretToken(key), prefix: displayPrefix(key) };
}

export interface NewKey {
  readonly orgId: string;
  readonly name: string;
  /** Lifetime in days. `null` means that the key does not expire. */
  readonly days: number | null;
  /** The org_admin who creates it; null: the organization owns it. */
  readonly ownerId: string | null;
}

/** The maximum number of revoked keys of an organization that are kept. Older ones are deleted. */
const MAX_REVOKED_KEYS = 1000;

/**
 * Serializes changes of the number of keys of an organization, so that concurrent requests do not
 * exceed a bound.
 */
export const lockKeysOf = (transaction: Prisma.TransactionClient, orgId: string): Promise<unknown> =>
  transaction.$queryRaw`SELECT FROM organizations WHERE id = ${orgId}::uuid FOR NO KEY UPDATE`;

/**
 * Deletes the keys of an organization that were revoked first, except the last `MAX_REVOKED_KEYS`.
 */
export const deleteOldRevokedKeys = (transaction: Prisma.TransactionClient, orgId: string): Promise<unknown> =>
  transaction.$executeRaw`
      DELETE FROM api_keys WHERE id = ANY (ARRAY(
        SELECT id FROM api_keys WHERE org_id = ${orgId}::uuid AND revoked_at IS NOT NULL
        ORDER BY revoked_at DESC, id DESC OFFSET ${MAX_REVOKED_KEYS}))`;

/** @throws 409 `too_many_keys` if the organization already has the maximum number of keys */
async function requireFreeKey(transaction: Prisma.TransactionClient, orgId: string): Promise<void> {
  const count = await transaction.apiKey.count({ where: { org_id: orgId, revoked_at: null } });
  if (count < MAX_KEYS) return;
  throw new Problem(
    'too_many_keys',
    `The organization has ${count} keys that are not revoked; at most ${MAX_KEYS} are allowed. Revoke a key that is not used, or reissue a key.`,
  );
}

/**
 * Locks the creator of a key or an invitation, so that a concurrent removal waits, and then also
 * ends what was created. @throws 403 if the user is no longer an org_admin of the organization
 */
export async function requireOrgAdmin(
  transaction: Prisma.TransactionClient,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<void> {
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT FROM users WHERE id = ${userId}::uuid AND org_id = ${orgId}::uuid AND org_role = 'org_admin'
      AND blocked_at IS NULL FOR SHARE`;
  if (rows.length === 0)
    throw challengesOf('hub').insufficientScope('This operation requires the organization role org_admin.');
}

/**
 * Creates an API key. The secret is returned only here; it is not stored. @throws 409
 * `too_many_keys`
 */
export async function insertKey(
  transaction: Prisma.TransactionClient,
  { orgId, name, days, ownerId }: NewKey,
): Promise<KeyRow & { readonly key: string }> {
  const { key, hash, prefix } = newSecret();
  const data = { org_id: orgId, name, key_hash: hash, key_prefix: prefix, expires_in_days: days, owner_id: ownerId };
  await lockKeysOf(transaction, orgId);
  if (ownerId !== null) await requireOrgAdmin(transaction, { orgId, userId: ownerId });
  await requireFreeKey(transaction, orgId);
  const { id } = await transaction.apiKey.create({ data });
  // The expiry is computed by the clock that it is compared with: the clock of the database.
  const [row] = await transaction.$queryRaw<KeyRow[]>`
      UPDATE api_keys k SET expires_at = created_at + make_interval(days => expires_in_days) WHERE id = ${id}::uuid
      RETURNING ${keyColumns}`;
  if (!row) throw new Error('the new API key was not found');
  return { ...row, key };
}

/** Identifies a key within an organization. A key of another organization is treated as absent. */
export interface OwnKey {
  readonly id: string;
  readonly orgId: string;
}

/**
 * Replaces the secret of a key and restarts its lifetime. The old secret stops working. The caller,
 * who learns the new secret, becomes the owner, so that the key ends with their rights. @throws
 * 403, 404, 409 `key_revoked`
 */
export async function reissueKey(
  client: Prisma.TransactionClient,
  { id, orgId, ownerId }: OwnKey & { readonly ownerId: string },
): Promise<KeyRow & { readonly key: string }> {
  const { key, hash, prefix } = newSecret();
  await requireOrgAdmin(client, { orgId, userId: ownerId });
  const [row] = await client.$queryRaw<KeyRow[]>`
      UPDATE api_keys k
      SET key_hash = ${hash}, key_prefix = ${prefix}, owner_id = ${ownerId}::uuid,
          expires_at = now() + make_interval(days => expires_in_days)
      WHERE id = ${id}::uuid AND org_id = ${orgId}::uuid AND revoked_at IS NULL
      RETURNING ${keyColumns}`;
  if (row) return { ...row, key };
  return refuse(client, { id, orgId });
}

/** Renames a key. Its secret does not change. @throws 404, 409 `key_revoked` */
export async function renameKey(
  client: Prisma.TransactionClient,
  { id, orgId }: OwnKey,
  name: string,
): Promise<KeyRow> {
  const [row] = await client.$queryRaw<KeyRow[]>`
      UPDATE api_keys k SET name = ${name}
      WHERE id = ${id}::uuid AND org_id = ${orgId}::uuid AND revoked_at IS NULL
      RETURNING ${keyColumns}`;
  return row ?? refuse(client, { id, orgId });
}

/** @throws 404 if there is no such key, 409 `key_revoked` if it is revoked */
async function refuse(client: Prisma.TransactionClient, { id, orgId }: OwnKey): Promise<never> {
  const count = await client.apiKey.count({ where: { id, org_id: orgId } });
  throw count === 0 ? notFound() : keyRevoked();
}

/** 409: a revoked key cannot be changed. */
export const keyRevoked = (): Problem =>
  new Problem('key_revoked', 'This key is revoked. A revocation cannot be undone; create a new key.');

/** Revokes a key. Revoking a revoked key changes nothing. @throws 404 */
export async function revokeKey(transaction: Prisma.TransactionClient, { id, orgId }: OwnKey): Promise<KeyRow> {
  await lockKeysOf(transaction, orgId);
  const [row] = await transaction.$queryRaw<KeyRow[]>`
    UPDATE api_keys k SET revoked_at = coalesce(revoked_at, now())
    WHERE id = ${id}::uuid AND org_id = ${orgId}::uuid
    RETURNING ${keyColumns}`;
  if (!row) throw notFound();
  await deleteOldRevokedKeys(transaction, orgId);
  return row;
}
