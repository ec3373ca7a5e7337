import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid } from '@svc/http';
import {
  endInvitation,
  endSessions,
  evaluateAttempt,
  hashPassword,
  isStillValid,
  verifyLocalUser,
} from '../../identity/local-user.ts';
import { runAudited } from '../request/change.ts';
import { route } from '../request/context.ts';

/**
 * A wrong current password counts as a failed sign-in, so that a stolen session cannot be used to
 * guess it.
 */
export const changeOwnPassword = route(fleetEndpoints.changeOwnPassword, async (context, { body }) => {
  const { passwords, principal, address } = context;
  if (principal.kind !== 'user' || principal.email === null) throw new Error('the policy must admit only local users');
  const { email, sessionId } = principal;
  const verified = await evaluateAttempt(
    context,
    { account: email, address },
    {
      verify: (caller) => verifyLocalUser(context, { email, password: body.current_password, caller }),
      failure: wrongPassword,
    },
  );
  const password_hash = await hashPassword(passwords, {
    path: 'new_password',
    password: body.new_password,
    about: [email, verified.name],
  });
  return runAudited(context, fleetEndpoints.changeOwnPassword, async (transaction) => {
    if (!(await isStillValid(context, transaction, verified))) throw wrongPassword();
    const { userId: id } = verified;
    await transaction.user.update({ where: { id }, data: { password_hash, updated_at: new Date() } });
    await endSessions(transaction, id, sessionId);
    await endInvitation(transaction, id);
    return undefined;
  });
});

/** Not 401: the credential of the request is valid, and clients sign in again after a 401. */
const wrongPassword = () => invalid([{ path: 'current_password', message: 'is wrong' }]);
