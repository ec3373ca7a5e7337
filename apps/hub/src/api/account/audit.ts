import { hubEndpoints } from '@svc/contract/hub';
import { organizationOf } from '../../identity/caller.ts';
import { readAuditEntries } from '../admin/audit.ts';
import { route } from '../context.ts';

export const listAccountAuditEntries = route(
  hubEndpoints.listAccountAuditEntries,
  ({ database: { client }, principal }, { query }) =>
    readAuditEntries(client, { ...query, org_id: organizationOf(principal) }),
);
