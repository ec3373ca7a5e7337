import { hubEndpoints } from '@svc/contract/hub';
import { callerOf, organizationOf } from '../../identity/caller.ts';
import { insertKey, type KeyRow, keyColumns, reissueKey, renameKey, revokeKey } from '../../organizations/keys.ts';
import { route } from '../context.ts';
import { type Created, emptyList, newestRows, type Range, readList } from '../lists.ts';
import { resourceId } from '../resource-id.ts';

export const listApiKeys = route(hubEndpoints.listApiKeys, async ({ database: { client }, principal }, { query }) => {
  const { membership } = callerOf(principal);
  if (!membership) return emptyList('apiKeys', query);
  const { orgId } = membership;
  return readList(client, query, {
    member: 'apiKeys',
    schema: hubEndpoints.listApiKeys.reply.shape.apiKeys.element,
    rows: (range: Range<Created>) =>
      client.$queryRaw<KeyRow[]>`
        SELECT ${keyColumns} FROM api_keys k WHERE k.org_id = ${orgId}::uuid ${newestRows('k', range)}`,
    total: () => client.apiKey.count({ where: { org_id: orgId } }),
    present: (row) => row,
  });
});

export const createApiKey = route(hubEndpoints.createApiKey, async ({ database, principal }, { body }) => {
  const { name, expires_in_days: days } = body;
  const ownerId = callerOf(principal).id;
  return { apiKey: await insertKey(database, { orgId: organizationOf(principal), name, days, ownerId }) };
});

export const reissueApiKey = route(hubEndpoints.reissueApiKey, async ({ database, principal }, input) => ({
  apiKey: await reissueKey(database, { orgId: organizationOf(principal), id: resourceId(input) }),
}));

export const renameApiKey = route(hubEndpoints.renameApiKey, async ({ database, principal }, { params, body }) => ({
  apiKey: await renameKey(database, { orgId: organizationOf(principal), id: params.id }, body.name),
}));

export const revokeApiKey = route(hubEndpoints.revokeApiKey, async ({ database, principal }, input) => ({
  apiKey: await revokeKey(database, { orgId: organizationOf(principal), id: resourceId(input) }),
}));
