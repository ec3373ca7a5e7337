import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { recorded } from '../audit/change.ts';
import { type RequestContext, route } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { holdUser } from '../users/rows.ts';
import type { Owner } from './sessions.ts';
import { signIn } from './sign-in.ts';
import { countAttempt, forgetFailures } from './throttle.ts';

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
