import type { Policy, PolicyDecision } from '@svc/auth';
import { type FleetAccess, type FleetRole, fleetAccesses } from '@svc/contract/fleet';
import { NO_ROLE, type Principal } from './principal.ts';

const everyRole: readonly FleetRole[] = ['admin', 'operator', 'viewer'];

/** The principals that each kind of access admits. */
export const policy: Policy<FleetAccess, Principal> = {
  anyone: () => true,
  'signed-in': roles(everyRole),
  session: (principal) =>
    ('sessionId' in principal && principal.sessionId !== undefined) ||
    'This requires a session of this fleet. Tokens have no session; revoke a token instead.',
  'local-session': (principal) =>
    (principal.kind === 'user' && principal.source === 'local' && principal.sessionId !== undefined) ||
    'This requires a session of a local user. Other callers have no password in this fleet.',
  'catalog-read': roles(everyRole),
  'catalog-sync': roles(['admin', 'operator']),
  'people-read': roles(everyRole),
  'people-write': roles(['admin']),
  settings: roles(['admin']),
  audit: roles(['admin']),
  'resources-read': roles(everyRole),
  'resources-write': roles(['admin', 'operator']),
  'secrets-read': roles(everyRole),
  'secrets-write': roles(['admin']),
};

/** The kinds of access that admit a principal. */
export const accessOf = (principal: Principal): FleetAccess[] =>
  fleetAccesses.filter((access) => policy[access](principal) === true);

function roles(admitted: readonly FleetRole[]): (principal: Principal) => PolicyDecision {
  return (principal) => {
    if (principal.kind === 'anonymous') return 'This requires a credential.';
    if (principal.role === undefined) return NO_ROLE;
    return admitted.includes(principal.role) || `This requires the role ${admitted.join(' or ')}.`;
  };
}
