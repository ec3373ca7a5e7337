import { z } from 'zod';
import { applicationContent, ownedApplication } from '../applications/application.ts';
import { endpoint } from '../shared/endpoint.ts';
import { comparisonReads, largeReads } from '../shared/reads.ts';
import { timestamp } from '../shared/timestamp.ts';
import { byUuid, id, pagination, paging, queryInteger, slug, uuid } from '../shared/wire.ts';
import { advisory, changeMessage, MAX_REVISION, newAdvisory, revisionNumber } from '../template/advice.ts';
import { ownedTemplate, templateContent } from '../template/fields.ts';

/** The most revisions of a template or an application that the hub keeps. */
export const MAX_REVISIONS = 500;

/** The most advisories of a template or an application that are not withdrawn. */
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
    deleted: z.boolean().meta({ description: 'The revision is a deletion' }),
    version: z.string().nullable().meta({ description: '`version` of the content; null: a deletion' }),
    changed: z.array(z.string()).meta({
      description:
        'The members that differ from the revision before, or from the defaults if none is known or it was a deletion',
    }),
  })
  .meta({ id: 'RevisionSummary' });

const deletedObject = z
  .object({
    id,
    slug: z.string(),
    name: z.string().nullable().meta({ description: 'null: no revision before the deletion is known' }),
    category_id: id.nullable(),
    last_revision: z.int().nullable().meta({ description: 'The newest revision with content, which can be restored' }),
    ...change,
  })
  .meta({ id: 'DeletedObject' });

const memberChange = z
  .object({
    member: z.string(),
    before: z.unknown().meta({ description: 'null also if the member has no default' }),
    after: z.unknown().meta({ description: 'null also after a deletion' }),
  })
  .meta({ id: 'MemberChange' });

const ABSENT = { description: 'null: a deletion' };
const templateRevision = z
  .object({ ...change, template: templateContent.nullable().meta(ABSENT) })
  .meta({ id: 'TemplateRevision' });
const applicationRevision = z
  .object({ ...change, application: applicationContent.nullable().meta(ABSENT) })
  .meta({ id: 'ApplicationRevision' });

const byRevision = z.strictObject({ id: uuid, revision: queryInteger(1, MAX_REVISION) });
const byAdvisory = z.strictObject({ id: uuid, advisory_id: uuid });

const restoration = z
  .strictObject({
    revision: revisionNumber,
    slug: slug.optional().meta({ description: 'Instead of the slug of the revision, which another object can have' }),
    category_id: uuid.optional().meta({ description: 'Instead of the category of the revision, which can be deleted' }),
    owner_org_id: uuid.nullable().optional().meta({ description: 'Instead of the owner of the revision' }),
    message: changeMessage,
  })
  .meta({ examples: [{ revision: 3, message: 'The new image does not start' }] });

const restored = ['not_found', 'version_conflict', 'slug_taken', 'unknown_category', 'unknown_organization'] as const;

type Operation = 'list' | 'get' | 'compare' | 'listDeleted' | 'restore' | 'create' | 'update' | 'withdraw';

interface Revised {
  readonly noun: 'template' | 'application';
  /** The names of the operations. */
  readonly names: Readonly<Record<Operation, string>>;
}

/** The history of objects of a kind, and advisories about their revisions. */
function historyOf<Content extends z.ZodType, Deleted extends z.ZodType, Restored extends z.ZodType>(
  { noun, names }: Revised,
  replies: { readonly revision: Content; readonly deleted: Deleted; readonly restored: Restored },
) {
  const a = noun === 'template' ? 'a template' : 'an application';
  const common = { access: 'admin', tag: 'admin' } as const;
  const all = `/api/v1/admin/${noun}s/:id`;
  return {
    list: endpoint({
      ...common,
      operationId: names.list,
      method: 'get',
      path: `${all}/revisions`,
      summary: `List the revisions of ${a}, also of a deleted one, newest first. The hub keeps the newest ${MAX_REVISIONS}`,
      params: byUuid,
      query: z.strictObject(paging),
      reply: z.object({ revisions: z.array(revisionInList), pagination }),
      problems: ['not_found'],
    }),
    get: endpoint({
      ...common,
      operationId: names.get,
      method: 'get',
      path: `${all}/revisions/:revision`,
      summary: `Get a revision of ${a} with its content`,
      params: byRevision,
      reads: largeReads,
      reply: replies.revision,
      problems: ['not_found'],
    }),
    compare: endpoint({
      ...common,
      operationId: names.compare,
      method: 'get',
      path: `${all}/revisions/:revision/changes`,
      summary: `List the members in which a revision of ${a} differs from an earlier one`,
      params: byRevision,
      query: z.strictObject({
        since: queryInteger(1, MAX_REVISION).optional().meta({
          description:
            'An earlier revision. Default: the one before. The first known revision, and one after a deletion, is compared with the defaults',
        }),
      }),
      reads: comparisonReads,
      reply: z.object({ changes: z.array(memberChange) }),
      problems: ['not_found'],
    }),
    listDeleted: endpoint({
      ...common,
      operationId: names.listDeleted,
      method: 'get',
      path: `/api/v1/admin/deleted-${noun}s`,
      summary: `List the deleted ${noun}s whose history the hub still has, the last deleted first`,
      query: z.strictObject(paging),
      reply: replies.deleted,
    }),
    restore: endpoint({
      ...common,
      operationId: names.restore,
      method: 'post',
      path: `${all}/restore`,
      summary: `Give ${a} the content of an earlier revision. A deleted one is created again with its id`,
      params: byUuid,
      body: restoration,
      reply: replies.restored,
      headers: ['If-Match'],
      problems: noun === 'template' ? [...restored, 'breaks_signature'] : restored,
    }),
    create: endpoint({
      ...common,
      operationId: names.create,
      method: 'post',
      path: `${all}/advisories`,
      summary: `Publish an advisory about revisions of ${a}`,
      params: byUuid,
      body: newAdvisory,
      status: 201,
      reply: z.object({ advisory }),
      problems: ['not_found', 'too_many_advisories'],
    }),
    update: endpoint({
      ...common,
      operationId: names.update,
      method: 'put',
      path: `${all}/advisories/:advisory_id`,
      summary: `Replace an advisory about ${a}`,
      params: byAdvisory,
      body: newAdvisory,
      reply: z.object({ advisory }),
      problems: ['not_found', 'advisory_withdrawn'],
    }),
    withdraw: endpoint({
      ...common,
      operationId: names.withdraw,
      method: 'delete',
      path: `${all}/advisories/:advisory_id`,
      summary: `Withdraw an advisory about ${a}`,
      params: byAdvisory,
      status: 204,
      reply: z.void(),
      problems: ['not_found', 'advisory_withdrawn'],
    }),
  };
}

const ofTemplates = historyOf(
  {
    noun: 'template',
    names: {
      list: 'listRevisions',
      get: 'getRevision',
      compare: 'compareRevisions',
      listDeleted: 'listDeletedTemplates',
      restore: 'restoreTemplate',
      create: 'createAdvisory',
      update: 'updateAdvisory',
      withdraw: 'withdrawAdvisory',
    },
  },
  {
    revision: z.object({ revision: templateRevision }),
    deleted: z.object({ templates: z.array(deletedObject), pagination }),
    restored: z.object({ template: ownedTemplate }),
  },
);

const ofApplications = historyOf(
  {
    noun: 'application',
    names: {
      list: 'listApplicationRevisions',
      get: 'getApplicationRevision',
      compare: 'compareApplicationRevisions',
      listDeleted: 'listDeletedApplications',
      restore: 'restoreApplication',
      create: 'createApplicationAdvisory',
      update: 'updateApplicationAdvisory',
      withdraw: 'withdrawApplicationAdvisory',
    },
  },
  {
    revision: z.object({ revision: applicationRevision }),
    deleted: z.object({ applications: z.array(deletedObject), pagination }),
    restored: z.object({ application: ownedApplication }),
  },
);

/** The history of templates and applications, and advisories about their revisions. */
export const hubAdminRevisionEndpoints = {
  listRevisions: ofTemplates.list,
  getRevision: ofTemplates.get,
  compareRevisions: ofTemplates.compare,
  listDeletedTemplates: ofTemplates.listDeleted,
  restoreTemplate: ofTemplates.restore,
  createAdvisory: ofTemplates.create,
  updateAdvisory: ofTemplates.update,
  withdrawAdvisory: ofTemplates.withdraw,
  listApplicationRevisions: ofApplications.list,
  getApplicationRevision: ofApplications.get,
  compareApplicationRevisions: ofApplications.compare,
  listDeletedApplications: ofApplications.listDeleted,
  restoreApplication: ofApplications.restore,
  createApplicationAdvisory: ofApplications.create,
  updateApplicationAdvisory: ofApplications.update,
  withdrawApplicationAdvisory: ofApplications.withdraw,
};
