import { hubEndpoints } from '@svc/contract/hub';
import { updatesFromMemory } from '../../../catalog/changes/from-memory.ts';
import { readUpdates } from '../../request/catalog-reads.ts';
import { frequentRead } from '../../request/context.ts';

export const listTemplateUpdates = frequentRead(
  hubEndpoints.listTemplateUpdates,
  ({ catalog, viewer }, revision, { query }) => updatesFromMemory({ catalog, viewer, revision }, query),
  (context, { query }) => readUpdates(context, context.catalog, query),
);
