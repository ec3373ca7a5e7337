import { displayPrefix, hashSecretToken, newSecretToken } from '@svc/auth';
import { fleetEndpoints } from '@svc/contract/fleet';
import { notFound, Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { by, readPage } from '../database/lists.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { approvalOf, strictest } from '../identity/approvals.ts';
import { creatorOf, dependentsOf, endAuthorityOfToken, lockTokens, transferAuthority } from '../identity/authority.ts';
import { expiryOf, insertToken, type TokenRow, tokenColumns, tokenRow } from '../identity/mcp-tokens.ts';
import { tokenList } from '../identity/token-list.ts';
import { isUuid } from '../resources/kind.ts';
import { changeRoute } from './request/change.ts';
import { route } from './request/context.ts';

export const listTokens = route(fleetEndpoints.listTokens, async ({ database }, { query }) => {
  const { rows, pagination } = await readPage(database.client, tokenList, query);
  return { tokens: rows.map((row) => tokenRow.parse(row)), pagination };
});

export const createToken = changeRoute(fleetEndpoints.createToken, async ({ transaction, principal }, { body }) => {
  const secret = newSecretToken('svcm_');
  const { name, role, expires_in_days } = body;
  const approval = strictest(body.approval, approvalOf(principal));
  const creator = await creatorOf(transaction, principal);
  const token = await insertToken(transaction, secret, {
    id: uuidv7(),
    name,
    role,
    expires_in_days,
    approval,
    ...creator,
  });
  return { token: { ...token, secret } };
});

export const reissueToken = changeRoute(fleetEndpoints.reissueToken, async ({ transaction, principal }, { params }) => {
  const secret = newSecretToken('svcm_');
  // Whoever learns the new secret owns the token, so that it ends with them. A token that reissues itself keeps its owner.
  const isOwn = principal.kind === 'token' && principal.id === params.id;
  if (!isOwn) await lockTokens(transaction, principal, idIs(params.id));
  const creator = isOwn ? undefined : await creatorOf(transaction, principal);
  const owner =
    creator === undefined
      ? Prisma.empty
      : Prisma.sql`created_by = ${creator.created_by}, created_by_user = ${creator.created_by_user}::uuid,
          created_by_token = ${creator.created_by_token}::uuid,`;
  const [token] = await updateToken(
    transaction,
    params.id,
    Prisma.sql`${owner} token_hash = ${hashSecretToken(secret)}, token_prefix = ${displayPrefix(secret)},
      expires_at = ${expiryOf(Prisma.sql`expires_in_days`, isOwn ? params.id : (creator?.created_by_token ?? null))}`,
    Prisma.sql`AND revoked_at IS NULL`,
  );
  if (token) return { token: { ...token, secret } };
  await refuseAbsent(transaction, params.id);
  throw new Problem('token_revoked', 'A revoked token cannot be reissued. Create a new token.');
});

export const listDependents = route(fleetEndpoints.listDependents, async ({ database }, { params, query }) => {
  await refuseAbsent(database.client, params.id);
  const rules = { filters: {}, sorts: { created_at: by(Prisma.sql`r.created_at`) } };
  const list = { table: dependentsOf(params.id), columns: tokenColumns, rules };
  const { rows, pagination } = await readPage(database.client, list, { ...query, sort: '-created_at' as const });
  return { tokens: rows.map((row) => tokenRow.parse(row)), pagination };
});

export const revokeToken = changeRoute(fleetEndpoints.revokeToken, async (context, { params, query }) => {
  const { transaction, principal } = context;
  const dependents = Prisma.sql`SELECT id FROM ${dependentsOf(params.id)} d`;
  if (isUuid(params.id))
    await lockTokens(transaction, principal, Prisma.sql`${idIs(params.id)} OR id IN (${dependents})`);
  const [token] = await updateToken(
    transaction,
    params.id,
    Prisma.sql`revoked_at = coalesce(revoked_at, now())`,
    Prisma.empty,
  );
  if (!token) throw notFound();
  if (query.keep === undefined) return { token, revoked: await endAuthorityOfToken(transaction, token.id), kept: [] };
  // A token that revokes itself cannot own what remains: `creatorOf` refuses it.
  return {
    token,
    revoked: [],
    kept: await transferAuthority(transaction, token.id, await creatorOf(transaction, principal)),
  };
});

/** A condition on the id of a token. An id that is none has no row. */
const idIs = (id: string) => (isUuid(id) ? Prisma.sql`id = ${id}::uuid` : Prisma.sql`false`);

const updateToken = (transaction: Prisma.TransactionClient, id: string, set: Prisma.Sql, condition: Prisma.Sql) =>
  isUuid(id)
    ? transaction.$queryRaw<TokenRow[]>`
        UPDATE tokens SET ${set} WHERE id = ${id}::uuid ${condition} RETURNING ${tokenColumns}`
    : Promise.resolve([]);

async function refuseAbsent(transaction: Pick<Prisma.TransactionClient, 'token'>, id: string): Promise<void> {
  if (!isUuid(id) || !(await transaction.token.findUnique({ where: { id }, select: { id: true } }))) throw notFound();
}
