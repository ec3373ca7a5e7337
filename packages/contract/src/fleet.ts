import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { fleetCatalogEndpoints } from './fleet-catalog.ts';
import { line } from './wire.ts';

export { syncState } from './fleet-catalog.ts';

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

/** Every operation of the fleet. */
export const fleetEndpoints = { ...auth, ...fleetCatalogEndpoints };
