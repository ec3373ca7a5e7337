import { hubEndpoints } from '@svc/contract/hub';
import { notFound } from '@svc/http';
import { type KeyRow, keyColumns } from '../account/keys.ts';
import { route } from '../context.ts';
import { limitClause, paginationFor } from '../paging.ts';
import { resourceId } from '../resource-id.ts';

type ManagedKeyRow = KeyRow & { readonly org_id: string; readonly org_slug: string };

export const listAllApiKeys = route(hubEndpoints.listAllApiKeys, async ({ database: { client } }, { query }) => {
  const [apiKeys, total] = await client.$transaction(
    [
      client.$queryRaw<ManagedKeyRow[]>`
          SELECT ${keyColumns}, k.org_id, o.slug AS org_slug
          FROM api_keys k JOIN organizations o ON o.id = k.org_id
          ORDER BY k.created_at DESC, k.id ${limitClause(query)}`,
      client.apiKey.count(),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { apiKeys, pagination: paginationFor(query, total) };
});

export const revokeAnyApiKey = route(hubEndpoints.revokeAnyApiKey, async ({ database: { client } }, input) => {
  const id = resourceId(input);
  const [apiKey] = await client.$queryRaw<ManagedKeyRow[]>`
      UPDATE api_keys k SET revoked_at = coalesce(revoked_at, now()) FROM organizations o
      WHERE k.id = ${id}::uuid AND o.id = k.org_id
      RETURNING ${keyColumns}, k.org_id, o.slug AS org_slug`;
  if (!apiKey) throw notFound();
  return { apiKey };
});
