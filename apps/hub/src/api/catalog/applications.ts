import { hubEndpoints } from '@svc/contract/hub';
import { objectInMemory, readObject } from '../request/catalog-reads.ts';
import { frequentRead, largeReadsOf } from '../request/context.ts';

export const listApplications = frequentRead(
  hubEndpoints.listApplications,
  ({ catalog, viewer }, revision, { query }) => catalog.applications.lists.inMemory({ viewer, revision }, query),
  async (context, { query }) => {
    const { catalog, viewer, revision } = context;
    const request = { viewer, revision: await revision(), large: largeReadsOf(context) };
    return catalog.applications.lists.page(request, query);
  },
);

export const getApplication = frequentRead(
  hubEndpoints.getApplication,
  (context, revision, { params: { slug } }) =>
    objectInMemory(context, context.catalog.applications, { revision, slug }),
  (context, { params }) => readObject(context, context.catalog.applications, params.slug),
);
