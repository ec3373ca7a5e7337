import { challengesOf, displayPrefix, hashSecretToken, newSecretToken } from '@svc/auth';
import { fleetEndpoints } from '@svc/contract/fleet';
import { notFound, Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { readPage } from '../database/lists.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { insertToken, type TokenRow, tokenColumns, tokenRow } from '../identity/mcp-tokens.ts';
import type { Principal } from '../identity/principal.ts';
import { tokenList } from '../identity/token-list.ts';
import { lockUser } from '../identity/users.ts';
import { isUuid } from '../resources/kind.ts';
import { changeRoute } from './change.ts';
import { route } from './context.ts';

export const listTokens = route(fleetEndpoints.listTokens, async ({ database }, { query }) => {
  const { rows, pagination } = await readPage(database.client, tokenList, query);
  return { tokens: rows.map((row) => tokenRow.parse(row)), pagination };
});

export const createToken = changeRoute(fleetEndpoints.createToken, async ({ transaction, principal }, { body }) => {
  const secret = newSecretToken('svcm_');
  const { name, role, expires_in_days } = body;
  const creator = creatorOf(principal);
  await refuseRemovedUser(transaction, creator.created_by_user);
  const token = await insertToken(transaction, secret, { id: uuidv7(), name, role, expires_in_days, ...creator });
  return { token: { ...token, secret } };
});

export const reissueToken = changeRoute(fleetEndpoints.reissueToken, async ({ transaction }, { params }) => {
  const secret = newSecretToken('svcm_');
  // The database computes the expiry, because its clock later decides whether the token has
  // expired.
  const [token] = await updateToken(
    transaction,
    params.id,
    Prisma.sql`token_hash = ${hashSecretToken(secret)}, token_prefix = ${displayPrefix(secret)},
      expires_at = now() + make_interval(days => expires_in_days)`,
    Prisma.sql`AND revoked_at IS NULL`,
  );
  if (token) return { token: { ...token, secret } };
  await refuseAbsent(transaction, params.id);
  throw new Problem('token_revoked', 'A revoked token cannot be reissued. Create a new token.');
});

export const revokeToken = changeRoute(fleetEndpoints.revokeToken, async ({ transaction }, { params }) => {
  const [token] = await updateToken(
    transaction,
    params.id,
    Prisma.sql`revoked_at = coalesce(revoked_at, now())`,
    Prisma.empty,
  );
  if (!token) throw notFound();
  return { token };
});

const updateToken = (transaction: Prisma.TransactionClient, id: string, set: Prisma.Sql, condition: Prisma.Sql) =>
  isUuid(id)
    ? transaction.$queryRaw<TokenRow[]>`
        UPDATE tokens SET ${set} WHERE id = ${id}::uuid ${condition} RETURNING ${tokenColumns}`
    : Promise.resolve([]);

async function refuseAbsent(transaction: Prisma.TransactionClient, id: string): Promise<void> {
  if (!isUuid(id) || !(await transaction.token.findUnique({ where: { id }, select: { id: true } }))) throw notFound();
}

/**
 * The creator of a token: the name to show, and the id of the user whose removal revokes the token.
 */
function creatorOf(principal: Principal): { readonly created_by: string; readonly created_by_user: string | null } {
  const userId = principal.kind === 'token' ? principal.createdByUser : principal.kind === 'user' ? principal.id : null;
  return { created_by: authorOf(principal), created_by_user: userId };
}

/**
 * Refuses the request of a user who was removed after it was authenticated. Locks the user, so that
 * a concurrent removal waits and also revokes the new token.
 */
async function refuseRemovedUser(transaction: Prisma.TransactionClient, userId: string | null): Promise<void> {
  if (userId !== null && !(await lockUser(transaction, userId))) throw challengesOf('fleet').invalidToken();
}
