import { hashCredential } from '@svc/auth';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Principal } from './principal.ts';
import { principalOf, withMembership } from './users.ts';

/** A session ends when it was not used for this time. */
const IDLE_HOURS = 4;

/** Whether a row of `sessions` is open. */
export const isOpen = Prisma.sql`ended_at IS NULL AND expires_at > now()
  AND coalesce(last_used_at, created_at) > now() - make_interval(hours => ${IDLE_HOURS}::int)`;

/**
 * Resolves the reference that a browser keeps to its principal; undefined if it is not valid or its
 * session has ended.
 */
export async function verifyReference(
  { client }: Database,
  { issuer }: { readonly issuer: string },
  { reference, keyHash }: { readonly reference: string; readonly keyHash: string | undefined },
): Promise<Principal | undefined> {
  const [session] = await client.$queryRaw<{ id: string; user_id: string; is_unused: boolean }[]>`
    SELECT id, user_id, coalesce(last_used_at < now() - interval '1 minute', true) AS is_unused FROM sessions
    WHERE browser_hash = ${hashCredential(reference)} AND challenge IS NULL AND ${isOpen}
      AND (key_hash = ${keyHash ?? null}::text OR ${keyHash ?? null}::text IS NULL OR key_hash IS NULL)`; // 0.2.0 stores no key
  if (!session) return undefined;
  const user = await client.user.findUnique({ where: { id: session.user_id }, include: withMembership });
  if (user?.iss !== issuer) return undefined; // the hub has another identity provider now
  if (session.is_unused) {
    await client.$executeRaw`UPDATE sessions SET last_used_at = now() WHERE id = ${session.id}::uuid`;
  }
  return principalOf(user, session.id);
}
