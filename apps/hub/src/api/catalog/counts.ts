import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../request/context.ts';

export const countTemplates = route(hubEndpoints.countTemplates, async ({ catalog, viewer, revision }, { query }) => ({
  counts: await catalog.lists.count({ viewer, revision: await revision() }, query),
}));
