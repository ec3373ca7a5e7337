import { hubEndpoints } from '@svc/contract/hub';
import { withCookies } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { accessOf } from '../../identity/policy.ts';
import type { Principal } from '../../identity/principal.ts';
import { presentUser, withOrganization } from '../../organizations/present.ts';
import { route } from '../request/context.ts';
import { endSessions } from './sessions.ts';

export const getBrowserSession = route(hubEndpoints.getBrowserSession, ({ database, principal }) =>
  presentBrowserSession(database, principal),
);

/** The session of the console, as the console reads it. */
export async function presentBrowserSession({ client }: Pick<Database, 'client'>, principal: Principal) {
  const may = accessOf(principal);
  if (principal.kind !== 'user') return { user: null, may };
  const row = await client.user.findUniqueOrThrow({ where: { id: principal.id }, include: withOrganization });
  return { user: presentUser(row), may };
}

export const endBrowserSession = route(hubEndpoints.endBrowserSession, async (context) => {
  const { principal, browserSessions } = context;
  if (principal.kind === 'user' && principal.sessionId !== undefined) {
    await endSessions(context, hubEndpoints.endBrowserSession, principal.sessionId);
  }
  return withCookies(undefined, [browserSessions.noCookie], { clearsCache: true });
});
