import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { anyValue } from '../../shared/list-query.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, ignored, pagination, record } from '../../shared/wire.ts';
import { byId, changedMembers, newMembers, resourceMembers, resourceName, resourceQuery } from './resource.ts';

const kind = z.enum(['opaque', 'registry', 'tls']);

/** Where the values of a secret may go. */
const purpose = z.enum(['variables', 'registry', 'private_key']);
export type SecretPurpose = z.output<typeof purpose>;

/** The purposes that a secret of a kind can have. */
export const purposesOfKind = {
  opaque: ['variables'],
  registry: ['registry'],
  tls: ['variables', 'private_key'],
} as const satisfies Readonly<Record<z.output<typeof kind>, readonly SecretPurpose[]>>;

const purposes = z
  .array(purpose)
  .min(1, 'must have at least one purpose')
  .max(3, 'must have at most 3 entries')
  .optional()
  .meta({
    description:
      'Where the values may go. `variables`: into variables of containers, for the kinds opaque (always) and tls (without the private key). `private_key`: `tls.key` may also go into variables; only for kind tls. `registry`: to the registry `server` when an image is pulled; always and only for kind registry, whose values never become variables. Default: `registry` for kind registry, otherwise `variables`',
  });

const workloads = z
  .array(resourceName)
  .max(256, 'must have at most 256 entries')
  .nullish()
  .meta({ description: 'The names of the only workloads that may use the secret. Default: null, all workloads' });

const key = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,253}$/, 'must have 1 to 253 letters, digits, dots, hyphens and underscores');

const MAX_VALUE = 65_536;
const values = record(
  key,
  z
    .string()
    .max(MAX_VALUE, `must have at most ${MAX_VALUE} characters`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it excludes a control character
    .regex(/^[^\u0000]*$/, 'must not contain a NUL character'),
  64,
)
  .refine((given) => Object.keys(given).length > 0, 'must have at least one member')
  .meta({
    minProperties: 1,
    description:
      'Keys for kind `registry`: username, password; for kind `tls`: tls.crt, tls.key. Responses never contain the values.',
  });

const server = z
  .string()
  .max(255, 'must have at most 255 characters')
  .regex(
    /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?)?$/,
    'must be the host of a registry with an optional port, without scheme and path, such as ghcr.io',
  )
  .nullish()
  .meta({
    description:
      'For kind `registry`: the only registry that receives the credentials. Default: docker.io, which has the aliases index.docker.io, registry-1.docker.io and the empty string',
  });

export const secret = z
  .object({
    ...resourceMembers,
    kind,
    server: z
      .string()
      .nullable()
      .meta({ description: 'The only registry that receives the credentials; null for other kinds' }),
    needs_server: z.boolean().meta({
      description:
        'A registry secret from a version without `server`: only deployments that already use it can use it, with the same registry',
    }),
    purposes: z.array(purpose).meta({ description: 'Where the values may go' }),
    workloads: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The names of the only workloads that may use the secret; null: all' }),
    keys: z.array(z.string()),
    values_version: z.int().meta({ description: 'Number of times that the values were set' }),
    last_rotated_at: timestamp,
    used_by: z.array(z.object({ kind: z.enum(['workload', 'deployment']), id, name: z.string() })),
  })
  .meta({ id: 'Secret', description: 'A secret, without its values' });

const observed = ignored('needs_server', 'keys', 'values_version', 'last_rotated_at', 'used_by');
const BODY_LIMIT = 1024 * 1024;

/** Secrets: values for workloads that the API never returns. */
export const fleetSecretEndpoints = {
  listSecrets: endpoint({
    operationId: 'listSecrets',
    method: 'get',
    path: '/api/v1/secrets',
    access: 'secrets-read',
    tag: 'secrets',
    summary: 'List the secrets, without their values',
    query: resourceQuery({ kind: anyValue('kind', kind) }, 'last_rotated_at'),
    reply: z.object({ secrets: z.array(secret), pagination }),
  }),
  createSecret: endpoint({
    operationId: 'createSecret',
    method: 'post',
    path: '/api/v1/secrets',
    access: 'secrets-write',
    tag: 'secrets',
    summary: 'Create a secret; its values are encrypted, and responses never contain them',
    body: z.strictObject({
      ...newMembers,
      kind: kind.default('opaque'),
      server,
      purposes,
      workloads,
      values,
      ...observed,
    }),
    bodyLimit: BODY_LIMIT,
    status: 201,
    reply: z.object({ secret }),
    problems: ['name_taken'],
  }),
  getSecret: endpoint({
    operationId: 'getSecret',
    method: 'get',
    path: '/api/v1/secrets/:id',
    access: 'secrets-read',
    tag: 'secrets',
    summary: 'Get a secret, without its values',
    params: byId,
    reply: z.object({ secret }),
    problems: ['not_found'],
  }),
  updateSecret: endpoint({
    operationId: 'updateSecret',
    method: 'put',
    path: '/api/v1/secrets/:id',
    access: 'secrets-write',
    tag: 'secrets',
    summary:
      'Change the labels of a secret or where its values may go, or replace all values; deployments that use it receive the new values',
    params: byId,
    headers: ['If-Match'],
    body: z.strictObject({
      ...changedMembers,
      server,
      purposes,
      workloads,
      values: values.optional(),
      ...ignored('kind'),
      ...observed,
    }),
    bodyLimit: BODY_LIMIT,
    reply: z.object({ secret }),
    problems: ['not_found', 'in_use', 'version_conflict'],
  }),
  deleteSecret: endpoint({
    operationId: 'deleteSecret',
    method: 'delete',
    path: '/api/v1/secrets/:id',
    access: 'secrets-write',
    tag: 'secrets',
    summary: 'Delete a secret that nothing uses',
    params: byId,
    headers: ['If-Match'],
    status: 204,
    reply: z.void(),
    problems: ['not_found', 'in_use', 'version_conflict'],
  }),
};
