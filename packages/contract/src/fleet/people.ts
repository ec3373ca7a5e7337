import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { anyValue, exactText, sortBy } from '../shared/list-query.ts';
import { timestamp } from '../shared/timestamp.ts';
import { email, id, ignored, name, pagination, paging } from '../shared/wire.ts';
import { approvalLevels, fleetRoles } from './access.ts';

const role = z.enum(fleetRoles);
const byId = z.strictObject({ id });

const password = z.string().max(1024, 'must have at most 1024 characters');

export const user = z
  .object({
    id,
    source: z.enum(['local', 'oidc']),
    email: z.string().nullable(),
    name: z.string(),
    role: role
      .nullable()
      .meta({ description: 'null: the claims of the identity provider map to no role; the user has no permissions' }),
    issuer: z.string().nullable().meta({ description: 'The identity provider of a user with source `oidc`' }),
    subject: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    last_sign_in_at: timestamp.nullable(),
    blocked_at: timestamp
      .nullable()
      .meta({ description: 'Since when the user is blocked; null: the user is not blocked' }),
  })
  .meta({ id: 'FleetUser' });

const readOnlyOfUser = ignored(
  'id',
  'source',
  'issuer',
  'subject',
  'created_at',
  'updated_at',
  'last_sign_in_at',
  'blocked_at',
);

const approval = z.enum(approvalLevels, 'must be none, deletions or all').meta({
  description:
    'Which of its changes need the approval of a signed-in person: `deletions`, or `all`. The token then makes them with plans',
});

export const token = z
  .object({
    id,
    name: z.string(),
    role: role.meta({ description: 'A token never permits more than the present role of the user who created it' }),
    token_prefix: z.string(),
    status: z.enum(['active', 'expired', 'revoked']),
    expires_at: timestamp.nullable(),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
    created_by: z.string().meta({ description: 'Name of the user who created the token' }),
    created_by_token: id.nullable().meta({ description: 'The token with which the token was created' }),
    approval,
  })
  .meta({ id: 'Token' });

const issuedToken = z.object({
  token: token.extend({ secret: z.string().meta({ description: 'The secret. It is shown only in this response' }) }),
});

/** Users and MCP tokens. */
export const fleetPeopleEndpoints = {
  listUsers: endpoint({
    operationId: 'listUsers',
    method: 'get',
    path: '/api/v1/users',
    access: 'people-read',
    tag: 'users',
    summary: 'List the users',
    query: z.strictObject({
      ...paging,
      email: email.optional().meta({ description: 'Exact e-mail address, case-insensitive' }),
      name: exactText('Exact name'),
      role: anyValue('role', role),
      source: anyValue('source', user.shape.source),
      sort: sortBy('updated_at', 'name', 'email', 'last_sign_in_at'),
    }),
    reply: z.object({ users: z.array(user), pagination }),
  }),
  createUser: endpoint({
    operationId: 'createUser',
    method: 'post',
    path: '/api/v1/users',
    access: 'people-write',
    tag: 'users',
    summary: 'Create a local user. Without a password, the user cannot sign in before an invitation is accepted',
    body: z.strictObject({ email, name: name.optional(), role, password: password.optional(), ...readOnlyOfUser }),
    status: 201,
    reply: z.object({ user }),
    problems: ['email_taken'],
  }),
  getUser: endpoint({
    operationId: 'getUser',
    method: 'get',
    path: '/api/v1/users/:id',
    access: 'people-read',
    tag: 'users',
    summary: 'Get a user',
    params: byId,
    reply: z.object({ user }),
    problems: ['not_found'],
  }),
  updateUser: endpoint({
    operationId: 'updateUser',
    method: 'put',
    path: '/api/v1/users/:id',
    access: 'people-write',
    tag: 'users',
    summary: 'Change a user’s role, name or password, or block a user',
    params: byId,
    body: z.strictObject({
      name: name.optional(),
      role: role.optional(),
      password: password.optional(),
      blocked: z.boolean().optional().meta({
        description:
          'A blocked user cannot sign in. Blocking ends the sessions of the user, and revokes the tokens that the user created',
      }),
      ...ignored('email'),
      ...readOnlyOfUser,
    }),
    reply: z.object({ user }),
    problems: ['not_found', 'role_managed_by_provider', 'last_admin'],
  }),
  deleteUser: endpoint({
    operationId: 'deleteUser',
    method: 'delete',
    path: '/api/v1/users/:id',
    access: 'people-write',
    tag: 'users',
    summary: 'Remove a user, and revoke the tokens that the user created',
    params: byId,
    status: 204,
    reply: z.void(),
    problems: ['not_found', 'last_admin'],
  }),
  inviteUser: endpoint({
    operationId: 'inviteUser',
    method: 'post',
    path: '/api/v1/users/:id/invitation',
    access: 'people-write',
    tag: 'users',
    summary:
      'Invite a local user without a password to choose one. An earlier invitation of the user becomes invalid. The invitation is valid while its creator is an admin',
    params: byId,
    status: 201,
    reply: z.object({
      invitation: z.object({
        code: z.string().meta({
          description: 'For `POST /auth/invitation`, once. It is shown only in this response',
        }),
        expires_at: timestamp,
      }),
    }),
    secret: true,
    problems: ['not_found', 'password_exists'],
  }),
  withdrawInvitation: endpoint({
    operationId: 'withdrawInvitation',
    method: 'delete',
    path: '/api/v1/users/:id/invitation',
    access: 'people-write',
    tag: 'users',
    summary: 'Withdraw the invitation of a user',
    params: byId,
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
  listTokens: endpoint({
    operationId: 'listTokens',
    method: 'get',
    path: '/api/v1/tokens',
    access: 'people-read',
    tag: 'tokens',
    summary: 'List the MCP tokens',
    query: z.strictObject({
      ...paging,
      name: exactText('Exact name'),
      role: anyValue('role', role),
      status: anyValue('status', token.shape.status),
      created_by: exactText('Name of the user who created the token'),
      sort: sortBy('name', 'expires_at', 'last_used_at'),
    }),
    reply: z.object({ tokens: z.array(token), pagination }),
  }),
  createToken: endpoint({
    operationId: 'createToken',
    method: 'post',
    path: '/api/v1/tokens',
    access: 'people-write',
    tag: 'tokens',
    summary: 'Create an MCP token',
    body: z.strictObject({
      name,
      role,
      expires_in_days: z
        .int('must be an integer from 1 to 365')
        .min(1, 'must be an integer from 1 to 365')
        .max(365, 'must be an integer from 1 to 365')
        .nullable()
        .default(null)
        .meta({ description: 'Lifetime of the token in days; null: the token does not expire' }),
      approval: approval.default('none').meta({
        description: 'Not less strict than that of the token with which it is created',
      }),
    }),
    status: 201,
    reply: issuedToken,
    secret: true,
  }),
  reissueToken: endpoint({
    operationId: 'reissueToken',
    method: 'post',
    path: '/api/v1/tokens/:id/reissue',
    access: 'people-write',
    tag: 'tokens',
    summary: 'Replace the secret of a token and restart its lifetime; the old secret becomes invalid immediately',
    params: byId,
    reply: issuedToken,
    secret: true,
    problems: ['not_found', 'token_revoked'],
  }),
  listDependents: endpoint({
    operationId: 'listDependents',
    method: 'get',
    path: '/api/v1/tokens/:id/dependents',
    access: 'people-read',
    tag: 'tokens',
    summary: 'List the MCP tokens that were created with a token, directly or with such a token, and are not revoked',
    params: byId,
    query: z.strictObject({ ...paging }),
    reply: z.object({ tokens: z.array(token), pagination }),
    problems: ['not_found'],
  }),
  revokeToken: endpoint({
    operationId: 'revokeToken',
    method: 'delete',
    path: '/api/v1/tokens/:id',
    access: 'people-write',
    tag: 'tokens',
    summary: 'Revoke a token permanently, and the tokens that were created with it',
    params: byId,
    query: z.strictObject({
      keep: z.enum(['dependents'], 'must be "dependents"').optional().meta({
        description: 'Keeps the tokens that were created with it. The caller becomes their creator',
      }),
    }),
    reply: z.object({
      token,
      revoked: z.array(id).meta({ description: 'The tokens that were created with it and are now revoked' }),
      kept: z.array(id).meta({ description: 'The tokens whose creator is now the caller' }),
    }),
    problems: ['not_found'],
  }),
};
