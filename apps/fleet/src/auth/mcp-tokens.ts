import { hashSecretToken, isSecretToken, shownPrefix } from '@svc/auth';
import type { FleetRole } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** A token as the API shows it. */
export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly role: FleetRole;
  readonly token_prefix: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly expires_at: Date | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly created_by: string;
}

/** Its status is judged by the database's clock. */
export const tokenColumns = Prisma.sql`id, name, role::text AS role, token_prefix,
  CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END AS status,
  expires_at, created_at, last_used_at, created_by`;

export interface NewToken {
  readonly id: string;
  readonly name: string;
  readonly role: FleetRole;
  readonly expires_in_days: number | null;
  readonly created_by: string;
  readonly created_by_user: string | null;
}

/** Keeps a new token; its secret is kept nowhere. */
export async function insertToken(
  client: Pick<Prisma.TransactionClient, '$queryRaw'>,
  secret: string,
  token: NewToken,
): Promise<TokenRow> {
  const [row] = await client.$queryRaw<TokenRow[]>`
    INSERT INTO tokens (id, name, role, token_hash, token_prefix, expires_in_days, expires_at, created_by, created_by_user)
    VALUES (${token.id}::uuid, ${token.name}, ${token.role}::"Role", ${hashSecretToken(secret)}, ${shownPrefix(secret)},
      ${token.expires_in_days}::int, now() + make_interval(days => ${token.expires_in_days}::int), ${token.created_by},
      ${token.created_by_user}::uuid)
    RETURNING ${tokenColumns}`;
  if (!row) throw new Error('a new token came back as nothing');
  return row;
}

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
