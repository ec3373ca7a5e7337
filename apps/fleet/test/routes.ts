import type { FleetAccess } from '@svc/contract/fleet';

const RESOURCES = ['hosts', 'clusters', 'workloads', 'deployments', 'storage'];

/** The access of each route, stated a second time: a route that is missing here fails a test. */
export const rows: Readonly<Record<FleetAccess, readonly string[]>> = {
  anyone: [
    'GET /api/v1/auth/config',
    'POST /api/v1/auth/login',
    'GET /api/v1/auth/oidc/login',
    'GET /api/v1/auth/oidc/callback',
    'POST /api/v1/auth/oidc/token',
    'POST /api/v1/auth/oidc/session',
    'POST /api/v1/auth/exchange',
    'POST /api/v1/auth/refresh',
    'GET /api/v1/auth/session',
    'POST /api/v1/auth/session',
    'POST /api/v1/auth/invitation',
  ],
  'signed-in': ['GET /api/v1/auth/me', 'GET /api/v1/changes'],
  session: [
    'POST /api/v1/auth/logout',
    'DELETE /api/v1/auth/session',
    'GET /api/v1/auth/sessions',
    'DELETE /api/v1/auth/sessions',
    'DELETE /api/v1/auth/sessions/:id',
  ],
  'local-session': ['PUT /api/v1/auth/password'],
  'catalog-read': [
    'GET /api/v1/catalog/templates',
    'GET /api/v1/catalog/templates/:slug',
    'GET /api/v1/catalog/categories',
    'GET /api/v1/catalog/sync',
  ],
  'catalog-sync': ['POST /api/v1/catalog/sync'],
  'people-read': [
    'GET /api/v1/users',
    'GET /api/v1/users/:id',
    'GET /api/v1/tokens',
    'GET /api/v1/tokens/:id/dependents',
  ],
  'people-write': [
    'POST /api/v1/users',
    'PUT /api/v1/users/:id',
    'DELETE /api/v1/users/:id',
    'POST /api/v1/users/:id/invitation',
    'DELETE /api/v1/users/:id/invitation',
    'POST /api/v1/tokens',
    'POST /api/v1/tokens/:id/reissue',
    'DELETE /api/v1/tokens/:id',
  ],
  settings: ['oidc', 'hub'].flatMap((name) => [
    `GET /api/v1/settings/${name}`,
    `PUT /api/v1/settings/${name}`,
    `DELETE /api/v1/settings/${name}`,
    `POST /api/v1/settings/${name}/test`,
  ]),
  audit: ['GET /api/v1/audit', 'GET /api/v1/audit/export'],
  'resources-read': [
    'GET /api/v1/events',
    'GET /api/v1/hosts/:id/events',
    'GET /api/v1/clusters/:id/events',
    ...RESOURCES.flatMap((plural) => [`GET /api/v1/${plural}`, `GET /api/v1/${plural}/:id`]),
    'GET /api/v1/workloads/:id/revisions',
    'GET /api/v1/deployments/:id/events',
    'GET /api/v1/deployments/:id/revisions',
    'GET /api/v1/deployments/:id/manifest',
    'GET /api/v1/deployments/:id/logs',
    'POST /api/v1/deployments/plan',
    'GET /api/v1/hosts/:id/orphans',
    'GET /api/v1/clusters/:id/orphans',
  ],
  'resources-write': [
    ...RESOURCES.flatMap((plural) => [
      `POST /api/v1/${plural}`,
      `PUT /api/v1/${plural}/:id`,
      `DELETE /api/v1/${plural}/:id`,
    ]),
    'POST /api/v1/hosts/:id/check',
    'POST /api/v1/clusters/:id/check',
    ...['hosts', 'clusters'].flatMap((targets) =>
      ['remove', 'adopt'].map((verb) => `POST /api/v1/${targets}/:id/orphans/:orphan_id/${verb}`),
    ),
    ...['start', 'stop', 'restart', 'scale', 'rollback'].map((verb) => `POST /api/v1/deployments/:id/${verb}`),
  ],
  'secrets-read': ['GET /api/v1/secrets', 'GET /api/v1/secrets/:id'],
  'secrets-write': ['POST /api/v1/secrets', 'PUT /api/v1/secrets/:id', 'DELETE /api/v1/secrets/:id'],
};
