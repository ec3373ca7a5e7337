import { displayPrefix, hashSecretToken, isSecretToken } from '@svc/auth';
import { type ApprovalLevel, approvalLevels, type FleetRole, fleetRoles } from '@svc/contract/fleet';
import { z } from 'zod';
import type { Database } from '../database/client.ts';
import { Prisma, type User } from '../generated/prisma/client.ts';
import type { Settings } from '../settings/settings.ts';
import { lowerRole } from './roles.ts';
import { roleOfUser } from './users.ts';

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
  created_by_token: z.string().nullable(),
  approval: z.enum(approvalLevels),
});
export type TokenRow = z.output<typeof tokenRow>;

/** The status of a token. The clock of the database determines it. */
export const tokenStatus = Prisma.sql`CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END`;

/** The columns of a `TokenRow`. */
export const tokenColumns = Prisma.sql`id, name, role::text AS role, token_prefix, ${tokenStatus} AS status,
  expires_at, created_at, last_used_at, created_by, created_by_token, approval`;

/** Who created a token or an invitation. All ids are null for the temporary admin and for commands. */
export interface Creator {
  /** The name to show. */
  readonly created_by: string;
  /** The user, also if the user used a token. */
  readonly created_by_user: string | null;
  readonly created_by_token: string | null;
}

export interface NewToken extends Creator {
  readonly id: string;
  readonly name: string;
  readonly role: FleetRole;
  readonly expires_in_days: number | null;
  readonly approval: ApprovalLevel;
}

/**
 * The expiry of a token that is created or reissued now, by the clock of the database: not later
 * than that of the token with which the caller does so.
 */
export const expiryOf = (days: Prisma.Sql, byToken: string | null): Prisma.Sql => Prisma.sql`least(
  now() + make_interval(days => ${days}), (SELECT expires_at FROM tokens WHERE id = ${byToken}::uuid))`;

/** Stores a new token. Its secret is not stored, only a hash. */
export async function insertToken(
  client: Pick<Prisma.TransactionClient, '$queryRaw'>,
  secret: string,
  token: NewToken,
): Promise<TokenRow> {
  const [row] = await client.$queryRaw<TokenRow[]>`
    INSERT INTO tokens (id, name, role, token_hash, token_prefix, expires_in_days, expires_at, created_by, created_by_user,
      created_by_token, approval)
    VALUES (${token.id}::uuid, ${token.name}, ${token.role}::"Role", ${hashSecretToken(secret)}, ${displayPrefix(secret)},
      ${token.expires_in_days}::int, ${expiryOf(Prisma.sql`${token.expires_in_days}::int`, token.created_by_token)},
      ${token.created_by}, ${token.created_by_user}::uuid, ${token.created_by_token}::uuid, ${token.approval})
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
  readonly approval: ApprovalLevel;
  /** The user who created it; null if none did. */
  readonly creator: (Pick<User, 'source' | 'role'> & { readonly claims: unknown }) | null;
  /**
   * Whether it is neither revoked nor expired, by the clock of the database, and the user who
   * created it can sign in.
   */
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

/**
 * The tokens with these hashes that are stored, by hash. For a single hash, as in most requests,
 * PostgreSQL keeps the plan of the statement; that for a list depends on its length.
 */
export async function findTokens(
  { statements }: Database,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, McpToken>> {
  const [hash, ...others] = hashes;
  const matches = others.length === 0 ? Prisma.sql`= ${hash}` : Prisma.sql`= ANY(${hashes}::text[])`;
  const rows = await statements.read<McpToken & { token_hash: string }>(Prisma.sql`
      SELECT t.token_hash, t.id, t.name, t.role::text AS role, t.created_by_user, t.approval,
             CASE WHEN u.id IS NOT NULL THEN jsonb_build_object('source', u.source, 'role', u.role, 'claims', u.claims) END AS creator,
             t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
               AND (t.created_by_user IS NULL OR (u.id IS NOT NULL AND u.removed_at IS NULL AND u.blocked_at IS NULL)) AS active,
             coalesce(t.last_used_at > now() - interval '1 second', false) AS used_recently
      FROM tokens t LEFT JOIN users u ON u.id = t.created_by_user WHERE t.token_hash ${matches}`);
  return new Map(rows.map(({ token_hash, ...token }) => [token_hash, token]));
}

/** Records the use of a token, at most once per second. */
export async function recordUse({ client }: Database, token: McpToken): Promise<void> {
  if (token.used_recently) return;
  await client.$executeRaw`UPDATE tokens SET last_used_at = now() WHERE id = ${token.id}::uuid`;
}

/**
 * The role that a token gives at present: its own, or that of the user who created it, if that is
 * lower; undefined if this user has no role.
 */
export async function presentRole(
  { role, creator }: Pick<McpToken, 'role' | 'creator'>,
  settings: Pick<Settings, 'oidc'>,
): Promise<FleetRole | undefined> {
  if (!creator) return role;
  if (creator.source === 'local') return lowerRole(role, creator.role ?? undefined);
  return lowerRole(role, roleOfUser(creator, await settings.oidc()));
}
