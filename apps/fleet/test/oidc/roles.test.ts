import type { FleetRole } from '@svc/contract/fleet';
import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import { type RoleSettings, roleOf } from '../../src/identity/roles.ts';

const rising: readonly FleetRole[] = ['viewer', 'operator', 'admin'];
type Claims = Readonly<Record<string, unknown>>;
const map: Record<string, FleetRole> = { owners: 'admin', staff: 'operator', guests: 'viewer' };

test.each<[string, Claims, RoleSettings, FleetRole | undefined]>([
  ['a role as a string', { role: 'operator' }, { roleClaim: 'role' }, 'operator'],
  ['a role in a list', { role: ['operator'] }, { roleClaim: 'role' }, 'operator'],
  ['the highest of several', { role: ['viewer', 'admin', 'operator'] }, { roleClaim: 'role' }, 'admin'],
  ['a role among other values', { role: ['uma_authorization', 'viewer'] }, { roleClaim: 'role' }, 'viewer'],
  [
    'roles among values that are not strings',
    { role: [5, null, ['admin'], { admin: true }, 'viewer'] },
    { roleClaim: 'role' },
    'viewer',
  ],
  ['a URL as the claim', { 'https://example.com/role': 'admin' }, { roleClaim: 'https://example.com/role' }, 'admin'],
  ['nested claims', { realm_access: { roles: ['admin'] } }, { roleClaim: 'realm_access.roles' }, 'admin'],
  ['deeply nested claims', { a: { b: { c: 'viewer' } } }, { roleClaim: 'a.b.c' }, 'viewer'],
  ['a literal name before dots', { 'a.b': 'viewer', a: { b: 'admin' } }, { roleClaim: 'a.b' }, 'viewer'],
  ['a literal name without a role before dots', { 'a.b': 'x', a: { b: 'admin' } }, { roleClaim: 'a.b' }, undefined],
  ['a mapped group', { groups: ['staff'] }, { roleClaim: 'groups', roleMap: map }, 'operator'],
  ['the highest of mapped groups', { groups: ['guests', 'owners'] }, { roleClaim: 'groups', roleMap: map }, 'admin'],
  ['a role’s name that is not mapped', { groups: ['admin'] }, { roleClaim: 'groups', roleMap: map }, undefined],
  ['an empty mapping', { role: 'admin' }, { roleClaim: 'role', roleMap: {} }, undefined],
  ['a mapping that is null', { role: 'admin' }, { roleClaim: 'role', roleMap: null }, 'admin'],
  ['the case of the letters', { role: 'Admin' }, { roleClaim: 'role' }, undefined],
  ['several roles in one string', { role: 'viewer admin' }, { roleClaim: 'role' }, 'admin'],
  ['several mapped roles in one string', { scope: 'openid, staff' }, { roleClaim: 'scope', roleMap: map }, 'operator'],
  ['a mapped role with a blank', { g: 'the crew' }, { roleClaim: 'g', roleMap: { 'the crew': 'viewer' } }, 'viewer'],
  [
    'a nested name with dots',
    { resource_access: { 'fleet.example.com': { roles: ['admin'] } } },
    { roleClaim: 'resource_access.fleet.example.com.roles' },
    'admin',
  ],
  ['a missing claim', {}, { roleClaim: 'role' }, undefined],
  ['a claim that is true', { role: true }, { roleClaim: 'role' }, undefined],
  ['a claim that is an object', { role: { admin: 'admin' } }, { roleClaim: 'role' }, undefined],
  ['a list in the path', { a: [{ b: 'admin' }] }, { roleClaim: 'a.b' }, undefined],
  ['a name that every object inherits', {}, { roleClaim: 'constructor.name' }, undefined],
  ['a value that every object inherits', { role: 'constructor' }, { roleClaim: 'role', roleMap: map }, undefined],
  ['the default role if there is no other', {}, { roleClaim: 'role', defaultRole: 'viewer' }, 'viewer'],
  ['a role before the default role', { role: 'admin' }, { roleClaim: 'role', defaultRole: 'viewer' }, 'admin'],
])('the role of a user is determined by %s', (_, claims, settings, role) => {
  expect(roleOf(claims, settings)).toBe(role);
});

const word = fc.oneof(fc.constantFrom(...rising, ...Object.keys(map), '__proto__', 'toString'), fc.string());
const anyMap = fc.option(fc.dictionary(word, fc.constantFrom(...rising)), { nil: undefined });

test('the role of a user is the highest role that any value of the claim gives, or none', () => {
  assertProperty(
    fc.property(fc.array(word), anyMap, (words, roleMap) => {
      const given = words.flatMap((one) => {
        const alone = roleOf({ groups: one }, { roleClaim: 'groups', roleMap });
        return alone === undefined ? [] : [alone];
      });
      const ranks = given.map((role) => rising.indexOf(role));
      const highest = given.length > 0 ? rising[Math.max(...ranks)] : undefined;
      expect(roleOf({ groups: words }, { roleClaim: 'groups', roleMap })).toBe(highest);
    }),
  );
});

test('a value gives exactly the role to which it is mapped', () => {
  assertProperty(
    fc.property(word, fc.dictionary(word, fc.constantFrom(...rising)), (one, roleMap) => {
      const mapped = Object.entries(roleMap).find(([name]) => name === one)?.[1];
      expect(roleOf({ groups: one }, { roleClaim: 'groups', roleMap })).toBe(mapped);
    }),
  );
});

test('for any claims and claim name, the result is a role or the default role', () => {
  assertProperty(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (claims, roleClaim) => {
      expect(rising).toContain(roleOf(claims, { roleClaim, defaultRole: 'viewer' }));
    }),
  );
});
