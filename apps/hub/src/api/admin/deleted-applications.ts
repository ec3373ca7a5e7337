import { hubEndpoints } from '@svc/contract/hub';
import { applications } from '../../catalog/kinds.ts';
import { listDeleted } from '../../catalog/revisions/read.ts';
import { route } from '../request/context.ts';

export const listDeletedApplications = route(
  hubEndpoints.listDeletedApplications,
  async ({ database: { client } }, { query }) => {
    const { deleted, pagination } = await listDeleted(client, applications, query);
    return { applications: deleted, pagination };
  },
);
