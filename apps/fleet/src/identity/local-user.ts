import { invalid } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { type ActorRecording, UNKNOWN_ACCOUNT } from './actor.ts';
import type { Passwords } from './passwords/passwords.ts';
import type { CallerClass } from './passwords/queue.ts';
import type { IdentityServices } from './services.ts';
import { type Attempt, admitAttempt } from './sign-in-throttle.ts';
import { lockUser } from './users.ts';

interface AttemptContext extends Pick<IdentityServices, 'database' | 'passwords'> {
  readonly recording: ActorRecording;
}

interface Evaluation<V> {
  /** Compares the password, and sets the actor of the audit entry. Undefined: it is wrong. */
  readonly verify: (caller: CallerClass) => Promise<V | undefined>;
  /** The problem for a wrong password. */
  readonly failure: () => Error;
}

/**
 * Verifies a password within the limits for sign-ins. Each attempt whose password was compared has
 * an audit entry, and the limits bound their number.
 * @throws `failure`; 429 while a limit blocks the caller; 503 if too many attempts are waiting
 */
export async function evaluateAttempt<V>(
  { database, recording }: AttemptContext,
  attempt: Attempt,
  { verify, failure }: Evaluation<V>,
): Promise<V> {
  const admitted = await admitAttempt(database, attempt);
  const verified = await verify(admitted.caller).catch(async (error: unknown) => {
    await admitted.withdraw();
    throw error;
  });
  recording.isRequired = true;
  if (verified === undefined) throw admitted.refusal ?? failure();
  await admitted.succeed();
  return verified;
}

/**
 * A local user whose password was verified, with its hash, and a new hash if the parameters of the
 * stored one are outdated.
 */
export interface VerifiedUser {
  readonly kind: 'local';
  readonly userId: string;
  readonly name: string;
  readonly password: string;
  readonly hash: string;
  readonly newHash: string | undefined;
}

/**
 * Runs one password verification in any case, so that an unknown user takes the same time as a
 * wrong password.
 */
export async function verifyLocalUser(
  { database, passwords, recording }: AttemptContext,
  {
    email: given,
    password,
    caller,
  }: { readonly email: string; readonly password: string; readonly caller: CallerClass },
): Promise<VerifiedUser | undefined> {
  const email = given.trim().toLowerCase();
  const user = await database.client.user.findFirst({ where: { email, source: 'local' } });
  recording.setActor(user ? { actor: email, user_id: user.id } : UNKNOWN_ACCOUNT);
  const hash = user?.password_hash ?? undefined;
  const { matches, outdated } = await passwords.verify(hash, password, caller);
  if (!user || hash === undefined || !matches) return undefined;
  const newHash = outdated ? await passwords.hash(password) : undefined;
  return { kind: 'local', userId: user.id, name: user.name, password, hash, newHash };
}

/**
 * Whether the password is still correct and the user exists, since both may have changed after the
 * verification. Locks the user until the transaction ends. Replaces a hash with outdated
 * parameters.
 */
export async function isStillValid(
  { passwords }: AttemptContext,
  transaction: Prisma.TransactionClient,
  { userId: id, password, hash, newHash }: VerifiedUser,
): Promise<boolean> {
  const { password_hash } = (await lockUser(transaction, id)) ?? {};
  if (!password_hash) return false;
  if (password_hash !== hash) return (await passwords.verify(password_hash, password, 'known')).matches;
  if (newHash !== undefined) await transaction.user.update({ where: { id }, data: { password_hash: newHash } });
  return true;
}

interface NewPassword {
  /** The member of the request that contains it. */
  readonly path: string;
  readonly password: string;
  /** The e-mail address and the name of the user. */
  readonly about: readonly string[];
}

/** Hashes a new password. @throws 400 if it is too easy to guess */
export async function hashPassword(passwords: Passwords, { path, password, about }: NewPassword): Promise<string> {
  const reason = await passwords.findWeakness(password, about);
  if (reason !== undefined) throw invalid([{ path, message: reason }]);
  return passwords.hash(password);
}

/** Ends the sessions of a user, except one. */
export const endSessions = (transaction: Prisma.TransactionClient, userId: string, except?: string) =>
  transaction.$executeRaw`
    UPDATE sessions SET ended_at = now()
    WHERE user_id = ${userId}::uuid AND ended_at IS NULL AND id IS DISTINCT FROM ${except ?? null}::uuid`;

/** Ends the open invitation of a user. The caller has locked the user. */
export const endInvitation = (transaction: Prisma.TransactionClient, userId: string) =>
  transaction.$executeRaw`DELETE FROM invitations WHERE user_id = ${userId}::uuid`;
