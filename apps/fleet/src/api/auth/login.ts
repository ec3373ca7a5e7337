import { createHash } from 'node:crypto';
import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Owner } from '../../auth/sessions.ts';
import { holdUser } from '../../auth/users.ts';
import type { Database } from '../../database/client.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { recorded } from '../change.ts';
import { type RequestContext, route } from '../context.ts';
import { signIn } from './sign-in.ts';

/** A sign-in that is tried: which account, from where. */
interface Attempt {
  readonly account: string;
  readonly address: string;
}

const FREE_FAILURES = 5;
const MAX_WAIT_SECONDS = 60;
const FORGET_AFTER = '15 minutes';

/**
 * Counts an attempt as a failure before it is judged, so that many at the same moment are no way around the limit; a
 * success forgets it. After five failures each further one doubles the wait, up to a minute: guessing gets slow, nobody
 * is locked out for good. Shared by all replicas. @throws 429 while the account is blocked for the address
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
  if (counted === 0) throw await blocked(client, attempt);
}

async function blocked(client: Database['client'], attempt: Attempt): Promise<Problem> {
  const [row] = await client.$queryRaw<{ seconds: number }[]>`
      SELECT ceil(extract(epoch FROM blocked_until - now()))::int AS seconds
      FROM sign_in_failures WHERE subject = ${subjectOf(attempt)} AND blocked_until > now()`;
  const seconds = row?.seconds ?? 1; // it may have ended in between
  return new Problem('rate_limited', `Too many failed sign-ins: try again in ${seconds} s.`, {
    headers: { 'Retry-After': `${seconds}` },
  });
}

/** Forgets the failures of an attempt that succeeded. */
async function forgetFailures({ client }: Database, attempt: Attempt): Promise<void> {
  await client.$executeRaw`DELETE FROM sign_in_failures WHERE subject = ${subjectOf(attempt)}`;
}

/** However an account is written, it is one. Hashed: what was typed as an account may be a password. */
const subjectOf = ({ account, address }: Attempt) =>
  createHash('sha256')
    .update(JSON.stringify([account.trim().toLowerCase().normalize('NFKC'), address]))
    .digest('hex');

export const login = route(fleetEndpoints.login, async (context, { body }) => {
  const { database, address } = context;
  const { email, username, password } = body;
  const attempt = { account: email ?? username ?? '', address };
  await countAttempt(database, attempt);
  const proven =
    email === undefined ? temporaryAdmin(context, username ?? '', password) : await local(context, email, password);
  if (!proven) throw wrong();
  await forgetFailures(database, attempt);
  return recorded(context, fleetEndpoints.login, async (transaction) => {
    if (!(await isStillSo(context, transaction, proven))) throw wrong();
    return signIn(context, transaction, proven);
  });
});

const wrong = () => new Problem('invalid_credentials', 'The e-mail, the username or the password is wrong.');

/** A local user who showed their password, with the hash that it fits, and a new one where that is of former parameters. */
type Proven = Extract<Owner, { kind: 'local' }> & {
  readonly password: string;
  readonly hash: string;
  readonly newHash: string | undefined;
};
type TemporaryOwner = Extract<Owner, { kind: 'temporary-admin' }>;

function temporaryAdmin({ sessions }: RequestContext, username: string, password: string): TemporaryOwner | undefined {
  return sessions.temporaryAdmin?.matches(username, password) ? { kind: 'temporary-admin' } : undefined;
}

/** One verification, whoever it is: an unknown user costs what a wrong password costs. */
async function local(
  { database, passwords }: RequestContext,
  given: string,
  password: string,
): Promise<Proven | undefined> {
  const email = given.trim().toLowerCase();
  const user = await database.client.user.findFirst({ where: { email, source: 'local' } });
  const hash = user?.password_hash ?? undefined;
  const { matches, outdated } = await passwords.verify(hash, password);
  if (!user || hash === undefined || !matches) return undefined;
  const newHash = outdated ? await passwords.hash(password) : undefined;
  return { kind: 'local', userId: user.id, password, hash, newHash };
}

/**
 * Whether the password is still right: it may have been changed since it was verified, or its user removed. Until the
 * transaction ends it stays so. A hash of former parameters gives way to one of today's.
 */
async function isStillSo(
  { passwords }: RequestContext,
  transaction: Prisma.TransactionClient,
  proven: Proven | TemporaryOwner,
): Promise<boolean> {
  if (proven.kind === 'temporary-admin') return true;
  const { userId: id, password, hash, newHash } = proven;
  const { password_hash } = (await holdUser(transaction, id)) ?? {};
  if (!password_hash) return false;
  if (password_hash !== hash) return (await passwords.verify(password_hash, password)).matches;
  if (newHash !== undefined) await transaction.user.update({ where: { id }, data: { password_hash: newHash } });
  return true;
}
