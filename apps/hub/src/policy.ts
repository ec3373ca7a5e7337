import type { Policy, PolicyDecision } from '@svc/auth';
import type { HubAccess } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import { isAdministrator, type Principal, type UserPrincipal } from './principal.ts';

/** The principals that each kind of access admits. */
export const policy: Policy<HubAccess, Principal> = {
  catalog: () => true,
  'organization-key': ({ kind }) =>
    kind === 'organization' || 'This operation requires the API key of an organization.',
  account: user(() => true),
  'account-change': user(notSuspended),
  'account-keys': user((caller) => {
    const verdict = notSuspended(caller);
    if (verdict !== true || !caller.membership) return verdict; // the handler throws no_organization
    return caller.membership.role === 'org_admin' || 'This operation requires the organization role org_admin.';
  }),
  admin: (principal) => isAdministrator(principal) || 'This operation requires the role admin or superadmin.',
};

function user(admits: (caller: UserPrincipal) => PolicyDecision): (principal: Principal) => PolicyDecision {
  return (principal) =>
    principal.kind === 'user' ? admits(principal) : 'This operation requires a user: sign in, and send the JWT.';
}

/** Members of a suspended organization have read access only. */
function notSuspended({ membership }: UserPrincipal): PolicyDecision {
  if (membership?.status !== 'suspended') return true;
  return new Problem('organization_suspended', 'Your organization is suspended. You have read access only.');
}
