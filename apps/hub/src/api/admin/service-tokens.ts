import { uuid } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { escapeLike } from '@svc/database';
import { Problem } from '@svc/http';
import { Prisma } from '../../generated/prisma/client.ts';
import { callerOf } from '../../identity/caller.ts';
import {
  revokeServiceToken as endServiceToken,
  insertServiceToken,
  type ServiceTokenRow,
  serviceTokenColumns,
  serviceTokenStatus,
  serviceTokens,
} from '../../identity/service-tokens.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { type Created, newestRows, type Range, readList } from '../request/lists.ts';
import { resourceId } from '../request/resource-id.ts';

export const listServiceTokens = route(hubEndpoints.listServiceTokens, async ({ database: { client } }, { query }) => {
  const { search, status, owner_id } = query;
  const pattern = search === undefined ? undefined : `%${escapeLike(search)}%`;
  const where = Prisma.sql`
    FROM ${serviceTokens} WHERE true
    ${pattern === undefined ? Prisma.empty : Prisma.sql`AND (t.name ILIKE ${pattern} OR t.token_prefix ILIKE ${pattern})`}
    ${status === undefined ? Prisma.empty : Prisma.sql`AND ${serviceTokenStatus} = ${status}`}
    ${owner_id === undefined ? Prisma.empty : Prisma.sql`AND t.owner_id = ${owner_id}::uuid`}`;
  return readList(client, query, {
    member: 'serviceTokens',
    schema: hubEndpoints.listServiceTokens.reply.shape.serviceTokens.element,
    rows: (range: Range<Created>) =>
      client.$queryRaw<ServiceTokenRow[]>`SELECT ${serviceTokenColumns} ${where} ${newestRows('t', range)}`,
    total: () => client.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${where}`,
    present: (row) => row,
  });
});

export const createServiceToken = changeRoute(hubEndpoints.createServiceToken, ({ principal }, { body }) => {
  const { name, scopes, categories, expires_in_days: days } = body;
  const { id: ownerId } = callerOf(principal);
  return async (transaction) => {
    const categoryIds = await idsOf(transaction, categories);
    const serviceToken = await insertServiceToken(transaction, { name, scopes, categoryIds, days, ownerId });
    return { id: serviceToken.id, reply: { serviceToken } };
  };
});

export const revokeServiceToken = changeRoute(hubEndpoints.revokeServiceToken, (_context, input) => {
  const id = resourceId(input);
  return async (transaction) => ({ id, reply: { serviceToken: await endServiceToken(transaction, id) } });
});

/** The ids of categories that are named by their ids or slugs. @throws 422 `unknown_category` */
async function idsOf({ category }: Prisma.TransactionClient, named: readonly string[]): Promise<string[]> {
  const ids = named.flatMap((name) => uuid.safeParse(name).data ?? []);
  const slugs = named.filter((name) => !uuid.safeParse(name).success);
  const found = await category.findMany({
    where: { OR: [{ id: { in: ids } }, { slug: { in: slugs } }] },
    select: { id: true, slug: true },
  });
  const known = new Set([...found.map(({ id }) => id), ...found.map(({ slug }) => slug)]);
  const unknown = [...ids, ...slugs].find((name) => !known.has(name));
  if (unknown !== undefined) throw new Problem('unknown_category', `No category has the id or slug ${unknown}.`);
  return found.map(({ id }) => id);
}
