import { MAX_SESSIONS } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { notFound, withCookies } from '@svc/http';
import { Prisma } from '../../generated/prisma/client.ts';
import { isOpen } from '../../identity/sessions/people.ts';
import { isUuid } from '../../resources/kind.ts';
import { changeRoute, runAudited } from '../request/change.ts';
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

export const listOwnSessions = route(fleetEndpoints.listOwnSessions, async (context) => {
  const { database, principal } = context;
  const sessions = await database.client.$queryRaw<SessionRow[]>`
    SELECT id, CASE WHEN browser_hash IS NULL THEN 'tokens' ELSE 'browser' END AS kind, user_agent, source,
      created_at, last_used_at, expires_at
    FROM sessions WHERE ${isOwn(context)} ORDER BY created_at DESC, id DESC LIMIT ${MAX_SESSIONS}`;
  const current = 'sessionId' in principal ? principal.sessionId : undefined;
  return { sessions: sessions.map((session) => ({ ...session, current: session.id === current })) };
});

export const endOwnSessions = route(fleetEndpoints.endOwnSessions, async (context) => {
  const reply = await runAudited(context, fleetEndpoints.endOwnSessions, async (transaction) => {
    await transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE ${isOwn(context)}`;
    return undefined;
  });
  return withCookies(reply, [context.browserSessions.noCookie], { clearsCache: true });
});

export const endOwnSession = changeRoute(fleetEndpoints.endOwnSession, async (context, { params: { id } }) => {
  const ended = isUuid(id)
    ? await context.transaction.$executeRaw`
        UPDATE sessions SET ended_at = now() WHERE id = ${id}::uuid AND ${isOwn(context)}`
    : 0;
  if (ended === 0) throw notFound();
  return undefined;
});

/**
 * Whether a session is open and belongs to the caller. Sessions of the temporary admin belong to no
 * user.
 */
function isOwn({ principal, sessions }: RequestContext): Prisma.Sql {
  const owner =
    principal.kind === 'user'
      ? Prisma.sql`user_id = ${principal.id}::uuid`
      : Prisma.sql`user_id IS NULL AND fingerprint = ${sessions.temporaryAdmin?.fingerprint ?? ''}`;
  return Prisma.sql`${owner} AND ${isOpen}`;
}
