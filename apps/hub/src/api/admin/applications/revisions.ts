import { hubEndpoints } from '@svc/contract/hub';
import { revisedApplications } from '../../../catalog/revisions/content.ts';
import * as revisions from '../../../catalog/revisions/read.ts';
import { route } from '../../request/context.ts';

export const listApplicationRevisions = route(
  hubEndpoints.listApplicationRevisions,
  ({ database: { client } }, { params: { id }, query }) =>
    revisions.listRevisions(client, revisedApplications, id, query),
);

export const getApplicationRevision = route(
  hubEndpoints.getApplicationRevision,
  async ({ database: { client } }, { params: { id, revision } }) => {
    const { content, ...change } = await revisions.readRevision(client, revisedApplications, id, revision);
    return { revision: { ...change, application: content ?? null } };
  },
);

export const compareApplicationRevisions = route(
  hubEndpoints.compareApplicationRevisions,
  ({ database: { client } }, { params, query }) =>
    revisions.compareRevisions(client, revisedApplications, { ...params, ...query }),
);
