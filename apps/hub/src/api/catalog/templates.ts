import { hubEndpoints } from '@svc/contract/hub';
import { objectInMemory, readObject } from '../request/catalog-reads.ts';
import { frequentRead, largeReadsOf } from '../request/context.ts';

export const listTemplates = frequentRead(
  hubEndpoints.listTemplates,
  ({ catalog, viewer }, revision, { query }) => catalog.lists.inMemory({ viewer, revision }, query),
  async (context, { query }) => {
    const { catalog, viewer, revision } = context;
    return catalog.lists.page({ viewer, revision: await revision(), large: largeReadsOf(context) }, query);
  },
);

export const getTemplate = frequentRead(
  hubEndpoints.getTemplate,
  (context, revision, { params: { slug } }) => objectInMemory(context, context.catalog, { revision, slug }),
  (context, { params }) => readObject(context, context.catalog, params.slug),
);
