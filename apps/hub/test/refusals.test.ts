import { newSecretToken } from '@svc/auth';
import { type HubAccess, hubEndpoints } from '@svc/contract/hub';
import { type Api, type Expected, testRefusals } from '@svc/testing';
import { startWorld } from './world.ts';

const world = await startWorld();
const { api, issuer } = world;
const active = await world.anOrganization();
const suspended = await world.anOrganization({ status: 'suspended' });
const revoked = await world.anOrganization({}, { revoked_at: new Date() });
const expired = await world.anOrganization({}, { expires_at: new Date(Date.now() - 1000) });
const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;

const callers = {
  anonymous: world.anonymous,
  'another authentication scheme': api('Basic YWJjOmRlZg=='),
  'a malformed key': api(`Bearer ${active.key.slice(0, -1)}`),
  'an unknown key': api(`Bearer ${newSecretToken('svcc_')}`),
  'a revoked key': world.as(revoked),
  'an expired key': world.as(expired),
  'an MCP token': api(`Bearer ${newSecretToken('svcm_')}`),
  'an opaque token': api('Bearer 2YotnFZFEjr1zCsicMWpAA'),
  'an expired JWT': api(`Bearer ${await issuer.sign('late', { exp: seconds(-60) })}`),
  'a JWT for another audience': api(`Bearer ${await issuer.sign('stranger', { aud: 'https://other.example.test' })}`),
  'a suspended organization': world.as(suspended),
  'an organization': world.as(active),
  'a user': await world.aUser('user'),
  'a member': await world.aMember(active, 'member'),
  'an org_admin': await world.aMember(active, 'org_admin'),
  'a member of a suspended organization': await world.aMember(suspended, 'member'),
  'an org_admin of a suspended organization': await world.aMember(suspended, 'org_admin'),
  'an admin': await world.aUser('admin'),
  'a superadmin': await world.aUser('superadmin'),
} satisfies Record<string, Api>;

type Caller = keyof typeof callers;

const alwaysRefused = {
  'another authentication scheme': 'invalid_request',
  'a malformed key': 'invalid_token',
  'an unknown key': 'invalid_token',
  'a revoked key': 'invalid_token',
  'an expired key': 'invalid_token',
  'an MCP token': 'invalid_token',
  'an opaque token': 'invalid_token',
  'an expired JWT': 'invalid_token',
  'a JWT for another audience': 'invalid_token',
  'a suspended organization': 'organization_suspended',
} as const;

const users = (verdict: Expected) =>
  ({
    'a user': verdict,
    'a member': verdict,
    'an org_admin': verdict,
    'a member of a suspended organization': verdict,
    'an org_admin of a suspended organization': verdict,
  }) as const;

const suspendedUsers = {
  'a member of a suspended organization': 'organization_suspended',
  'an org_admin of a suspended organization': 'organization_suspended',
} as const;

/**
 * Sessions of the console have their own tests, since a session ends with the request that ends it.
 */
const withoutSession: Record<Caller, Expected> = {
  ...alwaysRefused,
  anonymous: 'unauthenticated',
  'an organization': 'insufficient_scope',
  ...users('insufficient_scope'),
  'an admin': 'insufficient_scope',
  'a superadmin': 'insufficient_scope',
};

/** A user without an organization is admitted, and the handler throws `no_organization`. */
const orgAdmins: Record<Caller, Expected> = {
  ...alwaysRefused,
  anonymous: 'unauthenticated',
  'an organization': 'insufficient_scope',
  ...users('admitted'),
  'a member': 'insufficient_scope',
  ...suspendedUsers,
  'an admin': 'admitted',
  'a superadmin': 'admitted',
};

const everybody: Record<Caller, Expected> = {
  ...alwaysRefused,
  anonymous: 'admitted',
  'an organization': 'admitted',
  ...users('admitted'),
  'an admin': 'admitted',
  'a superadmin': 'admitted',
};

const expected: Record<HubAccess, Record<Caller, Expected>> = {
  anyone: everybody,
  session: withoutSession,
  catalog: everybody,
  'organization-key': {
    ...alwaysRefused,
    anonymous: 'unauthenticated',
    'an organization': 'admitted',
    ...users('insufficient_scope'),
    'an admin': 'insufficient_scope',
    'a superadmin': 'insufficient_scope',
  },
  account: {
    ...alwaysRefused,
    anonymous: 'unauthenticated',
    'an organization': 'insufficient_scope',
    ...users('admitted'),
    'an admin': 'admitted',
    'a superadmin': 'admitted',
  },
  'account-change': {
    ...alwaysRefused,
    anonymous: 'unauthenticated',
    'an organization': 'insufficient_scope',
    ...users('admitted'),
    ...suspendedUsers,
    'an admin': 'admitted',
    'a superadmin': 'admitted',
  },
  'account-keys': orgAdmins,
  'account-members': orgAdmins,
  admin: {
    ...alwaysRefused,
    anonymous: 'unauthenticated',
    'an organization': 'insufficient_scope',
    ...users('insufficient_scope'),
    'an admin': 'admitted',
    'a superadmin': 'admitted',
  },
};

afterAll(() => world.stop());

testRefusals({
  endpoints: Object.values(hubEndpoints),
  expected,
  everywhere: ['anonymous', 'an unknown key', 'an organization', 'a user', 'an admin'],
  api: (caller) => callers[caller],
});
