import { newSecretToken } from '@svc/auth';
import { type FleetAccess, fleetEndpoints, fleetRoles } from '@svc/contract/fleet';
import { type Api, type Expected, testRefusals } from '@svc/testing';
import { type CryptoKey, generateKeyPair, SignJWT } from 'jose';
import { rows } from './routes.ts';
import { PROVIDER, startWorld } from './world.ts';

const world = await startWorld({ oidc: { issuer: PROVIDER } }); // without a client, so the fleet never calls it
const { api, as, aToken, aUser, anOidcUser, inSessionOf, signingKey } = world;
const active = await aToken({ role: 'admin' });
const { access_token: former } = await world.signIn();
const { id: sessionId } = await world.database.client.session.findFirstOrThrow();
const ended = await world.signIn();
await api(`Bearer ${ended.access_token}`).post('/api/v1/auth/logout');

const reissued = await aToken({ role: 'admin' });
const { token: successor } = (await world.asAdmin.post(`/api/v1/tokens/${reissued.id}/reissue`)).body;
const removed = await aUser('admin');
const asRemoved = await removed.api();
const makers = await asRemoved.post('/api/v1/tokens', { name: 'of somebody who was removed', role: 'admin' });
await aUser('admin'); // not the last one
await world.asAdmin.delete(`/api/v1/users/${removed.id}`);

/** An access token of a session that lasts, as the fleet signs it. */
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

/** Calls in a new session for each request, since one of the endpoints ends it. */
const inSessions = (open: () => Promise<Api>): Api => ({
  ...world.nobody,
  send: async (wanted) => (await open()).send(wanted),
});
const [localViewer, localOperator, localAdmin] = await Promise.all(fleetRoles.map((role) => aUser(role)));
const local = (userId = '') => inSessions(() => inSessionOf({ kind: 'local', userId }));
const ofProvider = async (claims: Readonly<Record<string, string>>) => inSessions((await anOidcUser(claims)).api);

const callers = {
  nobody: world.nobody,
  'somebody who sends no bearer token': api('Basic YWJjOmRlZg=='),
  'a malformed token': api(`Bearer ${active.secret.slice(0, -1)}`),
  'an unknown token': api(`Bearer ${newSecretToken('svcm_')}`),
  'a key of the hub': api(`Bearer ${newSecretToken('svcc_')}`),
  'an opaque token': api('Bearer 2YotnFZFEjr1zCsicMWpAA'),
  'a revoked token': as(await aToken({ role: 'admin', revoked_at: new Date() })),
  'an expired token': as(await aToken({ role: 'admin', expires_at: new Date(Date.now() - 1000) })),
  'the former secret of a token that was issued again': as(reissued),
  'a token that somebody made who was removed': api(`Bearer ${makers.body.token.secret}`),
  'somebody who was removed': asRemoved,
  'an ended session': api(`Bearer ${ended.access_token}`),
  'an expired access token': api(`Bearer ${await anAccessToken({ expires: '1 minute ago' })}`),
  'an access token that somebody else signed': api(
    `Bearer ${await anAccessToken({ expires: '1 minute', key: strangersKey })}`,
  ),
  'the temporary admin of former variables': world.aReplica({ temporaryAdmin: undefined }).api(`Bearer ${former}`),
  'a viewer': world.asViewer,
  'an operator': world.asOperator,
  'an admin': as(active),
  'an admin’s token that was issued again': api(`Bearer ${successor.secret}`),
  'a local viewer': local(localViewer?.id),
  'a local operator': local(localOperator?.id),
  'a local admin': local(localAdmin?.id),
  'a viewer of the provider': await ofProvider({ role: 'viewer' }),
  'an operator of the provider': await ofProvider({ role: 'operator' }),
  'an admin of the provider': await ofProvider({ role: 'admin' }),
  'somebody to whom the provider gives no role': await ofProvider({ role: 'king' }),
  'the temporary admin': inSessions(world.asTemporaryAdmin),
} satisfies Record<string, Api>;

type Caller = keyof typeof callers;
type Row = Readonly<Record<Caller, Expected>>;

const refusedEverywhere = {
  'somebody who sends no bearer token': 'invalid_request',
  'a malformed token': 'invalid_token',
  'an unknown token': 'invalid_token',
  'a key of the hub': 'invalid_token',
  'an opaque token': 'invalid_token',
  'a revoked token': 'invalid_token',
  'an expired token': 'invalid_token',
  'the former secret of a token that was issued again': 'invalid_token',
  'a token that somebody made who was removed': 'invalid_token',
  'somebody who was removed': 'invalid_token',
  'an ended session': 'invalid_token',
  'an expired access token': 'invalid_token',
  'an access token that somebody else signed': 'invalid_token',
  'the temporary admin of former variables': 'invalid_token',
} as const;

const refused = 'insufficient_scope';

/** How callers of each role are answered. Callers without a valid credential are refused everywhere. */
const forRoles = (viewers: Expected, operators: Expected): Row => ({
  ...refusedEverywhere,
  nobody: 'unauthenticated',
  'a viewer': viewers,
  'a local viewer': viewers,
  'a viewer of the provider': viewers,
  'an operator': operators,
  'a local operator': operators,
  'an operator of the provider': operators,
  'an admin': 'admitted',
  'an admin’s token that was issued again': 'admitted',
  'a local admin': 'admitted',
  'an admin of the provider': 'admitted',
  'the temporary admin': 'admitted',
  'somebody to whom the provider gives no role': refused,
});

const everyRole = forRoles('admitted', 'admitted');
const notForTokens = { 'a viewer': refused, 'an operator': refused, 'an admin': refused } as const;

const expected: Readonly<Record<FleetAccess, Row>> = {
  anyone: { ...everyRole, nobody: 'admitted', 'somebody to whom the provider gives no role': 'admitted' },
  'signed-in': everyRole,
  session: {
    ...everyRole,
    ...notForTokens,
    'an admin’s token that was issued again': refused,
    'somebody to whom the provider gives no role': 'admitted', // everybody with a session may log out
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
};

const endpoints = Object.values(fleetEndpoints);

test('the access of every route is written down once', () => {
  const routes = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(Object.values(rows).flat().sort()).toEqual(routes.sort());
});

afterAll(() => world.stop());

testRefusals({
  endpoints: endpoints.flatMap((endpoint) => accessOf(endpoint).map((access) => ({ ...endpoint, access }))),
  expected,
  everywhere: ['nobody', 'an unknown token', 'a viewer', 'an operator', 'an admin'],
  api: (caller) => callers[caller],
});

function accessOf({ method, path }: (typeof endpoints)[number]): string[] {
  const route = `${method.toUpperCase()} ${path}`;
  return Object.keys(rows).filter((access) => rows[access as FleetAccess].includes(route)); // the keys of the record
}
