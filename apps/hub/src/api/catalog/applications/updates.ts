import { hubEndpoints } from '@svc/contract/hub';
import { updatesFromMemory } from '../../../catalog/changes/from-memory.ts';
import { readUpdates } from '../../request/catalog-reads.ts';
import { frequentRead } from '../../request/context.ts';

export const listApplicationUpdates = frequentRead(
  hubEndpoints.listApplicationUpdates,
  ({ catalog: { applications }, viewer }, revision, { query }) =>
    updatesFromMemory({ catalog: applications, viewer, revision }, query),
  (context, { query }) => readUpdates(context, context.catalog.applications, query),
);
