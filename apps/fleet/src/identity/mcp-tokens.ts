import { displayPrefix, hashSecretToken, isSecretToken } from '@svc/auth';
import { type FleetRole, fleetRoles } from '@svc/contract/fleet';
import { z } from 'zod';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** The representation of a token in the API. */
export const tokenRow = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(fleetRoles),
  token_prefix: z.string(),
  status: z.enum(['active', 'expired', 'revoked']),
  expires_at: z.date().nullable(),
  created_at: z.date(),
  last_used_at: z.date().nullable(),
  created_by: z.string(),
});
export type TokenRow = z.output<typeof tokenRow>;

/** The status of a token. The clock of the database determines it. */
export const tokenStatus = Prisma.sql`CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END`;

/** The columns of a `TokenRow`. */
export const tokenColumns = Prisma.sql`id, name, role::text AS role, token_prefix, ${tokenStatus} AS status,
  expires_at, created_at, last_used_at, created_by`;

export interface NewToken {
  readonly id: string;
  readonly name: string;
  readonly role: FleetRole;
  readonly expires_in_days: number | null;
  readonly created_by: string;
  readonly created_by_user: string | null;
}

/** Stores a new token. Its secret is not stored, only a hash. */
export async function insertToken(
  client: Pick<Prisma.TransactionClient, '$queryRaw'>,
  secret: string,
  token: NewToken,
): Promise<TokenRow> {
  const [row] = await client.$queryRaw<TokenRow[]>`
    INSERT INTO tokens (id, name, role, token_hash, token_prefix, expires_in_days, expires_at, created_by, created_by_user)
    VALUES (${token.id}::uuid, ${token.name}, ${token.role}::"Role", ${hashSecretToken(secret)}, ${displayPrefix(secret)},
      ${token.expires_in_days}::int, now() + make_interval(days => ${token.expires_in_days}::int), ${token.created_by},
      ${token.created_by_user}::uuid)
    RETURNING ${tokenColumns}`;
  if (!row) throw new Error('INSERT of a token returned no row');
  return row;
}

/** A stored MCP token, valid or not. */
export interface McpToken {
  readonly id: string;
  readonly name: string;
  readonly role: FleetRole;
  readonly created_by_user: string | null;
  /** Whether it is neither revoked nor expired, by the clock of the database. */
  readonly active: boolean;
  readonly used_recently: boolean;
}

/**
 * The row of the first token that is stored. Tokens with a wrong format or checksum need no query;
 * all others need one together.
 */
export async function findToken(database: Database, tokens: readonly string[]): Promise<McpToken | undefined> {
  const hashes = tokens.filter((token) => isSecretToken('svcm_', token)).map(hashSecretToken);
  if (hashes.length === 0) return undefined;
  const stored = await findTokens(database, hashes);
  return stored.get(hashes.find((hash) => stored.has(hash)) ?? '');
}

/** The tokens with these hashes that are stored, by hash. */
export async function findTokens(
  { client }: Database,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, McpToken>> {
  const rows = await client.$queryRaw<(McpToken & { token_hash: string })[]>`
      SELECT token_hash, id, name, role::text AS role, created_by_user,
             revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AS active,
             coalesce(last_used_at > now() - interval '1 second', false) AS used_recently
      FROM tokens WHERE token_hash = ANY(${hashes}::text[])`;
  return new Map(rows.map(({ token_hash, ...token }) => [token_hash, token]));
}

/** Records the use of a token, at most once per second. */
export async function recordUse({ client }: Database, token: McpToken): Promise<void> {
  if (token.used_recently) return;
  await client.$executeRaw`UPDATE tokens SET last_used_at = now() WHERE id = ${token.id}::uuid`;
}
