import { type Endpoint, MAX_SESSIONS } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { notFound, withCookies } from '@svc/http';
import { writeAuditEntry } from '../../audit/entry.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { callerOf } from '../../identity/caller.ts';
import { isOpen } from '../../identity/sessions.ts';
import { type RequestContext, route } from '../request/context.ts';

interface SessionRow {
  readonly id: string;
  readonly kind: 'browser' | 'tokens';
  readonly user_agent: string | null;
  readonly source: string | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date;
}

export const listOwnSessions = route(hubEndpoints.listOwnSessions, async (context) => {
  const { database, principal } = context;
  const sessions = await database.client.$queryRaw<SessionRow[]>`
    SELECT id, CASE WHEN has_token THEN 'tokens' ELSE 'browser' END AS kind, user_agent, source, created_at, last_used_at, expires_at
    FROM sessions WHERE ${isOwn(context)} AND challenge IS NULL ORDER BY created_at DESC, id DESC LIMIT ${MAX_SESSIONS}`;
  const current = principal.kind === 'user' ? principal.sessionId : undefined;
  return { sessions: sessions.map((session) => ({ ...session, current: session.id === current })) };
});

export const endOwnSessions = route(hubEndpoints.endOwnSessions, async (context) => {
  await endSessions(context, hubEndpoints.endOwnSessions);
  return withCookies(undefined, [context.browserSessions.noCookie], { clearsCache: true });
});

export const endOwnSession = route(hubEndpoints.endOwnSession, async (context, { params }) => {
  if ((await endSessions(context, hubEndpoints.endOwnSession, params.id)) === 0) throw notFound();
  return undefined;
});

/**
 * Ends open sessions of the caller: one, or all. The audit log records it if there were any, so
 * that each session adds at most one entry.
 * @returns the number of ended sessions
 */
export const endSessions = (context: RequestContext, { status }: Endpoint, id?: string): Promise<number> =>
  context.database.client.$transaction(async (transaction) => {
    const ended = await transaction.$executeRaw`
      UPDATE sessions SET ended_at = now()
      WHERE ${isOwn(context)} AND ${id === undefined ? Prisma.sql`true` : Prisma.sql`id = ${id}::uuid`}`;
    const caller = callerOf(context.principal);
    if (ended > 0) await writeAuditEntry(transaction, context, { caller, status, objectId: id ?? null });
    return ended;
  });

/** Whether a session is open and belongs to the caller. */
function isOwn({ principal }: RequestContext): Prisma.Sql {
  return Prisma.sql`user_id = ${callerOf(principal).id}::uuid AND ${isOpen}`;
}
