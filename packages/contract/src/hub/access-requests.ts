import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { timestamp } from '../shared/timestamp.ts';
import { byUuid, id, objectVersion, pagination, paging, slug, text, uuid } from '../shared/wire.ts';

/** The maximum number of open access requests of an organization. */
export const MAX_OPEN_REQUESTS = 50;

const status = z.enum(['open', 'granted', 'declined']);

const accessRequest = z
  .object({
    id,
    category_slug: z.string().nullable(),
    template_slug: z.string().nullable(),
    reason: z.string(),
    status,
    answer: z.string().meta({ description: 'The text of the administrator who decided' }),
    requested_by: z.string().nullable().meta({ description: 'The e-mail address of the user' }),
    created_at: timestamp,
    decided_at: timestamp.nullable(),
  })
  .meta({ id: 'AccessRequest' });

const managedAccessRequest = accessRequest
  .extend({
    org_id: id,
    org_slug: z.string(),
    category: z
      .object({ id, slug: z.string(), name: z.string(), is_private: z.boolean(), version: objectVersion })
      .nullable()
      .meta({ description: 'The category that would be granted; null: what is requested does not exist' }),
    has_grant: z.boolean().meta({ description: 'The organization already has a grant for this category' }),
  })
  .meta({ id: 'ManagedAccessRequest' });

const SLUGS = [{ required: ['category_slug'] }, { required: ['template_slug'] }];

/**
 * Requests of organizations for access to private categories, and the decisions of administrators.
 */
export const hubAccessRequestEndpoints = {
  listAccessRequests: endpoint({
    operationId: 'listAccessRequests',
    method: 'get',
    path: '/api/v1/account/access-requests',
    access: 'account',
    tag: 'account',
    summary: 'List the access requests of the caller’s organization, newest first',
    query: z.strictObject(paging),
    reply: z.object({ requests: z.array(accessRequest), pagination }),
  }),
  requestAccess: endpoint({
    operationId: 'requestAccess',
    method: 'post',
    path: '/api/v1/account/access-requests',
    access: 'account-change',
    tag: 'account',
    summary: 'Request access to a category, or to that of a template. The response does not show whether it exists',
    body: z
      .strictObject({
        category_slug: slug.optional(),
        template_slug: slug.optional(),
        reason: text(2000).default(''),
      })
      .refine((body) => (body.category_slug === undefined) !== (body.template_slug === undefined), {
        message: 'is required, or template_slug, but not both',
        path: ['category_slug'],
      })
      .meta({ oneOf: SLUGS, examples: [{ category_slug: 'internal-tools', reason: 'For the team of analytics' }] }),
    status: 201,
    alsoStatus: 200,
    reply: z.object({ request: accessRequest }),
    problems: ['no_organization', 'too_many_requests'],
  }),
  listAllAccessRequests: endpoint({
    operationId: 'listAllAccessRequests',
    method: 'get',
    path: '/api/v1/admin/access-requests',
    access: 'admin',
    tag: 'admin',
    summary: 'List the access requests of all organizations, newest first',
    query: z.strictObject({ ...paging, status: status.optional() }),
    reply: z.object({ requests: z.array(managedAccessRequest), pagination }),
  }),
  decideAccessRequest: endpoint({
    operationId: 'decideAccessRequest',
    method: 'put',
    path: '/api/v1/admin/access-requests/:id',
    access: 'admin',
    tag: 'admin',
    summary: 'Grant or decline an access request. Granting it creates the grant',
    params: byUuid,
    body: z.strictObject({
      status: z.enum(['granted', 'declined'], 'must be granted or declined'),
      answer: text(2000).default(''),
      category: z.strictObject({ id: uuid, version: z.int() }).optional().meta({
        description:
          'The category that is granted, with its version, as `category` of the request states them. Required to grant',
      }),
    }),
    reply: z.object({ request: managedAccessRequest }),
    problems: ['not_found', 'already_decided', 'unknown_category', 'outdated_decision'],
  }),
};
