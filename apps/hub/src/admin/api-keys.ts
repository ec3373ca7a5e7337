import { hubEndpoints, type managedApiKey } from '@svc/contract/hub';
import { notFound } from '@svc/http';
import type { z } from 'zod';
import { keyColumns } from '../account/keys.ts';
import { route } from '../context.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { limitClause, paginationFor } from '../paging.ts';
import { resourceId } from '../resource-id.ts';
import { changeRoute } from './change.ts';
import { requireVersion } from './version.ts';

type ManagedKeyRow = z.input<typeof managedApiKey>;

/** The select list of a query `FROM api_keys k JOIN organizations o`. */
const managedKeyColumns = Prisma.sql`${keyColumns}, k.version, k.org_id, o.slug AS org_slug`;

export const listAllApiKeys = route(hubEndpoints.listAllApiKeys, async ({ database: { client } }, { query }) => {
  const [apiKeys, total] = await client.$transaction(
    [
      client.$queryRaw<ManagedKeyRow[]>`
          SELECT ${managedKeyColumns}
          FROM api_keys k JOIN organizations o ON o.id = k.org_id
          ORDER BY k.created_at DESC, k.id ${limitClause(query)}`,
      client.apiKey.count(),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { apiKeys, pagination: paginationFor(query, total) };
});

export const revokeAnyApiKey = changeRoute(hubEndpoints.revokeAnyApiKey, ({ ifMatch }, input) => {
  const id = resourceId(input);
  const matches = ifMatch();
  return async (transaction) => {
    const [existing] = await transaction.$queryRaw<{ version: number }[]>`
        SELECT version FROM api_keys WHERE id = ${id}::uuid FOR UPDATE`;
    if (!existing) throw notFound();
    requireVersion(matches, existing.version);
    const [apiKey] = await transaction.$queryRaw<ManagedKeyRow[]>`
        UPDATE api_keys k SET revoked_at = coalesce(revoked_at, now()) FROM organizations o
        WHERE k.id = ${id}::uuid AND o.id = k.org_id
        RETURNING ${managedKeyColumns}`;
    if (!apiKey) throw notFound();
    return { id, reply: { apiKey } };
  };
});
