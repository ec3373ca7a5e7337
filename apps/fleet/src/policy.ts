import type { Policy, Verdict } from '@svc/auth';
import type { FleetAccess, FleetRole } from '@svc/contract/fleet';
import type { Principal } from './principal.ts';

const anyRole: readonly FleetRole[] = ['admin', 'operator', 'viewer'];

/** What each kind of caller may do. */
export const policy: Policy<FleetAccess, Principal> = {
  anyone: () => true,
  'signed-in': roles(anyRole),
  session: (principal) =>
    principal.kind === 'temporary-admin' || 'Only somebody who signed in has a session; a token is revoked instead.',
  'catalog-read': roles(anyRole),
  'catalog-sync': roles(['admin', 'operator']),
};

function roles(admitted: readonly FleetRole[]): (principal: Principal) => Verdict {
  return (principal) =>
    (principal.kind !== 'anonymous' && admitted.includes(principal.role)) ||
    `This needs the role ${admitted.join(' or ')}.`;
}
