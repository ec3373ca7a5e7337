import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { MEBIBYTE } from '../shared/reads.ts';
import { timestamp, timestampInput } from '../shared/timestamp.ts';
import { line, NOT_BLANK, objectVersion, record, slug, storedName, text } from '../shared/wire.ts';
import { labelKey, labelValue } from '../template/fields.ts';

export const MAX_TRUSTED_PUBLISHERS = 50;
const MAX_PATTERNS = 100;
const MAX_EXCEPTIONS = 100;
const MAX_KEYRING = 256 * 1024;
const MAX_TRANSITIONS = 8;

const trustModes = ['off', 'warn', 'require'] as const;

const exception = z.strictObject({
  slug,
  content: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, 'must be the digest of a content, as a plan states it')
    .meta({ description: 'The digest of the content, so that the hub cannot use the exception for another one' }),
  reason: text(500).regex(NOT_BLANK, 'must not be blank'),
  expires_at: timestampInput,
});

const policyInput = {
  mode: z.enum(trustModes, 'must be off, warn or require').default('off'),
  require_digest: z.boolean().default(false).meta({ description: 'Whether images must be named by digest' }),
  by_hand: z
    .enum(['allow', 'admin', 'refuse'], 'must be allow, admin or refuse')
    .default('allow')
    .meta({ description: 'Who can deploy workloads without a template' }),
  overrides: z
    .enum(['any', 'admin', 'none'], 'must be any, admin or none')
    .default('any')
    .meta({ description: 'Who can set other members of a template than resources and variables' }),
  targets: record(labelKey, labelValue, 32)
    .nullable()
    .default(null)
    .meta({ description: 'The labels of the targets to which the policy applies; null: to all' }),
  exceptions: z
    .array(exception)
    .max(MAX_EXCEPTIONS, `must have at most ${MAX_EXCEPTIONS} entries`)
    .default([])
    .meta({ description: 'Contents that are accepted although they are not trusted, for at most 90 days' }),
};

/** The policy of trust. Members that are left out have their default. */
const trustPolicyInput = z.strictObject(policyInput).meta({ id: 'TrustPolicyInput' });

/** The policy of trust, as it is stored. */
export const trustPolicy = z
  .object({
    ...policyInput,
    mode: z.string(),
    by_hand: z.string(),
    overrides: z.string(),
    exceptions: z.array(z.object({ slug: z.string(), content: z.string(), reason: z.string(), expires_at: timestamp })),
  })
  .meta({ id: 'TrustPolicy' });

const patterns = (pattern: RegExp, what: string) =>
  z.array(line(256).regex(pattern, `must be ${what}`)).max(MAX_PATTERNS, `must have at most ${MAX_PATTERNS} entries`);

const scope = {
  images: patterns(
    /^(?:\*|[a-z0-9][a-z0-9._:/-]*(?:\/\*)?)$/,
    'a repository such as docker.io/library/redis, or end with /*, or be *',
  ).meta({
    description: 'The repositories that the publisher may publish, each exact, ending with `/*`, or `*`',
  }),
  slugs: patterns(/^(?:\*|[a-z0-9][a-z0-9-]*\*?)$/, 'a slug, or end with *').meta({
    description: 'The slugs that the publisher may publish, each exact or ending with `*`',
  }),
  secrets: patterns(/^(?:\*|[a-z0-9][a-z0-9-]*\*?)$/, 'the name of a secret, or end with *').meta({
    description: 'The secrets that its templates may use, each exact or ending with `*`',
  }),
};

const publicKeyMembers = {
  kty: z.string().max(8),
  crv: z.string().max(16),
  alg: z.string().max(16),
  kid: z.string().max(64),
  x: z.string().max(128),
  y: z.string().max(128).optional(),
};

/** A root key as its publisher hands it out: the file of the command `keys new`, or a JWK. */
const newRoot = z
  .union([z.looseObject(publicKeyMembers), z.string().max(4096)], 'must be a public key, in PEM or as a JWK')
  .meta({ description: 'The public root key, in PEM or as a JWK. Compare its thumbprint with the publisher' });

const trustedPublisher = z
  .object({
    slug: z.string(),
    name: z.string(),
    root: z.string().meta({ description: 'The thumbprint of the root key (RFC 7638)' }),
    next_root: z.string().nullable().meta({ description: 'That of the root key that the keyring announces' }),
    images: z.array(z.string()),
    slugs: z.array(z.string()),
    secrets: z.array(z.string()),
    keyring_version: z.int().nullable().meta({ description: 'null: the fleet has no keyring of the publisher yet' }),
    expires_at: timestamp.nullable().meta({ description: 'When the keyring expires' }),
    extended_until: timestamp.nullable().meta({ description: 'When it expires for this fleet, after an extension' }),
    extension_reason: z.string().nullable(),
    created_by: z.string(),
    created_at: timestamp,
    version: objectVersion,
  })
  .meta({ id: 'TrustedPublisher' });

const keyringInput = z
  .string()
  .max(MAX_KEYRING, `must have at most ${MAX_KEYRING} characters`)
  .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'must be a compact JWS, as keyring.json contains it')
  .meta({ examples: ['eyJhbGciOiJFZDI1NTE5In0.eyJ2ZXJzaW9uIjoxfQ.c2lnbmF0dXJl'] });

const bySlug = z.strictObject({ slug });
const replyWithPublisher = z.object({ publisher: trustedPublisher });

/** The most that a dry run of a policy examines, and the most refusals that it lists. */
export const MAX_PLANNED_SUBJECTS = 10_000;
export const MAX_PLANNED_REFUSALS = 100;

const planned = z.object({
  total: z.int().meta({ description: `At most ${MAX_PLANNED_SUBJECTS} are examined` }),
  refused: z.int(),
});

const trustPlan = z
  .object({
    templates: planned.meta({ description: 'Templates of the mirror that could not be deployed' }),
    applications: planned
      .prefault({ total: 0, refused: 0 })
      .meta({ description: 'Applications of the mirror that could not be deployed' }),
    deployments: planned.meta({
      description: 'Deployments whose present revision could not be deployed again. They continue to run',
    }),
    reasons: z.array(
      z.object({
        reason: z.string(),
        templates: z.int(),
        applications: z.int().prefault(0),
        deployments: z.int(),
      }),
    ),
    refusals: z
      .array(
        z.object({
          kind: z.enum(['template', 'application', 'deployment']),
          name: z.string(),
          reason: z.string(),
          message: z.string(),
        }),
      )
      .meta({ description: `The first ${MAX_PLANNED_REFUSALS}, by name` }),
  })
  .meta({ id: 'TrustPlan' });

const settings = {
  access: 'settings' as const,
  tag: 'settings',
};

/** Trust in publishers: who is trusted, with which keys, for what, and what happens otherwise. */
export const fleetTrustEndpoints = {
  getTrustPolicy: endpoint({
    ...settings,
    operationId: 'getTrustPolicy',
    method: 'get',
    path: '/api/v1/settings/trust',
    summary: 'Get the policy for what publishers have signed',
    reply: trustPolicy,
  }),
  setTrustPolicy: endpoint({
    ...settings,
    operationId: 'setTrustPolicy',
    method: 'put',
    path: '/api/v1/settings/trust',
    summary: 'Replace the policy; members that are left out have their default',
    body: trustPolicyInput,
    reply: trustPolicy,
  }),
  planTrust: endpoint({
    ...settings,
    operationId: 'planTrust',
    method: 'post',
    path: '/api/v1/settings/trust/plan',
    summary: 'Get what a policy would refuse to operators, with nothing stored',
    body: trustPolicyInput,
    reads: { rows: 6 * MAX_PLANNED_SUBJECTS, bytes: 768 * MEBIBYTE },
    reply: trustPlan,
    problems: ['overloaded'],
  }),
  listTrustedPublishers: endpoint({
    ...settings,
    operationId: 'listTrustedPublishers',
    method: 'get',
    path: '/api/v1/settings/publishers',
    summary: 'List the publishers that the fleet trusts, with the expiry of their keyrings',
    reads: { rows: MAX_TRUSTED_PUBLISHERS + 30, bytes: MAX_TRUSTED_PUBLISHERS * 2 * MAX_KEYRING },
    reply: z.object({ publishers: z.array(trustedPublisher) }),
  }),
  trustPublisher: endpoint({
    ...settings,
    operationId: 'trustPublisher',
    method: 'post',
    path: '/api/v1/settings/publishers',
    summary: 'Trust a publisher, by its root key and within a scope',
    body: z
      .strictObject({
        slug,
        name: storedName,
        root: newRoot,
        images: scope.images,
        slugs: scope.slugs.default(['*']),
        secrets: scope.secrets.default([]),
      })
      .meta({ id: 'NewTrustedPublisher' }),
    status: 201,
    reply: replyWithPublisher,
    problems: ['slug_taken', 'keyring_invalid', 'too_many_publishers'],
  }),
  updateTrustedPublisher: endpoint({
    ...settings,
    operationId: 'updateTrustedPublisher',
    method: 'put',
    path: '/api/v1/settings/publishers/:slug',
    summary: 'Change the scope or the root key of a publisher; members that are left out do not change',
    params: bySlug,
    body: z.strictObject({
      name: storedName.optional(),
      root: newRoot.optional(),
      replaces: z
        .string()
        .max(64)
        .optional()
        .meta({ description: 'With another `root`: the thumbprint of the root key that it replaces' }),
      images: scope.images.optional(),
      slugs: scope.slugs.optional(),
      secrets: scope.secrets.optional(),
    }),
    reply: replyWithPublisher,
    problems: ['not_found', 'root_changed', 'keyring_invalid'],
  }),
  distrustPublisher: endpoint({
    ...settings,
    operationId: 'distrustPublisher',
    method: 'delete',
    path: '/api/v1/settings/publishers/:slug',
    summary: 'No longer trust a publisher. What was verified stays remembered',
    params: bySlug,
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
  importKeyring: endpoint({
    ...settings,
    operationId: 'importKeyring',
    method: 'put',
    path: '/api/v1/settings/publishers/:slug/keyring',
    summary: 'Import the keyring of a publisher, without a hub',
    params: bySlug,
    body: z.strictObject({
      keyring: keyringInput,
      transitions: z.array(keyringInput).max(MAX_TRANSITIONS).default([]),
    }),
    bodyLimit: 4 * 1024 * 1024,
    reply: replyWithPublisher,
    problems: ['not_found', 'keyring_outdated', 'keyring_invalid'],
  }),
  extendKeyring: endpoint({
    ...settings,
    operationId: 'extendKeyring',
    method: 'post',
    path: '/api/v1/settings/publishers/:slug/extension',
    summary: 'Accept the keyring of a publisher for seven more days, once for each version',
    params: bySlug,
    body: z.strictObject({ reason: text(500).regex(NOT_BLANK, 'must not be blank') }),
    reply: replyWithPublisher,
    problems: ['not_found', 'already_extended'],
  }),
  assignSlug: endpoint({
    ...settings,
    operationId: 'assignSlug',
    method: 'put',
    path: '/api/v1/settings/trust/slugs/:slug',
    summary: 'Accept that another publisher publishes the template or the application with a slug',
    params: bySlug,
    body: z.strictObject({
      publisher: slug,
      kind: z.enum(['template', 'application'], 'must be template or application').default('template'),
    }),
    reply: z.object({ slug: z.string(), publisher: z.string() }),
    problems: ['not_found'],
  }),
};

/** What the fleet knows about who signed what would run. */
export const trust = z
  .object({
    state: z.string().meta({
      description: '`off`, `trusted`, `excepted`, `untrusted`, or `by_hand` for a workload without a template',
      examples: ['trusted'],
    }),
    publisher: z.string().nullable(),
    publisher_name: z.string().nullable(),
    key: z.string().nullable().meta({ description: 'The thumbprint of the key' }),
    serial: z.int().nullable(),
    ignored: z.array(z.string()).meta({ description: 'Signed members that this version does not know' }),
    reason: z.string().nullable().meta({ description: 'Why it is not trusted' }),
    message: z.string().meta({ description: 'What is wrong, and what to do; empty if nothing is' }),
    content: z.string().nullable().meta({ description: 'The digest of the content, for an exception' }),
  })
  .meta({ id: 'Trust' });
export type Trust = z.output<typeof trust>;
