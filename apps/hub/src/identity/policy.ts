import type { Policy, PolicyDecision } from '@svc/auth';
import { type HubAccess, hubAccesses, type ServiceScope } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import { isAdministrator, type Principal, type UserPrincipal } from './principal.ts';

/** The principals that each kind of access admits. */
export const policy: Policy<HubAccess, Principal> = {
  anyone: () => true,
  session: (principal) =>
    (principal.kind === 'user' && principal.sessionId !== undefined) ||
    'This operation requires a session of the console or of svc. A JWT has no session.',
  catalog: () => true,
  'organization-key': ({ kind }) =>
    kind === 'organization' || 'This operation requires the API key of an organization.',
  account: user(() => true),
  'account-change': user(notSuspended),
  'account-keys': user(orgAdmin),
  'account-members': user(orgAdmin),
  admin: (principal) => isAdministrator(principal) || 'This operation requires the role admin or superadmin.',
  'publish-import': publisher('import'),
  'publish-export': publisher('export'),
};

/** Whether service tokens are valid for a kind of access. */
export const isPublishing = (access: HubAccess): boolean => access === 'publish-import' || access === 'publish-export';

/** The kinds of access that admit a principal. */
export const accessOf = (principal: Principal): HubAccess[] =>
  hubAccesses.filter((access) => policy[access](principal) === true);

function publisher(scope: ServiceScope): (principal: Principal) => PolicyDecision {
  const required = `This operation requires a service token with the scope ${scope}, or the role admin or superadmin.`;
  return (principal) =>
    (principal.kind === 'service' ? principal.scopes.includes(scope) : isAdministrator(principal)) || required;
}

function user(admits: (caller: UserPrincipal) => PolicyDecision): (principal: Principal) => PolicyDecision {
  return (principal) =>
    principal.kind === 'user' ? admits(principal) : 'This operation requires a user: sign in, or send a JWT.';
}

function orgAdmin(caller: UserPrincipal): PolicyDecision {
  const verdict = notSuspended(caller);
  if (verdict !== true || !caller.membership) return verdict; // the handler throws no_organization
  return caller.membership.role === 'org_admin' || 'This operation requires the organization role org_admin.';
}

/** Members of a suspended organization have read access only. */
function notSuspended({ membership }: UserPrincipal): PolicyDecision {
  if (membership?.status !== 'suspended') return true;
  return new Problem('organization_suspended', 'Your organization is suspended. You have read access only.');
}
