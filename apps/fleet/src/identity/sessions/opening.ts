import { MAX_SESSIONS } from '@svc/contract';
import type { Sealer } from '@svc/database';
import { v7 as uuidv7 } from 'uuid';
import { Prisma } from '../../generated/prisma/client.ts';
import { isOpen } from './people.ts';
import type { TemporaryAdmin } from './temporary-admin.ts';

type Transaction = Prisma.TransactionClient;

/**
 * The owner of a session. For a user of an identity provider, the provider may have issued a
 * refresh token.
 */
export type Owner =
  | { readonly kind: 'temporary-admin' }
  | { readonly kind: 'local'; readonly userId: string }
  | { readonly kind: 'oidc'; readonly userId: string; readonly providerToken: string | undefined };

/** The client with which someone signs in. */
interface SessionClient {
  readonly userAgent: string | null;
  readonly source: string | null;
}

/**
 * The lifetime of a session in hours. A successful check with the identity provider extends a
 * session of its users.
 */
const SESSION_HOURS: Readonly<Record<Owner['kind'], number>> = { 'temporary-admin': 24, local: 7 * 24, oidc: 24 };

/** Minutes between two checks of a session with the identity provider. */
export const PROVIDER_MINUTES = 15;

/** Opens a session. @returns its id */
export type OpenSession = (transaction: Transaction, owner: Owner, client?: SessionClient) => Promise<string>;

export const createOpenSession =
  (sealer: Sealer, temporaryAdmin: TemporaryAdmin | undefined): OpenSession =>
  async (transaction, owner, { userAgent, source } = { userAgent: null, source: null }) => {
    const id = uuidv7();
    const userId = owner.kind === 'temporary-admin' ? null : owner.userId;
    const fingerprint = userId === null ? (temporaryAdmin?.fingerprint ?? '') : null;
    const token = owner.kind === 'oidc' ? owner.providerToken : undefined;
    const sealed = token === undefined ? null : await sealer.seal(providerTokenLocation(id), token);
    await deleteOldest(transaction, userId, fingerprint);
    await transaction.$executeRaw`
      INSERT INTO sessions (id, user_id, fingerprint, user_agent, source, expires_at, provider_token, key_id, provider_at)
      VALUES (${id}::uuid, ${userId}::uuid, ${fingerprint},
        ${userAgent}, ${source},
        now() + make_interval(hours => ${SESSION_HOURS[owner.kind]}::int), ${sealed}, ${sealed === null ? null : sealer.kid},
        CASE WHEN ${sealed}::text IS NOT NULL THEN now() + make_interval(mins => ${PROVIDER_MINUTES}::int) END)`;
    return id;
  };

/**
 * Makes room for a session of a user, or of the temporary admin. Ended sessions are deleted first,
 * then those that were not used for long.
 */
async function deleteOldest(
  transaction: Transaction,
  userId: string | null,
  fingerprint: string | null,
): Promise<void> {
  const isOfOwner =
    userId === null
      ? Prisma.sql`user_id IS NULL AND fingerprint = ${fingerprint}`
      : Prisma.sql`user_id = ${userId}::uuid`;
  await transaction.$executeRaw`
    DELETE FROM sessions WHERE id = ANY (ARRAY(
      SELECT id FROM sessions WHERE ${isOfOwner}
      ORDER BY (${isOpen}) DESC, coalesce(last_used_at, created_at) DESC, id DESC
      OFFSET ${MAX_SESSIONS - 1} FOR UPDATE SKIP LOCKED))`;
}

/** The column and row for which the refresh token of a provider is sealed. */
export const providerTokenLocation = (sessionId: string) => ({
  table: 'sessions',
  column: 'provider_token',
  row: sessionId,
});
