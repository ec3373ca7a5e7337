import { hashCredential, newCredential } from '@svc/auth';
import { MAX_SESSIONS } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { clientAddress, Problem } from '@svc/http';
import { writeAuditEntry } from '../../audit/entry.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { UserPrincipal } from '../../identity/principal.ts';
import { isOpen } from '../../identity/sessions.ts';
import type { RequestContext } from '../request/context.ts';

/**
 * The lifetime of a session. The hub does not learn that the provider ends a session, so it is
 * short.
 */
export const SESSION_HOURS = 12;

/** The time in which the page or the program completes the sign-in. */
const CODE_SECONDS = 60;

interface NewSession {
  readonly user: UserPrincipal;
  readonly challenge: string;
  /** Whether a program has the session, and not a browser. */
  readonly hasToken: boolean;
  /** The status of the response, for the audit log. */
  readonly status: number;
}

/**
 * Opens a session of a person. It is of no use until who sent the challenge completes the sign-in.
 * @returns the code for this @throws 429
 */
export async function openSession(
  context: RequestContext,
  { user, challenge, hasToken, status }: NewSession,
): Promise<string> {
  const { database, userAgent, address } = context;
  const code = newCredential();
  await database.client.$transaction(async (transaction) => {
    await refuseTooManySignIns(transaction, user.id);
    await transaction.$executeRaw`
      DELETE FROM sessions WHERE id = ANY (ARRAY(
        SELECT id FROM sessions WHERE user_id = ${user.id}::uuid
        ORDER BY (${isOpen}) DESC, coalesce(last_used_at, created_at) DESC, id DESC
        OFFSET ${MAX_SESSIONS - 1} FOR UPDATE SKIP LOCKED))`;
    const [session] = await transaction.$queryRaw<{ id: string }[]>`
      INSERT INTO sessions (id, user_id, browser_hash, challenge, has_token, user_agent, source, expires_at)
      VALUES (gen_random_uuid(), ${user.id}::uuid, ${hashCredential(code)}, ${challenge}, ${hasToken}, ${userAgent},
        ${clientAddress(address) ?? null}, now() + make_interval(secs => ${CODE_SECONDS}::int)) RETURNING id`;
    await writeAuditEntry(transaction, context, { caller: user, status, objectId: session?.id ?? null });
  });
  return code;
}

/** The sign-ins of a user in an hour. Each has an audit entry, so that they must be bounded. */
const SIGN_INS_PER_HOUR = 100;
const RETRY_SECONDS = 600;

async function refuseTooManySignIns(transaction: Prisma.TransactionClient, userId: string): Promise<void> {
  const [{ count } = { count: 0 }] = await transaction.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM audit_entries
    WHERE user_id = ${userId}::uuid AND at > now() - interval '1 hour'
      AND path IN (${hubEndpoints.endOidcLogin.path}, ${hubEndpoints.connectProgram.path})`;
  if (count < SIGN_INS_PER_HOUR) return;
  const detail = `A user can sign in ${SIGN_INS_PER_HOUR} times per hour. Use an open session, or try again in ${RETRY_SECONDS / 60} minutes.`;
  throw new Problem('rate_limited', detail, { headers: { 'Retry-After': `${RETRY_SECONDS}` } });
}
