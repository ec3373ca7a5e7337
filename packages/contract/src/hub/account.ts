import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { newOrganization, organization, profile, profileChange } from '../shared/organization.ts';
import { byUuid, identified, idInQuery, ignored, optionalPaging, pagination } from '../shared/wire.ts';
import { apiKey, apiKeyChange, issuedApiKey, MAX_KEYS, newApiKey } from './api-key.ts';

/** The organizations that a user can create in 24 hours. */
export const MAX_NEW_ORGANIZATIONS = 3;

const keyById = z.strictObject({
  ...identified.shape,
  ...ignored('name', 'key_prefix', 'status', 'created_at', 'last_used_at', 'expires_at', 'owner'),
});

/** The account of a user and the user's organization. */
export const hubAccountEndpoints = {
  listApiKeys: endpoint({
    operationId: 'listApiKeys',
    method: 'get',
    path: '/api/v1/account/api-keys',
    access: 'account',
    tag: 'account',
    summary: 'List the API keys of the caller’s organization',
    query: z.strictObject(optionalPaging),
    reply: z.object({ apiKeys: z.array(apiKey), pagination }),
  }),
  createApiKey: endpoint({
    operationId: 'createApiKey',
    method: 'post',
    path: '/api/v1/account/api-keys',
    access: 'account-keys',
    tag: 'account',
    summary: `Create an API key; only this response contains the secret. An organization has at most ${MAX_KEYS} keys that are not revoked`,
    body: newApiKey,
    status: 201,
    reply: z.object({ apiKey: issuedApiKey }),
    secret: true,
    problems: ['no_organization', 'too_many_keys'],
  }),
  reissueApiKey: endpoint({
    operationId: 'reissueApiKey',
    method: 'put',
    path: '/api/v1/account/api-keys',
    access: 'account-keys',
    tag: 'account',
    summary: 'Replace the secret of an API key; the old secret becomes invalid immediately',
    query: idInQuery,
    body: keyById,
    reply: z.object({ apiKey: issuedApiKey }),
    secret: true,
    problems: ['no_organization', 'not_found', 'key_revoked'],
  }),
  renameApiKey: endpoint({
    operationId: 'renameApiKey',
    method: 'put',
    path: '/api/v1/account/api-keys/:id',
    access: 'account-keys',
    tag: 'account',
    summary: 'Rename an API key; its secret does not change',
    params: byUuid,
    body: apiKeyChange,
    reply: z.object({ apiKey }),
    problems: ['no_organization', 'not_found', 'key_revoked'],
  }),
  revokeApiKey: endpoint({
    operationId: 'revokeApiKey',
    method: 'delete',
    path: '/api/v1/account/api-keys',
    access: 'account-keys',
    tag: 'account',
    summary: 'Revoke an API key permanently; this operation is idempotent',
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
    summary: 'Get the caller’s organization, or null',
    reply: z.object({ organization: organization.nullable() }),
  }),
  createOrganization: endpoint({
    operationId: 'createOrganization',
    method: 'post',
    path: '/api/v1/account/organizations',
    access: 'account-change',
    tag: 'account',
    summary: `Create an organization with a free subscription; the caller becomes its org_admin. A user can create ${MAX_NEW_ORGANIZATIONS} organizations per day`,
    body: newOrganization,
    status: 201,
    reply: z.object({ organization }),
    problems: ['slug_taken', 'already_in_organization', 'too_many_organizations'],
  }),
  getProfile: endpoint({
    operationId: 'getProfile',
    method: 'get',
    path: '/api/v1/account/profile',
    access: 'account',
    tag: 'account',
    summary: 'Get the caller’s profile',
    reply: z.object({ profile }),
  }),
  updateProfile: endpoint({
    operationId: 'updateProfile',
    method: 'put',
    path: '/api/v1/account/profile',
    access: 'account-change',
    tag: 'account',
    summary: 'Change the caller’s name; later sign-ins no longer update it',
    body: profileChange,
    reply: z.object({ profile }),
  }),
};
