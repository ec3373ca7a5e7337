import { partsOf } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import type { Handlers } from './types.ts';

const { listAuditEntries } = fleetEndpoints;

export const search_audit_log: Handlers['search_audit_log'] = (given, { ask }) =>
  ask(listAuditEntries, partsOf(listAuditEntries, given));
