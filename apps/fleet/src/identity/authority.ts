import { challengesOf } from '@svc/auth';
import type { FleetRole } from '@svc/contract/fleet';
import { statementsOf } from '@svc/database';
import { disableWebhooksOf, LOST_RIGHT } from '@svc/delivery';
import { invalid } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import type { Settings } from '../settings/settings.ts';
import { authorOf } from './actor.ts';
import type { Creator } from './mcp-tokens.ts';
import type { Principal, SourcePrincipal } from './principal.ts';
import { rolesFrom } from './roles.ts';
import { roleOfUser } from './users.ts';

// A credential that a caller creates is never worth more than its creator. Its role is bounded by
// the present role of its creator (`mcp-tokens.ts`), and it ends with its creator: here.

type Transaction = Prisma.TransactionClient;

/**
 * The creator of what a request creates. Locks the user and the token, so that a concurrent
 * removal, block or revocation waits, and then also ends what was created. @throws 401 if the user
 * or the token is no longer valid
 */
export async function creatorOf(transaction: Transaction, principal: Principal | SourcePrincipal): Promise<Creator> {
  const creator = {
    created_by: authorOf(principal),
    created_by_user: userOf(principal),
    created_by_token: principal.kind === 'token' ? principal.id : null,
  };
  const { created_by_user: user, created_by_token: token } = creator;
  const isValid =
    (user === null ||
      (await exists(
        transaction,
        Prisma.sql`users WHERE id = ${user}::uuid AND removed_at IS NULL AND blocked_at IS NULL`,
      ))) &&
    (token === null ||
      (await exists(transaction, Prisma.sql`tokens WHERE id = ${token}::uuid AND revoked_at IS NULL`)));
  if (!isValid) throw challengesOf('fleet').invalidToken();
  return creator;
}

function userOf(principal: Principal | SourcePrincipal): string | null {
  if (principal.kind === 'token') return principal.createdByUser;
  return principal.kind === 'user' ? principal.id : null;
}

async function exists(transaction: Transaction, row: Prisma.Sql): Promise<boolean> {
  const rows = await transaction.$queryRaw<unknown[]>`SELECT FROM ${row} FOR SHARE`;
  return rows.length > 0;
}

/**
 * Locks the user of the caller, and then tokens and that of the caller in the order of their ids, so
 * that changes of tokens by each other do not wait for each other. Changes of several tokens begin
 * with it.
 */
export async function lockTokens(transaction: Transaction, principal: Principal, tokens: Prisma.Sql): Promise<void> {
  const user = userOf(principal);
  if (user !== null) await exists(transaction, Prisma.sql`users WHERE id = ${user}::uuid`);
  const own = principal.kind === 'token' ? principal.id : null;
  await lockInOrder(transaction, Prisma.sql`${tokens} OR id = ${own}::uuid`);
}

const lockInOrder = (transaction: Transaction, tokens: Prisma.Sql) =>
  transaction.$queryRaw`SELECT FROM tokens WHERE ${tokens} ORDER BY id FOR NO KEY UPDATE`;

/** A creator as a row states it: a user, a token, or a token of a user. */
export type RecordedCreator = Pick<Creator, 'created_by_user' | 'created_by_token'>;

/** The creator of an invitation. Without any of the three, it is unknown. */
export interface Inviter extends RecordedCreator {
  readonly by_temporary_admin: boolean;
}

/** Whether the creator of an invitation could create it now. That of the temporary admin could. */
export async function isByPresentAdmin(
  transaction: Transaction,
  inviter: Inviter,
  settings: Pick<Settings, 'oidc'>,
): Promise<boolean> {
  const { created_by_user, created_by_token, by_temporary_admin } = inviter;
  if (created_by_user === null && created_by_token === null) return by_temporary_admin;
  return hasPresentRole(transaction, inviter, { role: 'admin', settings });
}

interface Wanted {
  readonly role: FleetRole;
  readonly settings: Pick<Settings, 'oidc'>;
}

/** Whether a creator has a role, or a higher one, now. The temporary admin, who is neither a user nor a token, has each. */
export async function hasPresentRole(
  transaction: Transaction,
  { created_by_user: userId, created_by_token: tokenId }: RecordedCreator,
  { role, settings }: Wanted,
): Promise<boolean> {
  const roles = rolesFrom(role);
  if (tokenId !== null) {
    const valid = Prisma.sql`id = ${tokenId}::uuid AND role::text = ANY (${roles}) AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > now())`;
    if (!(await exists(transaction, Prisma.sql`tokens WHERE ${valid}`))) return false;
  }
  if (userId === null) return true;
  const user = await transaction.user.findFirst({ where: { id: userId, removed_at: null, blocked_at: null } });
  if (user === null) return false;
  const present = roleOfUser(user, await settings.oidc(transaction));
  return present !== undefined && roles.includes(present);
}

/** The tokens that were created with a token, directly or with such a token, and are not revoked. */
export const dependentsOf = (tokenId: string): Prisma.Sql => Prisma.sql`(
  WITH RECURSIVE dependents AS (
    SELECT * FROM tokens WHERE created_by_token = ${tokenId}::uuid
    UNION SELECT t.* FROM tokens t JOIN dependents d ON t.created_by_token = d.id)
  SELECT * FROM dependents WHERE revoked_at IS NULL AND id <> ${tokenId}::uuid)`;

/**
 * Ends what a user created, when the user is removed or blocked: revokes the tokens, withdraws the
 * invitations, and disables the webhooks and sources.
 */
export async function endAuthorityOfUser(transaction: Transaction, userId: string): Promise<void> {
  await lockInOrder(
    transaction,
    Prisma.sql`id IN (
      WITH RECURSIVE created AS (
        SELECT id FROM tokens WHERE created_by_user = ${userId}::uuid
        UNION SELECT t.id FROM tokens t JOIN created c ON t.created_by_token = c.id)
      SELECT id FROM created)`,
  );
  const created = await transaction.$queryRaw<{ id: string }[]>`
    UPDATE tokens SET revoked_at = now() WHERE created_by_user = ${userId}::uuid AND revoked_at IS NULL RETURNING id`;
  await transaction.$executeRaw`DELETE FROM invitations WHERE created_by_user = ${userId}::uuid`;
  await endOwned(transaction, 'created_by_user', [userId]);
  for (const { id } of created) await endAuthorityOfToken(transaction, id);
}

/** Disables webhooks and sources. Another caller can enable them, and becomes their creator. */
async function endOwned(
  transaction: Transaction,
  column: 'created_by_user' | 'created_by_token',
  ids: readonly string[],
): Promise<void> {
  await disableWebhooksOf(statementsOf(transaction), column, ids);
  await transaction.$executeRaw`
    UPDATE sources SET disabled_at = now(), disabled_reason = ${LOST_RIGHT}
    WHERE disabled_at IS NULL AND ${Prisma.raw(column)} = ANY (${[...ids]}::uuid[])`;
}

/**
 * Ends what was created with a token, when it is revoked: revokes the tokens, withdraws the
 * invitations, and disables the webhooks and sources. @returns the ids of the tokens
 */
export async function endAuthorityOfToken(transaction: Transaction, tokenId: string): Promise<string[]> {
  const revoked = await transaction.$queryRaw<{ id: string }[]>`
    UPDATE tokens t SET revoked_at = now() FROM ${dependentsOf(tokenId)} d WHERE t.id = d.id RETURNING t.id`;
  const ids = revoked.map(({ id }) => id);
  await transaction.$executeRaw`DELETE FROM invitations WHERE created_by_token = ANY (${[tokenId, ...ids]}::uuid[])`;
  await endOwned(transaction, 'created_by_token', [tokenId, ...ids]);
  return ids;
}

/**
 * Makes another caller the creator of what was created with a token, before it is revoked. Tokens
 * further down keep the token with which they were created. @returns the ids of the tokens @throws
 * 400 if the caller has one of these tokens
 */
export async function transferAuthority(transaction: Transaction, tokenId: string, to: Creator): Promise<string[]> {
  const isOwn = Prisma.sql`${dependentsOf(tokenId)} d WHERE d.id = ${to.created_by_token}::uuid`;
  if ((await transaction.$queryRaw<unknown[]>`SELECT FROM ${isOwn}`).length > 0) {
    throw invalid([{ path: 'keep', message: 'cannot be used with a token that was created with the revoked one' }]);
  }
  const kept = await transaction.$queryRaw<{ id: string }[]>`
    UPDATE tokens t SET created_by_user = ${to.created_by_user}::uuid,
      created_by = CASE WHEN t.created_by_token = ${tokenId}::uuid THEN ${to.created_by} ELSE t.created_by END,
      created_by_token = CASE WHEN t.created_by_token = ${tokenId}::uuid THEN ${to.created_by_token}::uuid ELSE t.created_by_token END
    FROM ${dependentsOf(tokenId)} d WHERE t.id = d.id RETURNING t.id`;
  await transaction.$executeRaw`DELETE FROM invitations WHERE created_by_token = ${tokenId}::uuid`;
  await endOwned(transaction, 'created_by_token', [tokenId]);
  return kept.map(({ id }) => id);
}
