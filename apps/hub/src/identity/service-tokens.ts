import { challengesOf, displayPrefix, hashSecretToken, isSecretToken, newSecretToken, TokenRefused } from '@svc/auth';
import { MAX_SERVICE_TOKENS, type ServiceScope } from '@svc/contract/hub';
import { statementsOf } from '@svc/database';
import { disableWebhooksOf } from '@svc/delivery';
import { notFound, Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { ServicePrincipal, UserPrincipal } from './principal.ts';

type Transaction = Prisma.TransactionClient;

/** A service token as lists return it. */
export interface ServiceTokenRow {
  readonly id: string;
  readonly name: string;
  readonly token_prefix: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly scopes: string[];
  readonly categories: { id: string; slug: string }[];
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date;
  readonly owner: { id: string; email: string | null; name: string };
}

/** Whether a user `u` is an administrator. */
export const isAdministrator = Prisma.sql`(u.role IN ('admin', 'superadmin') AND u.blocked_at IS NULL)`;

/**
 * The status of a token `t` with its owner `u`. Version 0.2.0 demotes and blocks owners without
 * revoking their tokens.
 */
export const serviceTokenStatus = Prisma.sql`
  (CASE WHEN t.revoked_at IS NOT NULL OR NOT ${isAdministrator} THEN 'revoked'
    WHEN t.expires_at <= now() THEN 'expired' ELSE 'active' END)`;

/** The tables of a query of tokens. */
export const serviceTokens = Prisma.sql`service_tokens t JOIN users u ON u.id = t.owner_id`;

/** The select list of a query of `serviceTokens`. */
export const serviceTokenColumns = Prisma.sql`
  t.id, t.name, t.token_prefix, t.scopes, t.created_at, t.last_used_at, t.expires_at, ${serviceTokenStatus} AS status,
  jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name) AS owner,
  coalesce((SELECT jsonb_agg(jsonb_build_object('id', c.id, 'slug', c.slug) ORDER BY c.slug, c.id)
    FROM service_token_categories s JOIN categories c ON c.id = s.category_id WHERE s.token_id = t.id), '[]') AS categories`;

/** The only paths at which a service token is valid. */
const ONLY_AT_PUBLISH = 'A service token is valid only at /api/v1/publish. Use an API key, or the JWT of a user.';

interface Verification {
  /** Whether the request is to an endpoint at which service tokens are valid. */
  readonly isPublishing: boolean;
}

/**
 * Resolves a service token to its principal, or to undefined if it is not valid. The database is
 * asked at each request, because there are few of them. @throws TokenRefused at another endpoint
 */
export async function verifyServiceToken(
  { client }: Pick<Database, 'client'>,
  token: string,
  { isPublishing }: Verification,
): Promise<ServicePrincipal | undefined> {
  if (!isPublishing) throw new TokenRefused(ONLY_AT_PUBLISH);
  if (!isSecretToken('svcs_', token)) return undefined;
  const [row] = await client.$queryRaw<FoundRow[]>`
    SELECT t.id, t.scopes, u.id AS owner_id, u.email,
      coalesce(t.last_used_at < now() - interval '1 minute', true) AS is_unused,
      ARRAY(SELECT s.category_id::text FROM service_token_categories s WHERE s.token_id = t.id) AS categories
    FROM ${serviceTokens} WHERE t.token_hash = ${hashSecretToken(token)} AND ${serviceTokenStatus} = 'active'`;
  if (!row) return undefined;
  const { id, scopes, owner_id, email, is_unused, categories } = row;
  if (is_unused) await client.$executeRaw`UPDATE service_tokens SET last_used_at = now() WHERE id = ${id}::uuid`;
  return { kind: 'service', tokenId: id, scopes, categoryIds: categories, owner: { id: owner_id, email } };
}

/**
 * Requires that a publisher has still the right to publish, at the end of a change that can have
 * waited for others. @throws 401, 403
 */
export async function requirePublisher(
  transaction: Pick<Transaction, '$queryRaw'>,
  publisher: ServicePrincipal | UserPrincipal,
): Promise<void> {
  if (publisher.kind === 'user') return requireAdministrator(transaction, publisher.id, Prisma.empty);
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT FROM ${serviceTokens} WHERE t.id = ${publisher.tokenId}::uuid AND ${serviceTokenStatus} = 'active'`;
  if (rows.length === 0) throw challengesOf('hub').invalidToken();
}

interface FoundRow {
  readonly id: string;
  readonly scopes: readonly ServiceScope[];
  readonly owner_id: string;
  readonly email: string | null;
  readonly is_unused: boolean;
  readonly categories: readonly string[];
}

export interface NewServiceToken {
  readonly name: string;
  readonly scopes: readonly ServiceScope[];
  readonly categoryIds: readonly string[];
  /** Lifetime in days. */
  readonly days: number;
  readonly ownerId: string;
}

/** The maximum number of tokens of an administrator that are not active and are kept. Older ones are deleted. */
const MAX_ENDED_TOKENS = 1000;

/**
 * Creates a service token. The secret is returned only here; it is not stored. @throws 403, 409
 * `too_many_tokens`
 */
export async function insertServiceToken(
  transaction: Transaction,
  { name, scopes, categoryIds, days, ownerId }: NewServiceToken,
): Promise<ServiceTokenRow & { readonly secret: string }> {
  // A concurrent demotion waits, and then also revokes the token. Concurrent creations do not exceed the bound.
  await requireAdministrator(transaction, ownerId, Prisma.sql`FOR NO KEY UPDATE`);
  await makeRoom(transaction, ownerId);
  const secret = newSecretToken('svcs_');
  const { id } = await transaction.serviceToken.create({
    data: {
      name,
      scopes: [...scopes],
      owner_id: ownerId,
      token_hash: hashSecretToken(secret),
      token_prefix: displayPrefix(secret),
      expires_at: new Date(),
      categories: { createMany: { data: categoryIds.map((category_id) => ({ category_id })) } },
    },
    select: { id: true },
  });
  // The expiry is computed by the clock that it is compared with: the clock of the database.
  await transaction.$executeRaw`
    UPDATE service_tokens SET expires_at = created_at + make_interval(days => ${days}::int) WHERE id = ${id}::uuid`;
  return { ...(await readServiceToken(transaction, id)), secret };
}

/** @throws 403 if the user is not an administrator */
export async function requireAdministrator(
  transaction: Pick<Transaction, '$queryRaw'>,
  userId: string,
  lock: Prisma.Sql,
): Promise<void> {
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT FROM users u WHERE u.id = ${userId}::uuid AND ${isAdministrator} ${lock}`;
  if (rows.length === 0) {
    throw challengesOf('hub').insufficientScope('This operation requires the role admin or superadmin.');
  }
}

/** Deletes the oldest tokens that have ended. @throws 409 `too_many_tokens` */
async function makeRoom(transaction: Transaction, ownerId: string): Promise<void> {
  const [{ count } = { count: 0 }] = await transaction.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM service_tokens
    WHERE owner_id = ${ownerId}::uuid AND revoked_at IS NULL AND expires_at > now()`;
  if (count >= MAX_SERVICE_TOKENS) {
    throw new Problem(
      'too_many_tokens',
      `You have ${count} active service tokens; at most ${MAX_SERVICE_TOKENS} are allowed. Revoke a token that is not used.`,
    );
  }
  await transaction.$executeRaw`
    DELETE FROM service_tokens WHERE id = ANY (ARRAY(
      SELECT id FROM service_tokens WHERE owner_id = ${ownerId}::uuid AND (revoked_at IS NOT NULL OR expires_at <= now())
      ORDER BY created_at DESC, id DESC OFFSET ${MAX_ENDED_TOKENS}))`;
}

/** Revokes a token. Revoking a revoked token changes nothing. @throws 404 */
export async function revokeServiceToken(transaction: Transaction, id: string): Promise<ServiceTokenRow> {
  await transaction.$executeRaw`
    UPDATE service_tokens SET revoked_at = now() WHERE id = ${id}::uuid AND revoked_at IS NULL`;
  return readServiceToken(transaction, id);
}

/** @throws 404 */
async function readServiceToken(transaction: Transaction, id: string): Promise<ServiceTokenRow> {
  const [row] = await transaction.$queryRaw<ServiceTokenRow[]>`
    SELECT ${serviceTokenColumns} FROM ${serviceTokens} WHERE t.id = ${id}::uuid`;
  if (!row) throw notFound();
  return row;
}

/**
 * Ends what a user created as an administrator, when the user is one no longer: revokes the service tokens, so that another
 * promotion does not restore them, and disables the webhooks.
 */
export async function endAdministration(transaction: Transaction, userId: string): Promise<void> {
  await transaction.$executeRaw`
    UPDATE service_tokens SET revoked_at = now() WHERE owner_id = ${userId}::uuid AND revoked_at IS NULL`;
  await disableWebhooksOf(statementsOf(transaction), 'created_by_user', [userId]);
}
