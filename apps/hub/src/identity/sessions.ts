import { hashCredential, hashSecretToken, isSecretToken } from '@svc/auth';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { UserPrincipal } from './principal.ts';
import { principalOf, withMembership } from './users.ts';

/** A session ends when it was not used for this time. */
const IDLE_HOURS = 4;

/** Whether a row of `sessions` is open. */
export const isOpen = Prisma.sql`ended_at IS NULL AND expires_at > now()
  AND coalesce(last_used_at, created_at) > now() - make_interval(hours => ${IDLE_HOURS}::int)`;

type Provider = { readonly issuer: string };

/**
 * Resolves the reference that a browser keeps to its principal; undefined if it is not valid or its
 * session has ended.
 */
export const verifyReference = (
  database: Database,
  provider: Provider,
  { reference, keyHash }: { readonly reference: string; readonly keyHash: string | undefined },
): Promise<UserPrincipal | undefined> =>
  principalOfSession(
    database,
    provider,
    Prisma.sql`browser_hash = ${hashCredential(reference)} AND NOT has_token
      AND (key_hash = ${keyHash ?? null}::text OR ${keyHash ?? null}::text IS NULL OR key_hash IS NULL)`, // 0.2.0 stores no key
  );

/** Resolves the token that a program sends to its principal, as `verifyReference`. */
export const verifySessionToken = async (
  database: Database,
  provider: Provider,
  token: string,
): Promise<UserPrincipal | undefined> =>
  isSecretToken(TOKEN_PREFIX, token)
    ? principalOfSession(database, provider, Prisma.sql`browser_hash = ${hashSecretToken(token)} AND has_token`)
    : undefined;

/** The kind of the tokens of sessions. */
export const TOKEN_PREFIX = 'svcu_';

async function principalOfSession(
  { client }: Database,
  { issuer }: Provider,
  isIt: Prisma.Sql,
): Promise<UserPrincipal | undefined> {
  const [session] = await client.$queryRaw<{ id: string; user_id: string; is_unused: boolean }[]>`
    SELECT id, user_id, coalesce(last_used_at < now() - interval '1 minute', true) AS is_unused FROM sessions
    WHERE ${isIt} AND challenge IS NULL AND ${isOpen}`;
  if (!session) return undefined;
  const user = await client.user.findUnique({ where: { id: session.user_id }, include: withMembership });
  if (user?.iss !== issuer) return undefined; // the hub has another identity provider now
  if (session.is_unused) {
    await client.$executeRaw`UPDATE sessions SET last_used_at = now() WHERE id = ${session.id}::uuid`;
  }
  return principalOf(user, session.id);
}
