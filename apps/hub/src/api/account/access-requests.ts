import { hubEndpoints, MAX_OPEN_REQUESTS } from '@svc/contract/hub';
import { alreadyExists, Problem } from '@svc/http';
import { callerOf, organizationOf } from '../../identity/caller.ts';
import { reportAccess } from '../../webhooks/events.ts';
import { route } from '../request/context.ts';
import { emptyList, readPage } from '../request/lists.ts';

export const listAccessRequests = route(
  hubEndpoints.listAccessRequests,
  async ({ database: { client }, principal }, { query }) => {
    const { membership } = callerOf(principal);
    if (!membership) return emptyList('requests', query);
    const where = { org_id: membership.orgId };
    return readPage(client, query, {
      member: 'requests',
      rows: ({ skip, take }) =>
        client.accessRequest.findMany({ where, orderBy: [{ created_at: 'desc' }, { id: 'desc' }], skip, take }),
      total: () => client.accessRequest.count({ where }),
      present: (row) => row,
    });
  },
);

/**
 * Does not look up what is requested, so that neither the response nor its time shows whether it
 * exists.
 */
export const requestAccess = route(
  hubEndpoints.requestAccess,
  async ({ database: { client }, principal, publicUrl }, { body }) => {
    const org_id = organizationOf(principal);
    const { email } = callerOf(principal);
    const { category_slug = null, template_slug = null, reason } = body;
    return client.$transaction(async (transaction) => {
      await transaction.$queryRaw`SELECT FROM organizations WHERE id = ${org_id}::uuid FOR NO KEY UPDATE`;
      const open = await transaction.accessRequest.findMany({ where: { org_id, status: 'open' } });
      const same = open.find((each) => each.category_slug === category_slug && each.template_slug === template_slug);
      if (same) return alreadyExists({ request: same });
      if (open.length >= MAX_OPEN_REQUESTS) {
        throw new Problem(
          'too_many_requests',
          `The organization has ${open.length} open access requests, which is the maximum. Wait for a decision.`,
        );
      }
      const data = { org_id, category_slug, template_slug, reason, requested_by: email };
      const request = await transaction.accessRequest.create({ data });
      await reportAccess(transaction, publicUrl, request);
      return { request };
    });
  },
);
