import { hubEndpoints } from '@svc/contract/hub';
import { frequentRead } from '../request/context.ts';

export const listCategories = frequentRead(
  hubEndpoints.listCategories,
  ({ catalog, viewer }, revision) => catalog.categories.inMemory({ viewer, revision }),
  async ({ catalog, viewer, revision }) => catalog.categories.list({ viewer, revision: await revision() }),
);
