import type { Policy } from '@svc/auth';
import type { HubAccess } from '@svc/contract/hub';
import { isAdministrator, type Principal } from './principal.ts';

/** What each kind of caller may do. */
export const policy: Policy<HubAccess, Principal> = {
  catalog: () => true,
  'organization-key': ({ kind }) =>
    kind === 'organization' || 'Only an organization’s API key has an organization here.',
  admin: (principal) => isAdministrator(principal) || 'Only a user with the role admin or superadmin may do this.',
};
