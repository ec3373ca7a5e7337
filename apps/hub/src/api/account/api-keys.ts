import { hubEndpoints } from '@svc/contract/hub';
import { callerOf, organizationOf } from '../../identity/caller.ts';
import { insertKey, type KeyRow, keyColumns, reissueKey, renameKey, revokeKey } from '../../organizations/keys.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { type Created, emptyList, newestRows, type Range, readList } from '../request/lists.ts';
import { resourceId } from '../request/resource-id.ts';

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

export const createApiKey = changeRoute(hubEndpoints.createApiKey, ({ principal }, { body }) => {
  const { name, expires_in_days: days } = body;
  const orgId = organizationOf(principal);
  return async (transaction) =>
    changed(orgId, await insertKey(transaction, { orgId, name, days, ownerId: callerOf(principal).id }));
});

export const reissueApiKey = changeRoute(hubEndpoints.reissueApiKey, ({ principal }, input) => {
  const key = { orgId: organizationOf(principal), id: resourceId(input), ownerId: callerOf(principal).id };
  return async (transaction) => changed(key.orgId, await reissueKey(transaction, key));
});

export const renameApiKey = changeRoute(hubEndpoints.renameApiKey, ({ principal }, { params, body }) => {
  const key = { orgId: organizationOf(principal), id: params.id };
  return async (transaction) => changed(key.orgId, await renameKey(transaction, key, body.name));
});

export const revokeApiKey = changeRoute(hubEndpoints.revokeApiKey, ({ principal }, input) => {
  const key = { orgId: organizationOf(principal), id: resourceId(input) };
  return async (transaction) => changed(key.orgId, await revokeKey(transaction, key));
});

const changed = <K extends KeyRow>(orgId: string, apiKey: K) => ({ id: apiKey.id, orgId, reply: { apiKey } });
