import { newSecretToken } from '@svc/auth';
import { type FleetAccess, fleetEndpoints, fleetRoles } from '@svc/contract/fleet';
import { type Api, type Expected, testRefusals } from '@svc/testing';
import { type CryptoKey, generateKeyPair, SignJWT } from 'jose';
import { CONSOLE_URL, cookieIn, OF_CONSOLE, SESSION } from './auth/console.ts';
import { rows } from './routes.ts';
import { PROVIDER, startWorld } from './world.ts';

// Without a client ID, so the fleet never calls the provider.
const world = await startWorld({ oidc: { issuer: PROVIDER }, publicUrl: CONSOLE_URL });
const { api, as, aToken, aUser, anOidcUser, inSessionOf, signingKey } = world;
const active = await aToken({ role: 'admin' });
const { access_token: ofFormerVariables } = await world.signIn();
const { id: sessionId } = await world.database.client.session.findFirstOrThrow();
const ended = await world.signIn();
await api(`Bearer ${ended.access_token}`).post('/api/v1/auth/logout');

const reissued = await aToken({ role: 'admin' });
const { token: successor } = (await world.asAdmin.post(`/api/v1/tokens/${reissued.id}/reissue`)).body;
const removed = await aUser('admin');
const asRemoved = await removed.api();
const makers = await asRemoved.post('/api/v1/tokens', { name: 'of somebody who was removed', role: 'admin' });
await aUser('admin'); // so that the removed user is not the last admin
await world.asAdmin.delete(`/api/v1/users/${removed.id}`);

const parent = await aToken({ role: 'admin' });
const child = await as(parent).post('/api/v1/tokens', { name: 'of a revoked token', role: 'admin' });
await world.asAdmin.delete(`/api/v1/tokens/${parent.id}`);
const demoted = await aUser('admin');
const ofDemoted = await (await demoted.api()).post('/api/v1/tokens', { name: 'of a demoted admin', role: 'admin' });
await world.asAdmin.put(`/api/v1/users/${demoted.id}`, { role: 'viewer' });
const blocked = await aUser('admin');
const asBlocked = await blocked.api();
const ofBlocked = await asBlocked.post('/api/v1/tokens', { name: 'of a blocked admin', role: 'admin' });
await world.asAdmin.put(`/api/v1/users/${blocked.id}`, { blocked: true });

const removedOfProvider = await anOidcUser({ role: 'admin' });
const asRemovedOfProvider = await removedOfProvider.api();
await world.asAdmin.delete(`/api/v1/users/${removedOfProvider.id}`);
const former = await aUser('admin');
const beforeNewPassword = await former.api();
await world.asAdmin.put(`/api/v1/users/${former.id}`, { password: 'seventeen quiet tractors' });
const signedOut = await aUser('admin');
const opened = await world.nobody.post(SESSION, { email: signedOut.email, password: signedOut.password }, OF_CONSOLE);
const ofSignedOut = { ...OF_CONSOLE, Cookie: cookieIn(opened) };
await world.nobody.delete(SESSION, undefined, ofSignedOut);

/** An access token of the session, signed as the fleet signs it. */
const anAccessToken = (given: { readonly expires: string; readonly key?: CryptoKey }) =>
  new SignJWT()
    .setProtectedHeader({ alg: 'EdDSA', kid: signingKey.kid, typ: 'at+jwt' })
    .setIssuer('fleet')
    .setAudience('fleet')
    .setSubject(sessionId)
    .setIssuedAt('20 minutes ago')
    .setExpirationTime(given.expires)
    .sign(given.key ?? signingKey.privateKey);
const { privateKey: strangersKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' });

/** Sends each request in a new session, since one of the endpoints ends it. */
const inSessions = (open: () => Promise<Api>): Api => ({
  ...world.nobody,
  send: async (wanted) => (await open()).send(wanted),
});
const [localViewer, localOperator, localAdmin] = await Promise.all(fleetRoles.map((role) => aUser(role)));
const local = (userId = '') => inSessions(() => inSessionOf({ kind: 'local', userId }));
/** Each request is sent in a session that was opened with the former role. */
const demotedTo = async (role: 'viewer' | 'operator') => {
  const { client } = world.database;
  const { id } = await aUser(role);
  return inSessions(async () => {
    await client.user.update({ where: { id }, data: { role: 'admin' } });
    const session = await inSessionOf({ kind: 'local', userId: id });
    await client.user.update({ where: { id }, data: { role } });
    return session;
  });
};
const withFormerClaims = () =>
  inSessions(async () => {
    const { id, claims, api: open } = await anOidcUser({ role: 'admin' });
    const session = await open();
    const data = { claims: { ...(claims as object), role: 'viewer' } }; // an object, as the helper stored it
    await world.database.client.user.update({ where: { id }, data });
    return session;
  });
const ofProvider = async (claims: Readonly<Record<string, string>>) => inSessions((await anOidcUser(claims)).api);

const callers = {
  nobody: world.nobody,
  'a caller with another authentication scheme': api('Basic YWJjOmRlZg=='),
  'a malformed token': api(`Bearer ${active.secret.slice(0, -1)}`),
  'an unknown token': api(`Bearer ${newSecretToken('svcm_')}`),
  'a key of the hub': api(`Bearer ${newSecretToken('svcc_')}`),
  'a service token of the hub': api(`Bearer ${newSecretToken('svcs_')}`),
  'an opaque token': api('Bearer 2YotnFZFEjr1zCsicMWpAA'),
  'a revoked token': as(await aToken({ role: 'admin', revoked_at: new Date() })),
  'an expired token': as(await aToken({ role: 'admin', expires_at: new Date(Date.now() - 1000) })),
  'the former secret of a reissued token': as(reissued),
  'a token whose creator was removed': api(`Bearer ${makers.body.token.secret}`),
  'a removed user': asRemoved,
  'a token that was created with a revoked one': api(`Bearer ${child.body.token.secret}`),
  'a token whose creator is blocked': api(`Bearer ${ofBlocked.body.token.secret}`),
  'a blocked user': asBlocked,
  'an admin token whose creator is now a viewer': api(`Bearer ${ofDemoted.body.token.secret}`),
  'a demoted admin': await demotedTo('viewer'),
  'an admin who is now an operator': await demotedTo('operator'),
  'an admin of the provider with other claims now': withFormerClaims(),
  'a removed user of the provider': asRemovedOfProvider,
  'a session from before a new password': beforeNewPassword,
  'the cookie of an ended session': {
    ...world.nobody,
    send: (wanted) => world.nobody.send({ ...wanted, headers: { ...wanted.headers, ...ofSignedOut } }),
  },
  'an ended session': api(`Bearer ${ended.access_token}`),
  'an expired access token': api(`Bearer ${await anAccessToken({ expires: '1 minute ago' })}`),
  'an access token signed with another key': api(
    `Bearer ${await anAccessToken({ expires: '1 minute', key: strangersKey })}`,
  ),
  'the temporary admin of former variables': world
    .aReplica({ temporaryAdmin: undefined })
    .api(`Bearer ${ofFormerVariables}`),
  'a viewer': world.asViewer,
  'an operator': world.asOperator,
  'an admin': as(active),
  'a reissued token of an admin': api(`Bearer ${successor.secret}`),
  'a local viewer': local(localViewer?.id),
  'a local operator': local(localOperator?.id),
  'a local admin': local(localAdmin?.id),
  'a viewer of the provider': await ofProvider({ role: 'viewer' }),
  'an operator of the provider': await ofProvider({ role: 'operator' }),
  'an admin of the provider': await ofProvider({ role: 'admin' }),
  'a user of the provider without a role': await ofProvider({ role: 'king' }),
  'the temporary admin': inSessions(world.asTemporaryAdmin),
} satisfies Record<string, Api>;

type Caller = keyof typeof callers;
type Row = Readonly<Record<Caller, Expected>>;

const refusedEverywhere = {
  'a caller with another authentication scheme': 'invalid_request',
  'a malformed token': 'invalid_token',
  'an unknown token': 'invalid_token',
  'a key of the hub': 'invalid_token',
  'a service token of the hub': 'invalid_token',
  'an opaque token': 'invalid_token',
  'a revoked token': 'invalid_token',
  'an expired token': 'invalid_token',
  'the former secret of a reissued token': 'invalid_token',
  'a token whose creator was removed': 'invalid_token',
  'a removed user': 'invalid_token',
  'a token that was created with a revoked one': 'invalid_token',
  'a token whose creator is blocked': 'invalid_token',
  'a blocked user': 'invalid_token',
  'an ended session': 'invalid_token',
  'a removed user of the provider': 'invalid_token',
  'a session from before a new password': 'invalid_token',
  'an expired access token': 'invalid_token',
  'an access token signed with another key': 'invalid_token',
  'the temporary admin of former variables': 'invalid_token',
} as const;

const refused = 'insufficient_scope';

/**
 * The responses to callers of each role. Callers without a valid credential are rejected
 * everywhere.
 */
const forRoles = (viewers: Expected, operators: Expected): Row => ({
  ...refusedEverywhere,
  nobody: 'unauthenticated',
  'the cookie of an ended session': 'unauthenticated',
  'a viewer': viewers,
  'a demoted admin': viewers,
  'an admin of the provider with other claims now': viewers,
  'an admin who is now an operator': operators,
  'an admin token whose creator is now a viewer': viewers,
  'a local viewer': viewers,
  'a viewer of the provider': viewers,
  'an operator': operators,
  'a local operator': operators,
  'an operator of the provider': operators,
  'an admin': 'admitted',
  'a reissued token of an admin': 'admitted',
  'a local admin': 'admitted',
  'an admin of the provider': 'admitted',
  'the temporary admin': 'admitted',
  'a user of the provider without a role': refused,
});

const everyRole = forRoles('admitted', 'admitted');
const notForTokens = {
  'an admin token whose creator is now a viewer': refused,
  'a viewer': refused,
  'an operator': refused,
  'an admin': refused,
} as const;

const expected: Readonly<Record<FleetAccess, Row>> = {
  anyone: {
    ...everyRole,
    nobody: 'admitted',
    'the cookie of an ended session': 'admitted',
    'a user of the provider without a role': 'admitted',
  },
  'signed-in': everyRole,
  session: {
    ...everyRole,
    ...notForTokens,
    'a reissued token of an admin': refused,
    'a user of the provider without a role': 'admitted', // each user with a session may log out
  },
  'local-session': {
    ...forRoles(refused, refused),
    'a local viewer': 'admitted',
    'a local operator': 'admitted',
    'a demoted admin': 'admitted',
    'an admin who is now an operator': 'admitted',
    'an admin': refused,
    'a reissued token of an admin': refused,
    'an admin of the provider': refused,
    'the temporary admin': refused,
  },
  'catalog-read': everyRole,
  'catalog-sync': forRoles(refused, 'admitted'),
  'people-read': everyRole,
  'people-write': forRoles(refused, refused),
  settings: forRoles(refused, refused),
  audit: forRoles(refused, refused),
  'resources-read': everyRole,
  'resources-write': forRoles(refused, 'admitted'),
  'secrets-read': everyRole,
  'secrets-write': forRoles(refused, refused),
  'plans-review': { ...forRoles(refused, 'admitted'), ...notForTokens, 'a reissued token of an admin': refused },
  'values-reveal': { ...forRoles(refused, 'admitted'), ...notForTokens, 'a reissued token of an admin': refused },
};

const endpoints = Object.values(fleetEndpoints);

test('the table of this test states the access of each route once', () => {
  const routes = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(Object.values(rows).flat().sort()).toEqual(routes.sort());
});

afterAll(() => world.stop());

testRefusals({
  endpoints: endpoints.flatMap((endpoint) => accessOf(endpoint).map((access) => ({ ...endpoint, access }))),
  expected,
  everywhere: [
    ...(['nobody', 'an unknown token', 'a viewer', 'an operator', 'an admin'] as const),
    // With former rights.
    ...(['a removed user', 'a blocked user', 'an ended session', 'the cookie of an ended session'] as const),
    ...(['a token that was created with a revoked one', 'an admin token whose creator is now a viewer'] as const),
  ],
  api: (caller) => callers[caller],
});

function accessOf({ method, path }: (typeof endpoints)[number]): string[] {
  const route = `${method.toUpperCase()} ${path}`;
  // The keys of the record.
  return Object.keys(rows).filter((access) => rows[access as FleetAccess].includes(route));
}
