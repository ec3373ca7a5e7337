import { newCredential } from '@svc/auth';
import { fleetEndpoints } from '@svc/contract/fleet';
import { withCookies } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import { openSession, presentBrowserSession } from '../../identity/sign-in.ts';
import { runAudited } from '../request/change.ts';
import { type RequestContext, route } from '../request/context.ts';
import { logIn } from './login.ts';

export const getBrowserSession = route(fleetEndpoints.getBrowserSession, async (context) =>
  presentBrowserSession(context, context.principal),
);

export const openBrowserSession = route(fleetEndpoints.openBrowserSession, async (context, { body }) => {
  context.requireConsole();
  const reference = newCredential();
  const reply = await logIn(context, {
    endpoint: fleetEndpoints.openBrowserSession,
    body,
    open: async (_, transaction, owner) => {
      await endOwnSession(context, transaction); // a browser has one session
      const person = await openSession(context, transaction, owner);
      await context.sessions.bindToBrowser(transaction, person.sessionId, { reference, keyHash: context.keyHash });
      return presentBrowserSession(context, person);
    },
  });
  return withCookies(reply, [context.browserSessions.cookieOf(reference)]);
});

export const endBrowserSession = route(fleetEndpoints.endBrowserSession, async (context) => {
  const { browserSessions } = context;
  const reply = await runAudited(context, fleetEndpoints.endBrowserSession, async (transaction) => {
    await endOwnSession(context, transaction);
    return undefined;
  });
  return withCookies(reply, [browserSessions.noCookie], { clearsCache: true });
});

/** Ends the session of the request, if it has one. */
async function endOwnSession({ principal }: RequestContext, transaction: Prisma.TransactionClient): Promise<void> {
  const sessionId = 'sessionId' in principal ? principal.sessionId : undefined;
  if (sessionId === undefined) return;
  await transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE id = ${sessionId}::uuid`;
}
