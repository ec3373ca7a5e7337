import { hashSecretToken, newSecretToken, shownPrefix } from '@svc/auth';
import type { apiKey } from '@svc/contract/hub';
import { notFound, Problem } from '@svc/http';
import type { z } from 'zod';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** A key as it is listed; its status is judged by the database's clock. */
export type KeyRow = z.input<typeof apiKey>;

/** What a query of keys selects, over `api_keys k`. */
export const keyColumns = Prisma.sql`
  k.id, k.name, k.key_prefix, k.created_at, k.last_used_at, k.expires_at,
  CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired' ELSE 'active' END AS status`;

/** A new secret for a key, and what is kept of it. */
function newSecret() {
  const key = newSecretToken('svcc_');
  return { key, hash: hashSecretToken(key), prefix: shownPrefix(key) };
}

export interface NewKey {
  readonly orgId: string;
  readonly name: string;
  /** null: it does not expire. */
  readonly days: number | null;
}

/** Makes a key. Its secret is in what this returns and nowhere else. */
export async function insertKey(
  { client }: Database,
  { orgId, name, days }: NewKey,
): Promise<KeyRow & { readonly key: string }> {
  const { key, hash, prefix } = newSecret();
  const data = { org_id: orgId, name, key_hash: hash, key_prefix: prefix, expires_in_days: days };
  const [row] = await client.$transaction(async (transaction) => {
    const { id } = await transaction.apiKey.create({ data });
    // Its end is reckoned by the clock that will judge it: the database's.
    return transaction.$queryRaw<KeyRow[]>`
        UPDATE api_keys k SET expires_at = created_at + make_interval(days => expires_in_days) WHERE id = ${id}::uuid
        RETURNING ${keyColumns}`;
  });
  if (!row) throw new Error('the key that was just made is gone');
  return { ...row, key };
}

/** One key of an organization: another organization's is as good as none. */
export interface OwnKey {
  readonly id: string;
  readonly orgId: string;
}

/** Gives a key a new secret and its lifetime anew; the old secret is dead with the same commit. @throws 404, 409 */
export async function reissueKey(
  { client }: Database,
  { id, orgId }: OwnKey,
): Promise<KeyRow & { readonly key: string }> {
  const { key, hash, prefix } = newSecret();
  const [row] = await client.$queryRaw<KeyRow[]>`
      UPDATE api_keys k
      SET key_hash = ${hash}, key_prefix = ${prefix},
          expires_at = now() + make_interval(days => expires_in_days)
      WHERE id = ${id}::uuid AND org_id = ${orgId}::uuid AND revoked_at IS NULL
      RETURNING ${keyColumns}`;
  if (row) return { ...row, key };
  const known = await client.apiKey.count({ where: { id, org_id: orgId } });
  if (known === 0) throw notFound();
  throw new Problem('key_revoked', 'This key was revoked, which is for ever: create another.');
}

/** Revokes a key; once more changes nothing. @throws 404 */
export async function revokeKey({ client }: Database, { id, orgId }: OwnKey): Promise<KeyRow> {
  const [row] = await client.$queryRaw<KeyRow[]>`
      UPDATE api_keys k SET revoked_at = coalesce(revoked_at, now())
      WHERE id = ${id}::uuid AND org_id = ${orgId}::uuid
      RETURNING ${keyColumns}`;
  if (!row) throw notFound();
  return row;
}
