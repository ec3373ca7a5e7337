import { hashSecretToken, shownPrefix } from '@svc/auth';
import type { FleetRole } from '@svc/contract/fleet';
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
