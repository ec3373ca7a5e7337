import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { timestamp } from '../shared/timestamp.ts';
import { id, identified, idInQuery, line, name, optionalPaging, pagination, searchIn, uuid } from '../shared/wire.ts';
import { apiKeyStatus } from './api-key.ts';

/** What a service token permits at `/publish`. */
const serviceScopes = ['import', 'prune', 'export'] as const;
export type ServiceScope = (typeof serviceScopes)[number];

/** The maximum number of active service tokens of an administrator. */
export const MAX_SERVICE_TOKENS = 100;

/** The maximum number of categories of a service token. */
const MAX_CATEGORIES = 100;

const MAX_DAYS = 365;
const DAYS = `must be an integer from 1 to ${MAX_DAYS}`;

/** A service token in lists, without its secret. */
const serviceToken = z
  .object({
    id,
    name: z.string(),
    token_prefix: z.string().meta({ description: 'The first characters of the token, to identify it' }),
    status: apiKeyStatus.meta({ description: '`revoked` also if the owner is no longer an administrator' }),
    scopes: z.array(z.string()).meta({ description: `Of: ${serviceScopes.join(', ')}` }),
    categories: z.array(z.object({ id, slug: z.string() })).meta({
      description: 'The categories outside which the token reads and changes nothing. Deleted ones are missing',
    }),
    created_at: timestamp,
    last_used_at: timestamp.nullable().meta({ description: 'Accurate to about one minute' }),
    expires_at: timestamp,
    owner: z
      .object({ id, email: z.string().nullable(), name: z.string() })
      .meta({ description: 'The administrator who created the token, with whose role it ends' }),
  })
  .meta({ id: 'ServiceToken' });

const issuedServiceToken = serviceToken
  .extend({ secret: z.string().meta({ description: 'The token. It is shown only in this response' }) })
  .meta({ id: 'IssuedServiceToken' });

const scopes = z
  .array(z.enum(serviceScopes))
  .min(1)
  .max(serviceScopes.length)
  .refine((given) => new Set(given).size === given.length, 'must not contain an entry twice')
  .refine((given) => !given.includes('prune') || given.includes('import'), 'must contain import with prune')
  .meta({ description: '`prune` requires `import`', uniqueItems: true });

/** Service tokens: credentials of programs that publish templates without a person. */
export const hubServiceTokenEndpoints = {
  listServiceTokens: endpoint({
    operationId: 'listServiceTokens',
    method: 'get',
    path: '/api/v1/admin/service-tokens',
    access: 'admin',
    tag: 'admin',
    summary: 'List the service tokens of all administrators',
    query: z.strictObject({
      ...optionalPaging,
      search: searchIn('name or prefix'),
      status: apiKeyStatus.optional(),
      owner_id: uuid.optional(),
    }),
    reply: z.object({ serviceTokens: z.array(serviceToken), pagination }),
  }),
  createServiceToken: endpoint({
    operationId: 'createServiceToken',
    method: 'post',
    path: '/api/v1/admin/service-tokens',
    access: 'admin',
    tag: 'admin',
    summary: `Create a service token for programs that publish templates; only this response contains the secret. An administrator has at most ${MAX_SERVICE_TOKENS} active tokens`,
    body: z
      .strictObject({
        name,
        scopes,
        categories: z.array(line(200)).min(1).max(MAX_CATEGORIES).meta({
          description: 'Ids or slugs of categories. An entry in the form of a UUID is an id',
        }),
        expires_in_days: z
          .int(DAYS)
          .min(1, DAYS)
          .max(MAX_DAYS, DAYS)
          .meta({ description: 'Lifetime of the token in days' }),
      })
      .meta({
        examples: [{ name: 'ci', scopes: ['import', 'prune'], categories: ['databases'], expires_in_days: 90 }],
      }),
    status: 201,
    reply: z.object({ serviceToken: issuedServiceToken }),
    secret: true,
    problems: ['unknown_category', 'too_many_tokens'],
  }),
  revokeServiceToken: endpoint({
    operationId: 'revokeServiceToken',
    method: 'delete',
    path: '/api/v1/admin/service-tokens',
    access: 'admin',
    tag: 'admin',
    summary: 'Revoke a service token permanently; this operation is idempotent',
    query: idInQuery,
    body: identified,
    reply: z.object({ serviceToken }),
    problems: ['not_found'],
  }),
};
