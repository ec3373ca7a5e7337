import { hashSecretToken, isSecretToken } from '@svc/auth';
import type { FleetRole } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';

/** An MCP token that is on record, good or not. */
export interface KnownToken {
  readonly id: string;
  readonly name: string;
  readonly role: FleetRole;
  readonly created_by_user: string | null;
  /** Neither revoked nor expired, by the database's clock. */
  readonly active: boolean;
  readonly used_lately: boolean;
}

/** The row that the first known of some tokens names. Malformed ones and wrong checksums cost no query, many cost one. */
export async function findToken({ client }: Database, tokens: readonly string[]): Promise<KnownToken | undefined> {
  const hashes = tokens.filter((token) => isSecretToken('svcm_', token)).map(hashSecretToken);
  if (hashes.length === 0) return undefined;
  const [row] = await client.$queryRaw<KnownToken[]>`
      SELECT id, name, role::text AS role, created_by_user,
             revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AS active,
             coalesce(last_used_at > now() - interval '1 second', false) AS used_lately
      FROM tokens WHERE token_hash = ANY(${hashes}::text[])
      ORDER BY array_position(${hashes}::text[], token_hash) LIMIT 1`;
  return row;
}

/** Notes that a token was used; a second more or less doesn't matter. */
export async function noteUse({ client }: Database, token: KnownToken): Promise<void> {
  if (token.used_lately) return;
  await client.$executeRaw`UPDATE tokens SET last_used_at = now() WHERE id = ${token.id}::uuid`;
}
