import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Principal } from '../../identity/principal.ts';
import type { Owner } from '../../identity/sessions/opening.ts';
import { issueSignInCode, openSession } from '../../identity/sign-in.ts';
import { runAudited } from '../request/change.ts';
import { route } from '../request/context.ts';

export const connectProgram = route(fleetEndpoints.connectProgram, async (context, { body: { challenge } }) => {
  context.requireConsole();
  return runAudited(context, fleetEndpoints.connectProgram, async (transaction) => {
    const owner = await ownerInBrowser(transaction, context.principal);
    const { sessionId } = await openSession(context, transaction, owner);
    return { code: await issueSignInCode(transaction, sessionId, challenge) };
  });
});

/**
 * The owner of the session of a browser. A program could otherwise open further sessions, and so
 * extend its own. @throws 403
 */
async function ownerInBrowser(transaction: Prisma.TransactionClient, principal: Principal): Promise<Owner> {
  const id = 'sessionId' in principal ? principal.sessionId : undefined;
  const session = await transaction.session.findUnique({ where: { id: id ?? '' }, select: { browser_hash: true } });
  if (!session?.browser_hash) {
    throw new Problem('wrong_origin', 'Only the console can connect a program, after the person has agreed.');
  }
  if (principal.kind !== 'user') return { kind: 'temporary-admin' };
  // The provider is not asked about this session, which ends after a day.
  if (principal.source === 'oidc') return { kind: 'oidc', userId: principal.id, providerToken: undefined };
  return { kind: 'local', userId: principal.id };
}
