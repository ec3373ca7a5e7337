import { Problem } from '@svc/http';
import type { Change } from '../database/catalog-write.ts';
import type { Principal, UserPrincipal } from './principal.ts';

/** The user who sent the request. The policy of the account endpoints admits users only. */
export function callerOf(principal: Principal): UserPrincipal {
  if (principal.kind !== 'user') throw new Error('the policy admits users only');
  return principal;
}

/** The id of the organization of the user who sent the request. @throws 409 `no_organization` */
export function organizationOf(principal: Principal): string {
  const { membership } = callerOf(principal);
  if (membership) return membership.orgId;
  throw new Problem(
    'no_organization',
    'You do not belong to an organization. Create one, or ask an administrator to add you to one.',
  );
}

/** Who changes the catalog with a request. A service token acts for its owner. */
export function authorOf(principal: Principal): Pick<Change, 'author' | 'author_id'> {
  const { id, email } = principal.kind === 'service' ? principal.owner : callerOf(principal);
  return { author: email, author_id: id };
}
