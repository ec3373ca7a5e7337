import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { comparisonReads, largeReads } from '../shared/reads.ts';
import { timestamp } from '../shared/timestamp.ts';
import { byUuid, id, pagination, paging, queryInteger, slug, uuid } from '../shared/wire.ts';
import { advisory, changeMessage, MAX_REVISION, newAdvisory, revisionNumber } from '../template/advice.ts';
import { ownedTemplate, templateContent } from '../template/fields.ts';

/** The most revisions of a template that the hub keeps. */
export const MAX_REVISIONS = 500;

/** The most advisories of a template that are not withdrawn. */
export const MAX_ADVISORIES = 16;

const change = {
  revision: z.int(),
  at: timestamp.meta({ description: 'Catalog time of the change' }),
  author: z.string().nullable().meta({
    description:
      'E-mail address of the user, or name of the user of a command. null: not known, for example after a change by SQL',
  }),
  author_id: id.nullable(),
  message: z.string(),
};

const revisionInList = z
  .object({
    ...change,
    deleted: z.boolean().meta({ description: 'The template was deleted' }),
    version: z.string().nullable().meta({ description: '`version` of the template; null: it was deleted' }),
    changed: z.array(z.string()).meta({
      description:
        'The members that differ from the revision before, or from the defaults if none is known or the template was deleted then',
    }),
  })
  .meta({ id: 'TemplateRevisionSummary' });

const deletedTemplate = z
  .object({
    id,
    slug: z.string(),
    name: z.string().nullable().meta({ description: 'null: no revision before the deletion is known' }),
    category_id: id.nullable(),
    last_revision: z.int().nullable().meta({ description: 'The newest revision with content, which can be restored' }),
    ...change,
  })
  .meta({ id: 'DeletedTemplate' });

const byRevision = z.strictObject({ id: uuid, revision: queryInteger(1, MAX_REVISION) });

const restoration = z
  .strictObject({
    revision: revisionNumber,
    slug: slug.optional().meta({ description: 'Instead of the slug of the revision, which another template can have' }),
    category_id: uuid.optional().meta({ description: 'Instead of the category of the revision, which can be deleted' }),
    owner_org_id: uuid.nullable().optional().meta({ description: 'Instead of the owner of the revision' }),
    message: changeMessage,
  })
  .meta({ examples: [{ revision: 3, message: 'The new image does not start' }] });

const byAdvisory = z.strictObject({ id: uuid, advisory_id: uuid });

/** The history of templates, and advisories about their revisions. */
export const hubAdminRevisionEndpoints = {
  listRevisions: endpoint({
    operationId: 'listRevisions',
    method: 'get',
    path: '/api/v1/admin/templates/:id/revisions',
    access: 'admin',
    tag: 'admin',
    summary: `List the revisions of a template, also of a deleted one, newest first. The hub keeps the newest ${MAX_REVISIONS}`,
    params: byUuid,
    query: z.strictObject(paging),
    reply: z.object({ revisions: z.array(revisionInList), pagination }),
    problems: ['not_found'],
  }),
  getRevision: endpoint({
    operationId: 'getRevision',
    method: 'get',
    path: '/api/v1/admin/templates/:id/revisions/:revision',
    access: 'admin',
    tag: 'admin',
    summary: 'Get a revision of a template with its content',
    params: byRevision,
    reads: largeReads,
    reply: z.object({
      revision: z
        .object({
          ...change,
          template: templateContent.nullable().meta({ description: 'null: the template was deleted' }),
        })
        .meta({ id: 'TemplateRevision' }),
    }),
    problems: ['not_found'],
  }),
  compareRevisions: endpoint({
    operationId: 'compareRevisions',
    method: 'get',
    path: '/api/v1/admin/templates/:id/revisions/:revision/changes',
    access: 'admin',
    tag: 'admin',
    summary: 'List the members in which a revision differs from an earlier one',
    params: byRevision,
    query: z.strictObject({
      since: queryInteger(1, MAX_REVISION).optional().meta({
        description:
          'An earlier revision. Default: the one before. The first known revision, and one after a deletion, is compared with the defaults',
      }),
    }),
    reads: comparisonReads,
    reply: z.object({
      changes: z.array(
        z
          .object({
            member: z.string(),
            before: z.unknown().meta({ description: 'null also if the member has no default' }),
            after: z.unknown().meta({ description: 'null also after a deletion' }),
          })
          .meta({ id: 'TemplateMemberChange' }),
      ),
    }),
    problems: ['not_found'],
  }),
  listDeletedTemplates: endpoint({
    operationId: 'listDeletedTemplates',
    method: 'get',
    path: '/api/v1/admin/deleted-templates',
    access: 'admin',
    tag: 'admin',
    summary: 'List the deleted templates whose history the hub still has, the last deleted first',
    query: z.strictObject(paging),
    reply: z.object({ templates: z.array(deletedTemplate), pagination }),
  }),
  restoreTemplate: endpoint({
    operationId: 'restoreTemplate',
    method: 'post',
    path: '/api/v1/admin/templates/:id/restore',
    access: 'admin',
    tag: 'admin',
    summary: 'Give a template the content of an earlier revision. A deleted template is created again with its id',
    params: byUuid,
    body: restoration,
    reply: z.object({ template: ownedTemplate }),
    headers: ['If-Match'],
    problems: [
      'not_found',
      'version_conflict',
      'slug_taken',
      'unknown_category',
      'unknown_organization',
      'breaks_signature',
    ],
  }),
  createAdvisory: endpoint({
    operationId: 'createAdvisory',
    method: 'post',
    path: '/api/v1/admin/templates/:id/advisories',
    access: 'admin',
    tag: 'admin',
    summary: 'Publish an advisory about revisions of a template',
    params: byUuid,
    body: newAdvisory,
    status: 201,
    reply: z.object({ advisory }),
    problems: ['not_found', 'too_many_advisories'],
  }),
  updateAdvisory: endpoint({
    operationId: 'updateAdvisory',
    method: 'put',
    path: '/api/v1/admin/templates/:id/advisories/:advisory_id',
    access: 'admin',
    tag: 'admin',
    summary: 'Replace an advisory',
    params: byAdvisory,
    body: newAdvisory,
    reply: z.object({ advisory }),
    problems: ['not_found', 'advisory_withdrawn'],
  }),
  withdrawAdvisory: endpoint({
    operationId: 'withdrawAdvisory',
    method: 'delete',
    path: '/api/v1/admin/templates/:id/advisories/:advisory_id',
    access: 'admin',
    tag: 'admin',
    summary: 'Withdraw an advisory',
    params: byAdvisory,
    status: 204,
    reply: z.void(),
    problems: ['not_found', 'advisory_withdrawn'],
  }),
};
