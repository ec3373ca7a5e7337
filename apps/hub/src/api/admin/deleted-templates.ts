import { hubEndpoints } from '@svc/contract/hub';
import { listDeleted } from '../../catalog/revisions/read.ts';
import { route } from '../request/context.ts';

export const listDeletedTemplates = route(hubEndpoints.listDeletedTemplates, ({ database: { client } }, { query }) =>
  listDeleted(client, query),
);
