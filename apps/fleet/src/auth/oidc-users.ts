import { Problem } from '@svc/http';
import type { Prisma, User } from '../generated/prisma/client.ts';
import type { Claims } from '../oidc/provider.ts';

/**
 * Keeps what an identity provider says of somebody: (iss, sub) is who they are, and never an e-mail. One that another user
 * has, or that is not verified, is left out. Somebody who was removed and may sign in there is back.
 */
export async function keepOidcUser(transaction: Prisma.TransactionClient, id: string, claims: Claims): Promise<User> {
  const { iss, sub } = claims;
  await transaction.$executeRaw`SAVEPOINT without_them`;
  try {
    await keep(transaction, { id, claims, email: emailOf(claims) });
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'email_taken')) throw error;
    await transaction.$executeRaw`ROLLBACK TO SAVEPOINT without_them`; // somebody took it in this very moment
    await keep(transaction, { id, claims, email: null });
  }
  return transaction.user.findUniqueOrThrow({ where: { iss_sub: { iss, sub } } });
}

interface Kept {
  readonly id: string;
  readonly claims: Claims;
  readonly email: string | null;
}

function keep(transaction: Prisma.TransactionClient, { id, claims, email }: Kept): Promise<number> {
  const { iss, sub } = claims;
  return transaction.$executeRaw`
    INSERT INTO users (id, source, iss, sub, name, claims, email)
    VALUES (${id}::uuid, 'oidc', ${iss}, ${sub}, ${nameOf(claims)}, ${JSON.stringify(claims)}::jsonb,
      (SELECT ${email}::text WHERE NOT EXISTS (SELECT FROM users WHERE email = ${email})))
    ON CONFLICT (iss, sub) DO UPDATE SET name = excluded.name, claims = excluded.claims, removed_at = NULL,
      updated_at = now(),
      email = (SELECT ${email}::text WHERE NOT EXISTS (
        SELECT FROM users other WHERE other.email = ${email} AND other.id <> users.id))`;
}

function emailOf({ email, email_verified = true }: Claims): string | null {
  if (typeof email !== 'string' || !(email_verified === true || email_verified === 'true')) return null; // some send text
  const compared = email.trim().toLowerCase();
  return compared.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(compared) ? compared : null;
}

const MAX_NAME = 200;

function nameOf({ name, preferred_username, sub }: Claims): string {
  const given = [name, preferred_username].find((value) => typeof value === 'string' && value.trim() !== '');
  return String(given ?? sub).slice(0, MAX_NAME);
}
