import { type FleetAccess, type FleetRole, fleetAccesses } from '@svc/contract/fleet';
import { accessOf, createPolicy, revealSettings } from '../../src/identity/policy.ts';
import type { Principal, User } from '../../src/identity/principal.ts';

const policy = createPolicy('admins-and-operators');

const user = (given: Partial<User> = {}): User => ({
  kind: 'user',
  id: 'id',
  source: 'oidc',
  name: 'Ada',
  email: null,
  role: 'viewer',
  sessionId: undefined,
  ...given,
});
const token = (role: FleetRole | undefined): Principal => ({
  kind: 'token',
  id: 'id',
  name: 'ci',
  role,
  createdByUser: null,
  approval: 'none',
});

const VIEWER: readonly FleetAccess[] = [
  'anyone',
  'signed-in',
  'catalog-read',
  'people-read',
  'resources-read',
  'secrets-read',
];
const OPERATOR: readonly FleetAccess[] = [...VIEWER, 'catalog-sync', 'resources-write'];
const ADMIN: readonly FleetAccess[] = [...OPERATOR, 'people-write', 'settings', 'audit', 'secrets-write'];

/** All that each principal may do. */
const table: readonly (readonly [string, Principal, readonly FleetAccess[]])[] = [
  ['an anonymous caller', { kind: 'anonymous' }, ['anyone']],
  ['a user without a role', user({ role: undefined }), ['anyone']],
  ['a viewer', user(), VIEWER],
  ['an operator', user({ role: 'operator' }), OPERATOR],
  ['an admin', user({ role: 'admin' }), ADMIN],
  ['a token without a role', token(undefined), ['anyone']],
  ['a token of a viewer', token('viewer'), VIEWER],
  ['a token of an operator', token('operator'), OPERATOR],
  ['a token of an admin', token('admin'), ADMIN],
  ['a user of the provider with a session', user({ sessionId: 'session' }), [...VIEWER, 'session']],
  [
    'a local user with a session',
    user({ source: 'local', sessionId: 'session' }),
    [...VIEWER, 'session', 'local-session'],
  ],
  ['a local user without a session', user({ source: 'local' }), VIEWER],
  [
    'an operator with a session',
    user({ role: 'operator', sessionId: 'session' }),
    [...OPERATOR, 'session', 'plans-review', 'values-reveal'],
  ],
  [
    'the temporary admin',
    { kind: 'temporary-admin', name: 'admin', role: 'admin', sessionId: 'session' },
    [...ADMIN, 'session', 'plans-review', 'values-reveal'],
  ],
];

test.each(table)('admits %s to nothing but the listed kinds of access', (_, principal, expected) => {
  expect(accessOf(policy, principal).sort()).toEqual([...expected].sort());
  for (const access of fleetAccesses.filter((each) => !expected.includes(each))) {
    expect({ access, reason: policy[access](principal) }).toEqual({ access, reason: expect.stringMatching(/\.$/) });
  }
});

test('states to an anonymous caller that a credential is required, and to others what they lack', () => {
  expect(policy.settings({ kind: 'anonymous' })).toBe('This requires a credential.');
  expect(policy.settings(user({ role: undefined }))).toMatch(/map to no role/);
  expect(policy['resources-write'](user())).toBe('This requires the role admin or operator.');
});

test('the setting determines which sessions reveal values, and no credential without a session does', () => {
  const callers = [user({ role: 'operator' }), user({ role: 'admin' }), token('admin')] as const;
  const sessions = (['viewer', 'operator', 'admin'] as const).map((role) => user({ role, sessionId: 'session' }));
  const admitted = revealSettings.map((setting) => [
    setting,
    [...callers, ...sessions].map((caller) => createPolicy(setting)['values-reveal'](caller) === true),
  ]);
  expect(Object.fromEntries(admitted)).toEqual({
    'admins-and-operators': [false, false, false, false, true, true],
    admins: [false, false, false, false, false, true],
    off: [false, false, false, false, false, false],
  });
});
