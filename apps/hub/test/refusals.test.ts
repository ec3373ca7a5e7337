import { createBrowserSessions, hashCredential, hashSecretToken, newSecretToken } from '@svc/auth';
import { type HubAccess, hubEndpoints } from '@svc/contract/hub';
import { type Api, type Expected, testRefusals } from '@svc/testing';
import { startWorld } from './world.ts';

const PUBLIC_URL = 'https://hub.example.test';
const world = await startWorld({ publicUrl: PUBLIC_URL });
const { api, issuer } = world;
const sql = world.database.client;
const active = await world.anOrganization();
const suspended = await world.anOrganization({ status: 'suspended' });
const revoked = await world.anOrganization({}, { revoked_at: new Date() });
const expired = await world.anOrganization({}, { expires_at: new Date(Date.now() - 1000) });
const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;

const other = await world.anOrganization();
const deleted = await world.anOrganization();
await sql.apiKey.deleteMany({ where: { org_id: deleted.id } });
await sql.subscription.deleteMany({ where: { org_id: deleted.id } });
await sql.organization.delete({ where: { id: deleted.id } });

const administrator = await world.aUser('admin');
/** A caller with a role, whose user an administrator changes. */
async function former(caller: Api, change: object): Promise<Api> {
  const { id } = (await caller.get('/api/v1/account/profile')).body.profile;
  const { status } = await administrator.put(`/api/v1/admin/users?id=${id}`, change);
  if (status !== 200) throw new Error(`the change of the user answered ${status}`);
  return caller;
}
const anOrgAdmin = () => world.aMember(active, 'org_admin');
await anOrgAdmin(); // so that each other org_admin can be removed
const maker = await anOrgAdmin();
const { key } = (await maker.post('/api/v1/account/api-keys', { name: 'of a removed org_admin' })).body.apiKey;
await former(maker, { org_id: null });
const superadmin = await world.aUser('superadmin');
const formerAdmin = await world.aUser('admin');
const { id: formerId } = (await formerAdmin.get('/api/v1/account/profile')).body.profile;
await superadmin.put(`/api/v1/admin/users?id=${formerId}`, { role: 'user' });

const category = await world.aCategory();
const ofAdmin = (owner: Api) => world.aServiceToken(owner, { categories: [category.id] });
const revokedToken = await ofAdmin(administrator);
await administrator.delete('/api/v1/admin/service-tokens', { id: revokedToken.id });
const expiredToken = await ofAdmin(administrator);
await sql.serviceToken.update({ where: { id: expiredToken.id }, data: { expires_at: new Date(Date.now() - 1000) } });
const demoted = await world.aUser('admin');
const tokenOfDemoted = await ofAdmin(demoted);
await former(demoted, { role: 'user' });
const toBlock = await world.aUser('admin');
const tokenOfBlocked = await ofAdmin(toBlock);
await former(toBlock, { blocked: true });
const toRemove = await world.aUser('admin');
const tokenOfRemoved = await ofAdmin(toRemove);
await sql.user.delete({ where: { id: (await toRemove.get('/api/v1/account/profile')).body.profile.id } });

/** A caller with the cookie of a session of the console. */
async function inBrowser(reference: string, session: { user_id: string; ended_at?: Date }): Promise<Api> {
  const expires_at = new Date(Date.now() + 3_600_000);
  await sql.session.create({ data: { browser_hash: hashCredential(reference), expires_at, ...session } });
  const [Cookie = ''] = createBrowserSessions('hub', PUBLIC_URL).cookieOf(reference).split(';');
  const own = { Cookie, 'Sec-Fetch-Site': 'same-origin', Origin: PUBLIC_URL };
  const nobody = api();
  return { ...nobody, send: (wanted) => nobody.send({ ...wanted, headers: { ...wanted.headers, ...own } }) };
}

/** A program that sends the token of a session. Each request has its own, since one of the endpoints ends it. */
function inProgram(session: { user_id: string; ended_at?: Date }): Api {
  const expires_at = new Date(Date.now() + 3_600_000);
  return {
    ...api(),
    send: async (wanted) => {
      const token = newSecretToken('svcu_');
      await sql.session.create({
        data: { browser_hash: hashSecretToken(token), has_token: true, expires_at, ...session },
      });
      return api(`Bearer ${token}`).send(wanted);
    },
  };
}
const { id: administratorId } = (await administrator.get('/api/v1/account/profile')).body.profile;

const callers = {
  anonymous: world.anonymous,
  'another authentication scheme': api('Basic YWJjOmRlZg=='),
  'a malformed key': api(`Bearer ${active.key.slice(0, -1)}`),
  'an unknown key': api(`Bearer ${newSecretToken('svcc_')}`),
  'a revoked key': world.as(revoked),
  'an expired key': world.as(expired),
  'an MCP token': api(`Bearer ${newSecretToken('svcm_')}`),
  'an unknown service token': api(`Bearer ${newSecretToken('svcs_')}`),
  'a service token': await ofAdmin(administrator),
  'a revoked service token': revokedToken,
  'an expired service token': expiredToken,
  'a service token of an admin who is now a user': tokenOfDemoted,
  'a service token of a blocked admin': tokenOfBlocked,
  'a service token of a removed admin': tokenOfRemoved,
  'an opaque token': api('Bearer 2YotnFZFEjr1zCsicMWpAA'),
  'an expired JWT': api(`Bearer ${await issuer.sign('late', { exp: seconds(-60) })}`),
  'a JWT for another audience': api(`Bearer ${await issuer.sign('stranger', { aud: 'https://other.example.test' })}`),
  'a key of a deleted organization': world.as(deleted),
  'a key of a removed org_admin': api(`Bearer ${key}`),
  'a blocked user': await former(await world.aUser('user'), { blocked: true }),
  'a blocked admin': await former(await world.aUser('admin'), { blocked: true }),
  'the cookie of an ended session': await inBrowser('ended', { user_id: formerId, ended_at: new Date() }),
  'an ended session of a program': inProgram({ user_id: administratorId, ended_at: new Date() }),
  'an unknown session of a program': api(`Bearer ${newSecretToken('svcu_')}`),
  'an admin who is now a user': formerAdmin,
  'a removed org_admin': await former(await anOrgAdmin(), { org_id: null }),
  'an org_admin who is now a member': await former(await anOrgAdmin(), { org_role: 'member' }),
  'an org_admin who is now a member of another organization': await former(await anOrgAdmin(), {
    org_id: other.id,
    org_role: 'member',
  }),
  'a suspended organization': world.as(suspended),
  'an organization': world.as(active),
  'a user': await world.aUser('user'),
  'a member': await world.aMember(active, 'member'),
  'an org_admin': await world.aMember(active, 'org_admin'),
  'a member of a suspended organization': await world.aMember(suspended, 'member'),
  'an org_admin of a suspended organization': await world.aMember(suspended, 'org_admin'),
  'an admin': await world.aUser('admin'),
  'a superadmin': await world.aUser('superadmin'),
  'a program of an admin': inProgram({ user_id: administratorId }),
} satisfies Record<string, Api>;

type Caller = keyof typeof callers;

const alwaysRefused = {
  'another authentication scheme': 'invalid_request',
  'a malformed key': 'invalid_token',
  'an unknown key': 'invalid_token',
  'a revoked key': 'invalid_token',
  'an expired key': 'invalid_token',
  'an MCP token': 'invalid_token',
  'an unknown service token': 'invalid_token',
  'a service token': 'invalid_token', // except at /publish
  'a revoked service token': 'invalid_token',
  'an expired service token': 'invalid_token',
  'a service token of an admin who is now a user': 'invalid_token',
  'a service token of a blocked admin': 'invalid_token',
  'a service token of a removed admin': 'invalid_token',
  'an opaque token': 'invalid_token',
  'an expired JWT': 'invalid_token',
  'a JWT for another audience': 'invalid_token',
  'a key of a deleted organization': 'invalid_token',
  'a key of a removed org_admin': 'invalid_token',
  'an ended session of a program': 'invalid_token',
  'an unknown session of a program': 'invalid_token',
  'a blocked user': 'user_blocked',
  'a blocked admin': 'user_blocked',
  'a suspended organization': 'organization_suspended',
} as const;

/** Callers without a credential that is valid now. */
const anonymous = (verdict: Expected) => ({ anonymous: verdict, 'the cookie of an ended session': verdict }) as const;

const members = (verdict: Expected) =>
  ({
    'a member': verdict,
    'an org_admin who is now a member': verdict,
    'an org_admin who is now a member of another organization': verdict,
  }) as const;

const users = (verdict: Expected) =>
  ({
    'a user': verdict,
    'an admin who is now a user': verdict,
    'a removed org_admin': verdict,
    ...members(verdict),
    'an org_admin': verdict,
    'a member of a suspended organization': verdict,
    'an org_admin of a suspended organization': verdict,
  }) as const;

const suspendedUsers = {
  'a member of a suspended organization': 'organization_suspended',
  'an org_admin of a suspended organization': 'organization_suspended',
} as const;

/** Sessions of browsers have their own tests, since a session ends with the request that ends it. */
const withoutSession: Record<Caller, Expected> = {
  ...alwaysRefused,
  ...anonymous('unauthenticated'),
  'an organization': 'insufficient_scope',
  ...users('insufficient_scope'),
  'an admin': 'insufficient_scope',
  'a superadmin': 'insufficient_scope',
  'a program of an admin': 'insufficient_scope',
};

/** A user without an organization is admitted, and the handler throws `no_organization`. */
const orgAdmins: Record<Caller, Expected> = {
  ...alwaysRefused,
  ...anonymous('unauthenticated'),
  'an organization': 'insufficient_scope',
  ...users('admitted'),
  ...members('insufficient_scope'),
  ...suspendedUsers,
  'an admin': 'admitted',
  'a superadmin': 'admitted',
  'a program of an admin': 'admitted',
};

/** Administrators, and service tokens with the scope. */
const publishers: Record<Caller, Expected> = {
  ...alwaysRefused,
  'a service token': 'admitted',
  ...anonymous('unauthenticated'),
  'an organization': 'insufficient_scope',
  ...users('insufficient_scope'),
  'an admin': 'admitted',
  'a superadmin': 'admitted',
  'a program of an admin': 'admitted',
};

const everybody: Record<Caller, Expected> = {
  ...alwaysRefused,
  ...anonymous('admitted'),
  'an organization': 'admitted',
  ...users('admitted'),
  'an admin': 'admitted',
  'a superadmin': 'admitted',
  'a program of an admin': 'admitted',
};

const expected: Record<HubAccess, Record<Caller, Expected>> = {
  anyone: everybody,
  session: { ...withoutSession, 'a program of an admin': 'admitted' },
  catalog: everybody,
  'organization-key': {
    ...alwaysRefused,
    ...anonymous('unauthenticated'),
    'an organization': 'admitted',
    ...users('insufficient_scope'),
    'an admin': 'insufficient_scope',
    'a superadmin': 'insufficient_scope',
    'a program of an admin': 'insufficient_scope',
  },
  account: {
    ...alwaysRefused,
    ...anonymous('unauthenticated'),
    'an organization': 'insufficient_scope',
    ...users('admitted'),
    'an admin': 'admitted',
    'a superadmin': 'admitted',
    'a program of an admin': 'admitted',
  },
  'account-change': {
    ...alwaysRefused,
    ...anonymous('unauthenticated'),
    'an organization': 'insufficient_scope',
    ...users('admitted'),
    ...suspendedUsers,
    'an admin': 'admitted',
    'a superadmin': 'admitted',
    'a program of an admin': 'admitted',
  },
  'account-keys': orgAdmins,
  'account-members': orgAdmins,
  admin: {
    ...alwaysRefused,
    ...anonymous('unauthenticated'),
    'an organization': 'insufficient_scope',
    ...users('insufficient_scope'),
    'an admin': 'admitted',
    'a superadmin': 'admitted',
    'a program of an admin': 'admitted',
  },
  'publish-import': publishers,
  'publish-export': publishers,
};

afterAll(() => world.stop());

testRefusals({
  endpoints: Object.values(hubEndpoints),
  expected,
  everywhere: [
    ...(['anonymous', 'an unknown key', 'an organization', 'a user', 'an admin'] as const),
    'a service token',
    // With former rights.
    ...(['a key of a deleted organization', 'a blocked user', 'an admin who is now a user'] as const),
    ...(['a removed org_admin', 'an org_admin who is now a member', 'the cookie of an ended session'] as const),
  ],
  api: (caller) => callers[caller],
});
