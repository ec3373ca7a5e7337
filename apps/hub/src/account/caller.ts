import { Problem } from '@svc/http';
import type { Principal, UserPrincipal } from '../principal.ts';

/** The person who calls; the policy of account endpoints admits nobody else. */
export function callerOf(principal: Principal): UserPrincipal {
  if (principal.kind !== 'user') throw new Error('the policy admits users only');
  return principal;
}

/** The organization of the person who calls. @throws 409 no_organization */
export function organizationOf(principal: Principal): string {
  const { membership } = callerOf(principal);
  if (membership) return membership.orgId;
  throw new Problem('no_organization', 'You belong to no organization: create one, or be added to one.');
}
