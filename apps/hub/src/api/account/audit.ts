import { hubEndpoints } from '@svc/contract/hub';
import { organizationOf } from '../../identity/caller.ts';
import { readAuditPage } from '../admin/audit.ts';
import { route } from '../request/context.ts';

export const listAccountAuditEntries = route(
  hubEndpoints.listAccountAuditEntries,
  ({ database, principal }, { query }) => readAuditPage(database, { ...query, org_id: organizationOf(principal) }),
);
