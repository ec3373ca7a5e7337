import { z } from 'zod';
import { endpoint, fileBytes } from '../../shared/endpoint.ts';
import { exactText } from '../../shared/list-query.ts';
import { MEBIBYTE } from '../../shared/reads.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, ignored, line, objectVersion, pagination, paging } from '../../shared/wire.ts';
import { dnsLabel } from '../../template/fields.ts';
import { byId, resourceName } from '../resources/resource.ts';
import { planLimits, planStates } from './plans.ts';

export const MAX_SOURCES = 500;

/** The largest notification that a source accepts, in bytes. */
const MAX_HOOK = MEBIBYTE;

/** `pending`: it was never checked; `failing`: the last check failed. */
export const sourceStates = ['ok', 'pending', 'failing', 'disabled'] as const;

const modes = ['manual', 'automatic'] as const;
const prunes = ['never', 'ask', 'automatic'] as const;

const NOT_A_URL =
  'must be an https URL of a git repository, without a user, a query and a fragment, such as https://git.example.com/team/shop.git';

const url = line(1000)
  .regex(/^https?:\/\/[^/\\\s?#@]+\/[^\s?#@]*$/, { message: NOT_A_URL, abort: true })
  .refine((value) => URL.canParse(value), NOT_A_URL)
  .meta({
    description:
      'Where the repository is read. `OUTBOUND_ALLOW` determines what is allowed besides public `https` addresses',
    examples: ['https://git.example.com/team/shop.git'],
  });

/** A part of git-check-ref-format(1) that each branch name meets; the fleet checks the rest. */
const branch = line(200)
  .regex(/^[^\s~^:?*[\\-][^\s~^:?*[\\]*$/, 'must be the name of a branch, such as main')
  .meta({ description: 'The branch whose files apply', examples: ['main'] });

const folder = line(400)
  .transform((text) =>
    text
      .split('/')
      .filter((part) => part !== '')
      .join('/'),
  )
  .refine(
    (text) => !text.split('/').some((part) => part === '.' || part === '..'),
    'must not contain the parts . and ..',
  )
  .meta({
    override: { type: 'string' },
    description: 'The folder whose files with the endings .yaml, .yml and .json apply, with its subfolders; empty: all',
    examples: ['deploy'],
  });

const settings = {
  url,
  branch,
  folder,
  interval_seconds: z.int().min(30).max(86_400).meta({
    description: 'Seconds between two checks. A notification makes a check due at once',
  }),
  mode: z.enum(modes).meta({
    description:
      '`manual`: a person applies the plan of a commit; `automatic`: the fleet does, unless it needs approval',
  }),
  heal: z.boolean().meta({
    description:
      'With `automatic`, also reverts changes by hand of what the files state. What was rolled back stays until its document changes',
  }),
  prune: z.enum(prunes).meta({
    description:
      'What happens to objects whose documents are gone: they stay, a plan that waits for approval removes them, or up to `max_deletions` are removed',
  }),
  max_deletions: z.int().min(0).max(planLimits.deletions).meta({
    description: 'More deletions than this wait for approval',
  }),
};

const token = line(500).meta({ description: 'A token that can read the repository. It is sealed, and never returned' });
const userName = line(100)
  .regex(/^[^:]*$/, 'must not contain a colon')
  .meta({
    description: 'The user name that is sent with the token. Most servers accept any',
  });

const newSource = z
  .strictObject({
    name: resourceName,
    set: dnsLabel.optional().meta({ description: 'The set that the files manage. Default: the name' }),
    ...settings,
    branch: settings.branch.default('main'),
    folder: settings.folder.default(''),
    interval_seconds: settings.interval_seconds.default(300),
    mode: settings.mode.default('manual'),
    heal: settings.heal.default(false),
    prune: settings.prune.default('ask'),
    max_deletions: settings.max_deletions.default(3),
    user_name: userName.default('x-access-token'),
    token: token.optional(),
  })
  .meta({
    id: 'NewSource',
    examples: [{ name: 'shop', url: 'https://git.example.com/team/shop.git', folder: 'deploy', mode: 'automatic' }],
  });

const commit = z
  .object({
    sha: z.string(),
    title: z.string(),
    author: z.string(),
    at: timestamp,
  })
  .meta({ id: 'SourceCommit' });

const source = z
  .object({
    id,
    name: z.string(),
    set: z.string(),
    ...settings,
    url: z.string(),
    branch: z.string(),
    folder: z.string(),
    user_name: z.string(),
    has_token: z.boolean(),
    state: z.enum(sourceStates).meta({
      description: '`pending`: it was never checked; `failing`: the last check failed, see `failure`',
    }),
    enabled: z.boolean(),
    disabled_reason: z.string().nullable().meta({ description: 'Why it is disabled; null: it is enabled' }),
    commit: commit.nullable().meta({ description: 'The commit that was read last; null: none was' }),
    applied_commit: z.string().nullable().meta({ description: 'The last commit that was applied; null: none was' }),
    plan_id: id.nullable().meta({ description: 'The last plan of the commit' }),
    plan_state: z.enum(planStates).nullable().meta({ description: 'null: there is no plan, or it is no longer kept' }),
    checking: z.boolean().meta({ description: 'A check is due or runs now' }),
    checked_at: timestamp.nullable().meta({ description: 'The end of the last check' }),
    next_check_at: timestamp.nullable().meta({ description: 'null: it is disabled' }),
    failing_since: timestamp.nullable().meta({ description: 'null: the last check succeeded, or there was none' }),
    failure: z.string().nullable().meta({ description: 'Why the last check changed nothing' }),
    created_by: z
      .string()
      .meta({ description: 'Who created it, or changed it last. It ends with the rights of this caller' }),
    created_at: timestamp,
    version: objectVersion,
  })
  .meta({ id: 'Source' });

const issued = z.object({
  source: source.extend({
    hook_secret: z.string().meta({
      description: 'The secret of notifications of the server. It is shown only in this response',
    }),
  }),
});

const readOnly = ignored(
  'id',
  'set',
  'has_token',
  'state',
  'disabled_reason',
  'commit',
  'applied_commit',
  'plan_id',
  'plan_state',
  'checking',
  'checked_at',
  'next_check_at',
  'failing_since',
  'failure',
  'created_by',
  'created_at',
  'version',
);

const optional = {
  url: settings.url.optional(),
  branch: settings.branch.optional(),
  folder: settings.folder.optional(),
  interval_seconds: settings.interval_seconds.optional(),
  mode: settings.mode.optional(),
  heal: settings.heal.optional(),
  prune: settings.prune.optional(),
  max_deletions: settings.max_deletions.optional(),
  user_name: userName.optional(),
};

const declared = { access: 'resources-write', tag: 'plans' } as const;
const reading = { access: 'resources-read', tag: 'plans' } as const;

/** Branches of git repositories, whose files become plans. */
export const fleetSourceEndpoints = {
  listSources: endpoint({
    ...reading,
    operationId: 'listSources',
    method: 'get',
    path: '/api/v1/sources',
    summary: 'List the sources: branches of git repositories whose files become plans',
    query: z.strictObject({ ...paging, name: exactText('Name of the source'), set: exactText('Name of the set') }),
    reply: z.object({ sources: z.array(source), pagination }),
  }),
  getSource: endpoint({
    ...reading,
    operationId: 'getSource',
    method: 'get',
    path: '/api/v1/sources/:id',
    summary: 'Get a source',
    params: byId,
    reply: z.object({ source }),
    problems: ['not_found'],
  }),
  createSource: endpoint({
    ...declared,
    operationId: 'createSource',
    method: 'post',
    path: '/api/v1/sources',
    summary: 'Create a source, which is checked at once. Its plans are made with the rights of the caller',
    body: newSource,
    status: 201,
    reply: issued,
    secret: true,
    problems: ['name_taken', 'too_many_sources'],
  }),
  updateSource: endpoint({
    ...declared,
    operationId: 'updateSource',
    method: 'put',
    path: '/api/v1/sources/:id',
    summary: 'Change a source; members that are left out do not change. The caller becomes its creator',
    params: byId,
    body: z.strictObject({
      name: resourceName.optional(),
      ...optional,
      token: token
        .nullable()
        .optional()
        .meta({ description: 'null removes it. Required again if `url` names another server' }),
      enabled: z.boolean().optional(),
      ...readOnly,
    }),
    reply: z.object({ source }),
    problems: ['not_found', 'name_taken'],
  }),
  deleteSource: endpoint({
    ...declared,
    operationId: 'deleteSource',
    method: 'delete',
    path: '/api/v1/sources/:id',
    summary: 'Delete a source. All objects of its set stay, and are no longer managed by files',
    params: byId,
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
  checkSource: endpoint({
    ...declared,
    operationId: 'checkSource',
    method: 'post',
    path: '/api/v1/sources/:id/check',
    summary: 'Check a source now. The check follows the response',
    params: byId,
    reply: z.object({ source }),
    problems: ['not_found', 'source_disabled'],
  }),
  rotateSource: endpoint({
    ...declared,
    operationId: 'rotateSource',
    method: 'post',
    path: '/api/v1/sources/:id/rotate',
    summary: 'Replace the secret of notifications. The previous one ends at once. The caller becomes the creator',
    params: byId,
    reply: issued,
    secret: true,
    problems: ['not_found'],
  }),
  notifySource: endpoint({
    access: 'anyone',
    tag: 'plans',
    operationId: 'notifySource',
    method: 'post',
    path: '/api/v1/sources/:id/hook',
    summary:
      'Notify a source of a push, as GitHub, GitLab, Gitea and Forgejo do: with `X-Hub-Signature-256` or `X-Gitlab-Token`. The body is not read further',
    params: byId,
    upload: { type: 'application/json', limit: MAX_HOOK },
    body: fileBytes,
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
};
