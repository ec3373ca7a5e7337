import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { template, templateListQuery } from './template.ts';
import { timestamp } from './timestamp.ts';
import { line, pagination } from './wire.ts';

/** What a caller of the fleet may be. */
export const fleetRoles = ['admin', 'operator', 'viewer'] as const;
export type FleetRole = (typeof fleetRoles)[number];

/** Rows of the fleet's policy table. */
export type FleetAccess = 'anyone' | 'signed-in' | 'session' | 'catalog-read' | 'catalog-sync';

/** The caller as `/auth/me` and sign-in show them. */
const fleetUser = z
  .object({
    kind: z.enum(['temporary-admin', 'token']),
    name: z.string(),
    role: z.enum(fleetRoles),
    temporary: z
      .boolean()
      .meta({ description: 'True for the temporary admin: make a permanent account and remove it' }),
  })
  .meta({ id: 'FleetUser' });

const session = z
  .object({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds for which the access token is good' }),
    user: fleetUser,
  })
  .meta({ id: 'Session' });

const auth = {
  login: endpoint({
    operationId: 'login',
    method: 'post',
    path: '/api/v1/auth/login',
    access: 'anyone',
    tag: 'auth',
    summary: 'Sign in with username and password',
    body: z.strictObject({ username: line(320), password: z.string().max(1024, 'must have at most 1024 characters') }),
    reply: session,
    secret: true,
    problems: ['invalid_credentials', 'rate_limited'],
  }),
  refresh: endpoint({
    operationId: 'refresh',
    method: 'post',
    path: '/api/v1/auth/refresh',
    access: 'anyone',
    tag: 'auth',
    summary: 'Exchange a refresh token, once, for a new pair',
    body: z.strictObject({ refresh_token: z.string().max(1024, 'must have at most 1024 characters') }),
    reply: session,
    secret: true,
    problems: ['invalid_grant'],
  }),
  logout: endpoint({
    operationId: 'logout',
    method: 'post',
    path: '/api/v1/auth/logout',
    access: 'session',
    tag: 'auth',
    summary: 'End the session of the access token',
    status: 204,
    reply: z.void(),
  }),
  me: endpoint({
    operationId: 'me',
    method: 'get',
    path: '/api/v1/auth/me',
    access: 'signed-in',
    tag: 'auth',
    summary: 'Who is calling',
    reply: z.object({ user: fleetUser }),
  }),
};

export const syncState = z
  .object({
    status: z
      .enum(['not_configured', 'never_synced', 'fresh', 'stale'])
      .meta({ description: '`stale`: the last try failed; the mirror is as old as `last_success_at`' }),
    hub_url: z.string().nullable(),
    checked_at: timestamp.nullable().meta({ description: 'The hub’s catalog time up to which the mirror is complete' }),
    last_success_at: timestamp.nullable(),
    age_seconds: z.int().nullable().meta({ description: 'Seconds since the last success' }),
    stale_since: timestamp.nullable().meta({ description: 'When the first of the present row of failures was' }),
    last_failure: z.object({ at: timestamp, reason: z.string() }).nullable(),
    last_sync: z
      .object({ full: z.boolean(), updated: z.int(), removed: z.int() })
      .nullable()
      .meta({ description: 'What travelled at the last success' }),
    counts: z.object({ templates: z.int() }),
  })
  .meta({ id: 'SyncState' });

const catalog = {
  listMirroredTemplates: endpoint({
    operationId: 'listMirroredTemplates',
    method: 'get',
    path: '/api/v1/catalog/templates',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'List the templates of the mirror',
    query: templateListQuery,
    reply: z.object({ templates: z.array(template), pagination }),
  }),
  getMirroredTemplate: endpoint({
    operationId: 'getMirroredTemplate',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'Get one template of the mirror',
    params: z.strictObject({ slug: z.string() }),
    reply: template,
    problems: ['not_found'],
  }),
  getSyncState: endpoint({
    operationId: 'getSyncState',
    method: 'get',
    path: '/api/v1/catalog/sync',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'How fresh the mirror is',
    reply: syncState,
  }),
  syncCatalog: endpoint({
    operationId: 'syncCatalog',
    method: 'post',
    path: '/api/v1/catalog/sync',
    access: 'catalog-sync',
    tag: 'catalog',
    summary: 'Fetch now what changed in the hub',
    body: z.strictObject({}),
    reply: syncState,
    problems: ['hub_not_configured', 'hub_unreachable'],
  }),
};

/** Every operation of the fleet. */
export const fleetEndpoints = { ...auth, ...catalog };
