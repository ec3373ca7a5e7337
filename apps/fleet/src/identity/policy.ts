import type { Policy, PolicyDecision } from '@svc/auth';
import { type FleetAccess, type FleetRole, fleetAccesses } from '@svc/contract/fleet';
import { NO_ROLE, type Principal } from './principal.ts';

const everyRole: readonly FleetRole[] = ['admin', 'operator', 'viewer'];

/** The values of the setting `REVEAL_VALUES`: who can reveal values that the fleet generated. */
export const revealSettings = ['admins-and-operators', 'admins', 'off'] as const;
export type RevealSetting = (typeof revealSettings)[number];

const revealers: Readonly<Record<RevealSetting, readonly FleetRole[]>> = {
  'admins-and-operators': ['admin', 'operator'],
  admins: ['admin'],
  off: [],
};

export type FleetPolicy = Policy<FleetAccess, Principal>;

/** The principals that each kind of access admits. */
export const createPolicy = (reveal: RevealSetting): FleetPolicy => ({
  anyone: () => true,
  'signed-in': roles(everyRole),
  session: hasSession,
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
  'plans-review': reviewing,
  'secrets-read': roles(everyRole),
  'secrets-write': roles(['admin']),
  'values-reveal': revealing(revealers[reveal]),
});

/** The kinds of access that admit a principal. */
export const accessOf = (policy: FleetPolicy, principal: Principal): FleetAccess[] =>
  fleetAccesses.filter((access) => policy[access](principal) === true);

function roles(admitted: readonly FleetRole[]): (principal: Principal) => PolicyDecision {
  return (principal) => {
    if (principal.kind === 'anonymous') return 'This requires a credential.';
    if (principal.role === undefined) return NO_ROLE;
    return admitted.includes(principal.role) || `This requires the role ${admitted.join(' or ')}.`;
  };
}

function hasSession(principal: Principal): PolicyDecision {
  return (
    ('sessionId' in principal && principal.sessionId !== undefined) ||
    'This requires a session of this fleet. Tokens have no session; revoke a token instead.'
  );
}

/** People who could make the change themselves. A token that approves a plan would be no second pair of eyes. */
function reviewing(principal: Principal): PolicyDecision {
  if (principal.kind === 'token' || hasSession(principal) !== true)
    return 'This requires a user who is signed in to this fleet. Tokens approve no plans.';
  return roles(['admin', 'operator'])(principal);
}

/** People with one of these roles. Programs and agents do not need the passwords of people. */
function revealing(admitted: readonly FleetRole[]): (principal: Principal) => PolicyDecision {
  return (principal) => {
    if (hasSession(principal) !== true)
      return 'This requires a user who is signed in to this fleet. Tokens reveal no values.';
    if (admitted.length === 0) return 'This fleet does not reveal values. The setting REVEAL_VALUES determines it.';
    return roles(admitted)(principal);
  };
}
