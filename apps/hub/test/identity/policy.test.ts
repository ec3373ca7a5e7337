import { type HubAccess, hubAccesses } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import { accessOf, policy } from '../../src/identity/policy.ts';
import type { Principal, UserPrincipal } from '../../src/identity/principal.ts';

const user = (given: Partial<UserPrincipal> = {}): UserPrincipal => ({
  kind: 'user',
  id: 'id',
  email: null,
  role: 'user',
  membership: undefined,
  sessionId: undefined,
  ...given,
});
const member = (role: 'org_admin' | 'member', status: 'active' | 'suspended') =>
  user({ membership: { orgId: 'org', role, status } });

const organization: Principal = {
  kind: 'organization',
  keyId: 'key',
  organization: { id: 'org', name: 'Org', slug: 'org', tier: 'free', status: 'active' },
};

const service = (...scopes: Extract<Principal, { readonly kind: 'service' }>['scopes']): Principal => ({
  kind: 'service',
  tokenId: 'token',
  scopes,
  categoryIds: [],
  owner: { id: 'id', email: null },
});

const EVERYBODY: readonly HubAccess[] = ['anyone', 'catalog'];
const USER: readonly HubAccess[] = [...EVERYBODY, 'account', 'account-change'];
const ORG_ADMIN: readonly HubAccess[] = [...USER, 'account-keys', 'account-members'];
const ADMIN: readonly HubAccess[] = [...ORG_ADMIN, 'admin', 'publish-import', 'publish-export'];

/** All that each principal may do. A user without an organization is told so by the handlers. */
const table: readonly (readonly [string, Principal, readonly HubAccess[]])[] = [
  ['an anonymous caller', { kind: 'anonymous' }, EVERYBODY],
  ['an organization', organization, [...EVERYBODY, 'organization-key']],
  ['a user without an organization', user(), ORG_ADMIN],
  ['a user with a session', user({ sessionId: 'session' }), [...ORG_ADMIN, 'session']],
  ['a member', member('member', 'active'), USER],
  ['an org_admin', member('org_admin', 'active'), ORG_ADMIN],
  ['a member of a suspended organization', member('member', 'suspended'), [...EVERYBODY, 'account']],
  ['an org_admin of a suspended organization', member('org_admin', 'suspended'), [...EVERYBODY, 'account']],
  ['an admin', user({ role: 'admin' }), ADMIN],
  ['a superadmin', user({ role: 'superadmin' }), ADMIN],
  // Such a token is valid for no other access: see refusals.test.ts.
  ['a service token for imports', service('import', 'prune'), [...EVERYBODY, 'publish-import']],
  ['a service token for exports', service('export'), [...EVERYBODY, 'publish-export']],
];

test.each(table)('admits %s to nothing but the listed kinds of access', (_, principal, expected) => {
  expect(accessOf(principal).sort()).toEqual([...expected].sort());
  for (const access of hubAccesses.filter((each) => !expected.includes(each))) {
    const verdict = policy[access](principal);
    const reason = verdict instanceof Problem ? verdict.message : verdict;
    expect({ access, reason }).toEqual({ access, reason: expect.stringMatching(/\.$/) });
  }
});

test('states that the organization is suspended, also to an org_admin', () => {
  for (const access of ['account-change', 'account-keys', 'account-members'] as const) {
    expect(policy[access](member('org_admin', 'suspended'))).toMatchObject({ code: 'organization_suspended' });
  }
});
