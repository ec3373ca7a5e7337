import type { Input } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { CallerClass } from '../../auth/password-queue.ts';
import type { Owner } from '../../auth/sessions.ts';
import { admitAttempt, rememberNetwork } from '../../auth/sign-in-throttle.ts';
import { lockUser } from '../../auth/users.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { runAudited } from '../change.ts';
import { type RequestContext, route } from '../context.ts';
import { signIn } from './sign-in.ts';

export const login = route(fleetEndpoints.login, async (context, { body }) => {
  const { database, address } = context;
  const attempt = { account: body.email ?? body.username ?? '', address };
  const admitted = await admitAttempt(database, attempt);
  const verified = await verify(context, body, admitted.caller).catch(async (error: unknown) => {
    await admitted.withdraw();
    throw error;
  });
  if (!verified) throw admitted.refusal ?? invalidCredentials();
  await admitted.succeed();
  return runAudited(context, fleetEndpoints.login, async (transaction) => {
    if (!(await isStillValid(context, transaction, verified))) throw invalidCredentials();
    await rememberNetwork(transaction, attempt);
    return signIn(context, transaction, verified);
  });
});

const invalidCredentials = () =>
  new Problem('invalid_credentials', 'The e-mail address, the username or the password is wrong.');

/** A local user whose password was verified, with its hash, and a new hash if the parameters of the stored one are outdated. */
type VerifiedUser = Extract<Owner, { kind: 'local' }> & {
  readonly password: string;
  readonly hash: string;
  readonly newHash: string | undefined;
};
type TemporaryAdminOwner = Extract<Owner, { kind: 'temporary-admin' }>;

async function verify(
  context: RequestContext,
  { email, username = '', password }: Input<typeof fleetEndpoints.login>['body'],
  caller: CallerClass,
): Promise<VerifiedUser | TemporaryAdminOwner | undefined> {
  return email === undefined
    ? verifyTemporaryAdmin(context, username, password)
    : verifyLocalUser(context, { email, password, caller });
}

function verifyTemporaryAdmin(
  { sessions }: RequestContext,
  username: string,
  password: string,
): TemporaryAdminOwner | undefined {
  return sessions.temporaryAdmin?.matches(username, password) ? { kind: 'temporary-admin' } : undefined;
}

/** Runs one password verification in any case, so that an unknown user takes the same time as a wrong password. */
async function verifyLocalUser(
  { database, passwords }: RequestContext,
  {
    email: given,
    password,
    caller,
  }: { readonly email: string; readonly password: string; readonly caller: CallerClass },
): Promise<VerifiedUser | undefined> {
  const email = given.trim().toLowerCase();
  const user = await database.client.user.findFirst({ where: { email, source: 'local' } });
  const hash = user?.password_hash ?? undefined;
  const { matches, outdated } = await passwords.verify(hash, password, caller);
  if (!user || hash === undefined || !matches) return undefined;
  const newHash = outdated ? await passwords.hash(password) : undefined;
  return { kind: 'local', userId: user.id, password, hash, newHash };
}

/**
 * Whether the password is still correct and the user exists, since both may have changed after the verification. Locks the user
 * until the transaction ends. Replaces a hash with outdated parameters.
 */
async function isStillValid(
  { passwords }: RequestContext,
  transaction: Prisma.TransactionClient,
  verified: VerifiedUser | TemporaryAdminOwner,
): Promise<boolean> {
  if (verified.kind === 'temporary-admin') return true;
  const { userId: id, password, hash, newHash } = verified;
  const { password_hash } = (await lockUser(transaction, id)) ?? {};
  if (!password_hash) return false;
  if (password_hash !== hash) return (await passwords.verify(password_hash, password, 'known')).matches;
  if (newHash !== undefined) await transaction.user.update({ where: { id }, data: { password_hash: newHash } });
  return true;
}
