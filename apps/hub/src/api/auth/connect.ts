import { hubEndpoints } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import { callerOf } from '../../identity/caller.ts';
import { type RequestContext, route } from '../request/context.ts';
import { openSession } from './opening.ts';

export const connectProgram = route(hubEndpoints.connectProgram, async (context, { body: { challenge } }) => {
  context.requireConsole();
  await requireBrowser(context);
  const user = callerOf(context.principal);
  const { status } = hubEndpoints.connectProgram;
  return { code: await openSession(context, { user, challenge, hasToken: true, status }) };
});

/**
 * Requires a session of a browser. A program could otherwise open further sessions, and so extend
 * its own. @throws 403
 */
async function requireBrowser({ database: { client }, principal }: RequestContext): Promise<void> {
  const { sessionId = '' } = callerOf(principal);
  const session = await client.session.findUnique({ where: { id: sessionId }, select: { has_token: true } });
  if (session?.has_token === false) return;
  throw new Problem('wrong_origin', 'Only the console can connect a program, after the person has agreed.');
}
