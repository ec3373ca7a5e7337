import { hubEndpoints } from '@svc/contract/hub';
import { revisedTemplates } from '../../../catalog/revisions/content.ts';
import * as revisions from '../../../catalog/revisions/read.ts';
import { route } from '../../request/context.ts';

export const listRevisions = route(hubEndpoints.listRevisions, ({ database: { client } }, { params: { id }, query }) =>
  revisions.listRevisions(client, revisedTemplates, id, query),
);

export const getRevision = route(
  hubEndpoints.getRevision,
  async ({ database: { client } }, { params: { id, revision } }) => {
    const { content, ...change } = await revisions.readRevision(client, revisedTemplates, id, revision);
    return { revision: { ...change, template: content ?? null } };
  },
);

export const compareRevisions = route(hubEndpoints.compareRevisions, ({ database: { client } }, { params, query }) =>
  revisions.compareRevisions(client, revisedTemplates, { ...params, ...query }),
);
