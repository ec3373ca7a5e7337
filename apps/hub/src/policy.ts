import type { Policy, Verdict } from '@svc/auth';
import type { HubAccess } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import { isAdministrator, type Principal, type UserPrincipal } from './principal.ts';

/** What each kind of caller may do. */
export const policy: Policy<HubAccess, Principal> = {
  catalog: () => true,
  'organization-key': ({ kind }) =>
    kind === 'organization' || 'Only an organization’s API key has an organization here.',
  account: user(() => true),
  'account-change': user(notSuspended),
  'account-keys': user((caller) => {
    const verdict = notSuspended(caller);
    if (verdict !== true || !caller.membership) return verdict; // who has no organization hears that from the operation
    return caller.membership.role === 'org_admin' || 'Only an org_admin creates, re-issues and revokes keys.';
  }),
  admin: (principal) => isAdministrator(principal) || 'Only a user with the role admin or superadmin may do this.',
};

function user(admits: (caller: UserPrincipal) => Verdict): (principal: Principal) => Verdict {
  return (principal) =>
    principal.kind === 'user' ? admits(principal) : 'An account is a person’s: sign in, and send the JWT.';
}

/** Members of a suspended organization read, and change nothing. */
function notSuspended({ membership }: UserPrincipal): Verdict {
  if (membership?.status !== 'suspended') return true;
  return new Problem('organization_suspended', 'Your organization is suspended: you can read, and change nothing.');
}
