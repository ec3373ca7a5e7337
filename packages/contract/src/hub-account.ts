import { z } from 'zod';
import { apiKey, issuedApiKey, newApiKey } from './api-key.ts';
import { endpoint } from './endpoint.ts';
import { newOrganization, organization, profile, profileChange } from './organization.ts';
import { identified, idInQuery, ignored, optionalPaging, pagination } from './wire.ts';

const keyById = z.strictObject({
  ...identified.shape,
  ...ignored('name', 'key_prefix', 'status', 'created_at', 'last_used_at', 'expires_at'),
});

/** What users do for themselves and their organization. */
export const hubAccountEndpoints = {
  listApiKeys: endpoint({
    operationId: 'listApiKeys',
    method: 'get',
    path: '/api/v1/account/api-keys',
    access: 'account',
    tag: 'account',
    summary: 'List the keys of the caller’s organization',
    query: z.strictObject(optionalPaging),
    reply: z.object({ apiKeys: z.array(apiKey), pagination }),
  }),
  createApiKey: endpoint({
    operationId: 'createApiKey',
    method: 'post',
    path: '/api/v1/account/api-keys',
    access: 'account-keys',
    tag: 'account',
    summary: 'Create a key; this answer is the only one that shows it',
    body: newApiKey,
    status: 201,
    reply: z.object({ apiKey: issuedApiKey }),
    secret: true,
    problems: ['no_organization'],
  }),
  reissueApiKey: endpoint({
    operationId: 'reissueApiKey',
    method: 'put',
    path: '/api/v1/account/api-keys',
    access: 'account-keys',
    tag: 'account',
    summary: 'Give a key a new secret: the id stays, the old secret is dead at once',
    query: idInQuery,
    body: keyById,
    reply: z.object({ apiKey: issuedApiKey }),
    secret: true,
    problems: ['no_organization', 'not_found', 'key_revoked'],
  }),
  revokeApiKey: endpoint({
    operationId: 'revokeApiKey',
    method: 'delete',
    path: '/api/v1/account/api-keys',
    access: 'account-keys',
    tag: 'account',
    summary: 'Revoke a key for ever; revoking it again changes nothing',
    query: idInQuery,
    body: keyById,
    reply: z.object({ apiKey }),
    problems: ['no_organization', 'not_found'],
  }),
  getAccountOrganization: endpoint({
    operationId: 'getAccountOrganization',
    method: 'get',
    path: '/api/v1/account/organizations',
    access: 'account',
    tag: 'account',
    summary: 'The caller’s organization, or null',
    reply: z.object({ organization: organization.nullable() }),
  }),
  createOrganization: endpoint({
    operationId: 'createOrganization',
    method: 'post',
    path: '/api/v1/account/organizations',
    access: 'account-change',
    tag: 'account',
    summary: 'Create an organization with a free subscription; the caller becomes its org_admin',
    body: newOrganization,
    status: 201,
    reply: z.object({ organization }),
    problems: ['slug_taken', 'already_in_organization'],
  }),
  getProfile: endpoint({
    operationId: 'getProfile',
    method: 'get',
    path: '/api/v1/account/profile',
    access: 'account',
    tag: 'account',
    summary: 'The caller’s profile',
    reply: z.object({ profile }),
  }),
  updateProfile: endpoint({
    operationId: 'updateProfile',
    method: 'put',
    path: '/api/v1/account/profile',
    access: 'account-change',
    tag: 'account',
    summary: 'Change the caller’s name; from then on the identity provider does not change it',
    body: profileChange,
    reply: z.object({ profile }),
  }),
};
