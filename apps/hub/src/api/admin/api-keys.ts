import { hubEndpoints, type managedApiKey } from '@svc/contract/hub';
import { escapeLike } from '@svc/database';
import { type Matches, notFound, Problem, requireVersion } from '@svc/http';
import type { z } from 'zod';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  deleteOldRevokedKeys,
  insertKey,
  keyColumns,
  keyRevoked,
  keyStatus,
  lockKeysOf,
} from '../../organizations/keys.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { type Created, newestRows, type Range, readList } from '../request/lists.ts';
import { resourceId } from '../request/resource-id.ts';

type ManagedKeyRow = z.input<typeof managedApiKey>;

/** The select list of a query `FROM api_keys k JOIN organizations o`. */
const managedKeyColumns = Prisma.sql`${keyColumns}, k.version, k.org_id, o.slug AS org_slug`;

export const listAllApiKeys = route(hubEndpoints.listAllApiKeys, async ({ database: { client } }, { query }) => {
  const { search, status, org_id } = query;
  const pattern = search === undefined ? undefined : `%${escapeLike(search)}%`;
  const where = Prisma.sql`
    FROM api_keys k JOIN organizations o ON o.id = k.org_id
    WHERE true
    ${pattern === undefined ? Prisma.empty : Prisma.sql`AND (k.name ILIKE ${pattern} OR k.key_prefix ILIKE ${pattern})`}
    ${status === undefined ? Prisma.empty : Prisma.sql`AND ${keyStatus} = ${status}`}
    ${org_id === undefined ? Prisma.empty : Prisma.sql`AND k.org_id = ${org_id}::uuid`}`;
  return readList(client, query, {
    member: 'apiKeys',
    schema: hubEndpoints.listAllApiKeys.reply.shape.apiKeys.element,
    rows: (range: Range<Created>) =>
      client.$queryRaw<ManagedKeyRow[]>`SELECT ${managedKeyColumns} ${where} ${newestRows('k', range)}`,
    total: () => client.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${where}`,
    present: (row) => row,
  });
});

export const createManagedApiKey = changeRoute(hubEndpoints.createManagedApiKey, (_context, { body }) => {
  const { org_id: orgId, name, expires_in_days: days } = body;
  return async (transaction) => {
    const organization = await transaction.organization.findUnique({ where: { id: orgId }, select: { id: true } });
    if (!organization) throw new Problem('unknown_organization', 'No organization has the id in org_id.');
    const { id, key } = await insertKey(transaction, { orgId, name, days, ownerId: null });
    const [row] = await transaction.$queryRaw<ManagedKeyRow[]>`
      SELECT ${managedKeyColumns} FROM api_keys k JOIN organizations o ON o.id = k.org_id WHERE k.id = ${id}::uuid`;
    if (!row) throw new Error('the new API key was not found');
    return { id, orgId, reply: { apiKey: { ...row, key } } };
  };
});

export const renameAnyApiKey = changeRoute(hubEndpoints.renameAnyApiKey, ({ ifMatch }, { query, body }) => {
  const id = resourceId({ query, body });
  const matches = ifMatch();
  return async (transaction) => {
    const { revoked_at } = await lockKey(transaction, id, matches);
    if (revoked_at !== null) throw keyRevoked();
    return changed(transaction, id, Prisma.sql`name = ${body.name}`);
  };
});

export const revokeAnyApiKey = changeRoute(hubEndpoints.revokeAnyApiKey, ({ ifMatch }, input) => {
  const id = resourceId(input);
  const matches = ifMatch();
  return async (transaction) => {
    const key = await transaction.apiKey.findUnique({ where: { id }, select: { org_id: true } });
    if (!key) throw notFound();
    await lockKeysOf(transaction, key.org_id);
    await lockKey(transaction, id, matches);
    const revoked = await changed(transaction, id, Prisma.sql`revoked_at = coalesce(revoked_at, now())`);
    await deleteOldRevokedKeys(transaction, key.org_id);
    return revoked;
  };
});

/** Locks a key for a change. @throws 404; 412 if `If-Match` names another version */
async function lockKey(transaction: Prisma.TransactionClient, id: string, matches: Matches) {
  const [row] = await transaction.$queryRaw<{ version: number; revoked_at: Date | null }[]>`
      SELECT version, revoked_at FROM api_keys WHERE id = ${id}::uuid FOR UPDATE`;
  if (!row) throw notFound();
  requireVersion(matches, row.version);
  return row;
}

/** Changes a locked key. */
async function changed(transaction: Prisma.TransactionClient, id: string, assignment: Prisma.Sql) {
  const [apiKey] = await transaction.$queryRaw<ManagedKeyRow[]>`
      UPDATE api_keys k SET ${assignment} FROM organizations o
      WHERE k.id = ${id}::uuid AND o.id = k.org_id
      RETURNING ${managedKeyColumns}`;
  if (!apiKey) throw notFound();
  return { id, orgId: apiKey.org_id, reply: { apiKey } };
}
