import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../context.ts';

export const listCategories = route(hubEndpoints.listCategories, async ({ catalog, viewer, revision }) =>
  catalog.categories.list({ viewer, revision: await revision() }),
);
