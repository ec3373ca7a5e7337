import type { Endpoint, Input, Reply } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import { UNKNOWN_ACCOUNT } from '../../identity/actor.ts';
import { evaluateAttempt, isStillValid, type VerifiedUser, verifyLocalUser } from '../../identity/local-user.ts';
import type { CallerClass } from '../../identity/passwords/queue.ts';
import type { Owner } from '../../identity/sessions/opening.ts';
import { signIn } from '../../identity/sign-in.ts';
import { counted } from '../../identity/sign-in-metrics.ts';
import { rememberNetwork } from '../../identity/sign-in-throttle.ts';
import { runAudited } from '../request/change.ts';
import { type RequestContext, route } from '../request/context.ts';

type Body = Input<typeof fleetEndpoints.login>['body'];

export const login = route(fleetEndpoints.login, (context, { body }) =>
  logIn(context, { endpoint: fleetEndpoints.login, body, open: signIn }),
);

interface LogIn<E extends Endpoint> {
  readonly endpoint: E;
  readonly body: Body;
  /** Opens the session of the person whose password was verified. */
  readonly open: (context: RequestContext, transaction: Prisma.TransactionClient, owner: Owner) => Promise<Reply<E>>;
}

/** Verifies a password and opens a session. @throws 401, 403, 429, 503 */
export const logIn = <E extends Endpoint>(
  context: RequestContext,
  { endpoint, body, open }: LogIn<E>,
): Promise<Reply<E>> =>
  counted(body.email === undefined ? 'temporary_admin' : 'local', async () => {
    const attempt = { account: body.email ?? body.username ?? '', address: context.address };
    const verified = await evaluateAttempt(context, attempt, {
      verify: (caller) => verify(context, body, caller),
      failure: invalidCredentials,
    });
    return runAudited(context, endpoint, async (transaction) => {
      if (verified.kind === 'local' && !(await isStillValid(context, transaction, verified)))
        throw invalidCredentials();
      await rememberNetwork(transaction, attempt);
      return open(context, transaction, verified);
    });
  });

const invalidCredentials = () =>
  new Problem('invalid_credentials', 'The e-mail address, the username or the password is wrong.');

type TemporaryAdminOwner = Extract<Owner, { kind: 'temporary-admin' }>;

async function verify(
  context: RequestContext,
  { email, username = '', password }: Body,
  caller: CallerClass,
): Promise<VerifiedUser | TemporaryAdminOwner | undefined> {
  return email === undefined
    ? verifyTemporaryAdmin(context, username, password)
    : verifyLocalUser(context, { email, password, caller });
}

function verifyTemporaryAdmin(
  { sessions: { temporaryAdmin }, recording }: RequestContext,
  username: string,
  password: string,
): TemporaryAdminOwner | undefined {
  const owner = { kind: 'temporary-admin' } as const;
  recording.setActor(temporaryAdmin?.hasUsername(username) ? { actor: owner.kind, user_id: null } : UNKNOWN_ACCOUNT);
  return temporaryAdmin?.matches(username, password) ? owner : undefined;
}
