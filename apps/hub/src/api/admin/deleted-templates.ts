import { hubEndpoints } from '@svc/contract/hub';
import { templates } from '../../catalog/kinds.ts';
import { listDeleted } from '../../catalog/revisions/read.ts';
import { route } from '../request/context.ts';

export const listDeletedTemplates = route(
  hubEndpoints.listDeletedTemplates,
  async ({ database: { client } }, { query }) => {
    const { deleted, pagination } = await listDeleted(client, templates, query);
    return { templates: deleted, pagination };
  },
);
