import type { Claims } from '@svc/auth/oidc';
import { invisibleProblem, withoutInvisible } from '@svc/contract';
import { Problem } from '@svc/http';
import type { Prisma, User } from '../generated/prisma/client.ts';

/**
 * Creates or updates the user of an identity provider from its claims. (iss, sub) identifies the
 * user, never the e-mail. An e-mail that is not verified, or that another user has, is not stored.
 * A removed user who signs in again is restored.
 */
export async function upsertOidcUser(transaction: Prisma.TransactionClient, id: string, claims: Claims): Promise<User> {
  const { iss, sub } = claims;
  const email = emailOf(claims);
  // Another transaction can store the e-mail at the same time: of the same user, who then keeps it,
  // or of another user.
  for (const attempt of [email, email, null]) {
    if (await tryUpsert(transaction, { id, claims, email: attempt })) break;
  }
  return transaction.user.findUniqueOrThrow({ where: { iss_sub: { iss, sub } } });
}

interface UpsertedUser {
  readonly id: string;
  readonly claims: Claims;
  readonly email: string | null;
}

/** @returns false if another transaction stored the e-mail after this one looked for it */
async function tryUpsert(transaction: Prisma.TransactionClient, user: UpsertedUser): Promise<boolean> {
  await transaction.$executeRaw`SAVEPOINT before_upsert`;
  try {
    await upsert(transaction, user);
    return true;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'email_taken')) throw error;
    await transaction.$executeRaw`ROLLBACK TO SAVEPOINT before_upsert`;
    return false;
  }
}

function upsert(transaction: Prisma.TransactionClient, { id, claims, email }: UpsertedUser): Promise<number> {
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
  // Some providers send a string.
  if (typeof email !== 'string' || !(email_verified === true || email_verified === 'true')) return null;
  const compared = email.trim().toLowerCase();
  const isAddress = compared.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(compared);
  return isAddress && invisibleProblem(compared) === undefined ? compared : null;
}

const MAX_NAME = 200;

function nameOf({ name, preferred_username, sub }: Claims): string {
  const given = [name, preferred_username].map((value) => (typeof value === 'string' ? withoutInvisible(value) : ''));
  return (given.find((value) => value.trim() !== '') ?? sub).slice(0, MAX_NAME).toWellFormed();
}
