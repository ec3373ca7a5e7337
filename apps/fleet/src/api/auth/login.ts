import { createHash } from 'node:crypto';
import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Owner } from '../../auth/sessions.ts';
import { lockUser } from '../../auth/users.ts';
import type { Database } from '../../database/client.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { runAudited } from '../change.ts';
import { type RequestContext, route } from '../context.ts';
import { signIn } from './sign-in.ts';

/** An attempt to sign in: the account and the address of the caller. */
interface Attempt {
  readonly account: string;
  readonly address: string;
}

const FREE_FAILURES = 5;
const MAX_WAIT_SECONDS = 60;
const FORGET_AFTER = '15 minutes';

/**
 * Counts an attempt as a failure before the password is verified, so that concurrent attempts cannot evade the limit. A success
 * deletes the count. After five failures, each further failure doubles the wait, up to one minute. This slows down guessing
 * without locking accounts permanently. All replicas share the count. @throws 429 while the account is blocked for the address
 */
async function countAttempt({ client }: Database, attempt: Attempt): Promise<void> {
  const counted = await client.$executeRaw`
      INSERT INTO sign_in_failures AS f (subject, failures, last_at) VALUES (${subjectOf(attempt)}, 1, now())
      ON CONFLICT (subject) DO UPDATE SET
        failures = CASE WHEN f.last_at < now() - ${FORGET_AFTER}::interval THEN 1 ELSE f.failures + 1 END,
        last_at = now(),
        blocked_until = CASE
          WHEN f.failures + 1 > ${FREE_FAILURES} AND f.last_at >= now() - ${FORGET_AFTER}::interval
          THEN now() + make_interval(secs => least(${MAX_WAIT_SECONDS}, power(2, least(f.failures + 1 - ${FREE_FAILURES}, 10))))
        END
      WHERE f.blocked_until IS NULL OR f.blocked_until <= now()`;
  if (counted === 0) throw await tooManyFailures(client, attempt);
}

async function tooManyFailures(client: Database['client'], attempt: Attempt): Promise<Problem> {
  const [row] = await client.$queryRaw<{ seconds: number }[]>`
      SELECT ceil(extract(epoch FROM blocked_until - now()))::int AS seconds
      FROM sign_in_failures WHERE subject = ${subjectOf(attempt)} AND blocked_until > now()`;
  const seconds = row?.seconds ?? 1; // the wait can have ended since the previous query
  return new Problem('rate_limited', `Too many failed sign-ins. Try again in ${seconds} s.`, {
    headers: { 'Retry-After': `${seconds}` },
  });
}

/** Deletes the count of failures after a success. */
async function forgetFailures({ client }: Database, attempt: Attempt): Promise<void> {
  await client.$executeRaw`DELETE FROM sign_in_failures WHERE subject = ${subjectOf(attempt)}`;
}

/** The key of the failure count. Normalizes the account, and hashes it, because a user may enter a password as the account. */
const subjectOf = ({ account, address }: Attempt) =>
  createHash('sha256')
    .update(JSON.stringify([account.trim().toLowerCase().normalize('NFKC'), address]))
    .digest('hex');

export const login = route(fleetEndpoints.login, async (context, { body }) => {
  const { database, address } = context;
  const { email, username, password } = body;
  const attempt = { account: email ?? username ?? '', address };
  await countAttempt(database, attempt);
  const verified =
    email === undefined
      ? verifyTemporaryAdmin(context, username ?? '', password)
      : await verifyLocalUser(context, email, password);
  if (!verified) throw invalidCredentials();
  await forgetFailures(database, attempt);
  return runAudited(context, fleetEndpoints.login, async (transaction) => {
    if (!(await isStillValid(context, transaction, verified))) throw invalidCredentials();
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
  input: string,
  password: string,
): Promise<VerifiedUser | undefined> {
  const email = input.trim().toLowerCase();
  const user = await database.client.user.findFirst({ where: { email, source: 'local' } });
  const hash = user?.password_hash ?? undefined;
  const { matches, outdated } = await passwords.verify(hash, password);
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
  if (password_hash !== hash) return (await passwords.verify(password_hash, password)).matches;
  if (newHash !== undefined) await transaction.user.update({ where: { id }, data: { password_hash: newHash } });
  return true;
}
