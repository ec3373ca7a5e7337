import { hubEndpoints } from '@svc/contract/hub';
import { invalid } from '@svc/http';
import { changesOf } from '../../../catalog/revisions/content.ts';
import * as revisions from '../../../catalog/revisions/read.ts';
import { route } from '../../request/context.ts';

export const listRevisions = route(hubEndpoints.listRevisions, ({ database: { client } }, { params: { id }, query }) =>
  revisions.listRevisions(client, id, query),
);

export const getRevision = route(
  hubEndpoints.getRevision,
  async ({ database: { client } }, { params: { id, revision } }) => {
    const { template = null, ...change } = await revisions.readRevision(client, id, revision);
    return { revision: { ...change, template } };
  },
);

export const compareRevisions = route(
  hubEndpoints.compareRevisions,
  async ({ database: { client } }, { params: { id, revision }, query: { since } }) => {
    if (since !== undefined && since >= revision)
      throw invalid([{ path: 'since', message: `must be below the revision ${revision}` }]);
    const after = await revisions.readRevision(client, id, revision);
    const before =
      since === undefined
        ? await revisions.readPrevious(client, id, revision)
        : await revisions.readRevision(client, id, since);
    return { changes: changesOf(before?.template, after.template) };
  },
);
