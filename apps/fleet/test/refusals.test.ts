import { newSecretToken } from '@svc/auth';
import { type FleetAccess, fleetEndpoints } from '@svc/contract/fleet';
import { type Api, type Expected, testRefusals } from '@svc/testing';
import { type CryptoKey, generateKeyPair, SignJWT } from 'jose';
import { startWorld } from './world.ts';

const world = await startWorld();
const { api, as, aToken, signingKey } = world;
const active = await aToken({ role: 'admin' });
await world.signIn();
const { id: sessionId } = await world.database.client.session.findFirstOrThrow();
const ended = await world.signIn();
await api(`Bearer ${ended.access_token}`).post('/api/v1/auth/logout');

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

const callers = {
  nobody: world.nobody,
  'somebody who sends no bearer token': api('Basic YWJjOmRlZg=='),
  'a malformed token': api(`Bearer ${active.secret.slice(0, -1)}`),
  'an unknown token': api(`Bearer ${newSecretToken('svcm_')}`),
  'a key of the hub': api(`Bearer ${newSecretToken('svcc_')}`),
  'an opaque token': api('Bearer 2YotnFZFEjr1zCsicMWpAA'),
  'a revoked token': as(await aToken({ role: 'admin', revoked_at: new Date() })),
  'an expired token': as(await aToken({ role: 'admin', expires_at: new Date(Date.now() - 1000) })),
  'an ended session': api(`Bearer ${ended.access_token}`),
  'an expired access token': api(`Bearer ${await anAccessToken({ expires: '1 minute ago' })}`),
  'an access token that somebody else signed': api(
    `Bearer ${await anAccessToken({ expires: '1 minute', key: strangersKey })}`,
  ),
  'a viewer': world.asViewer,
  'an operator': world.asOperator,
  'an admin': as(active),
  // A session of its own for each request: one of the endpoints ends it.
  'the temporary admin': { ...world.nobody, send: async (wanted) => (await world.asTemporaryAdmin()).send(wanted) },
} satisfies Record<string, Api>;

type Caller = keyof typeof callers;

const refusedEverywhere = {
  'somebody who sends no bearer token': 'invalid_request',
  'a malformed token': 'invalid_token',
  'an unknown token': 'invalid_token',
  'a key of the hub': 'invalid_token',
  'an opaque token': 'invalid_token',
  'a revoked token': 'invalid_token',
  'an expired token': 'invalid_token',
  'an ended session': 'invalid_token',
  'an expired access token': 'invalid_token',
  'an access token that somebody else signed': 'invalid_token',
} as const;

const everyRole = {
  ...refusedEverywhere,
  nobody: 'unauthenticated',
  'a viewer': 'admitted',
  'an operator': 'admitted',
  'an admin': 'admitted',
  'the temporary admin': 'admitted',
} as const;

const expected: Record<FleetAccess, Record<Caller, Expected>> = {
  anyone: { ...everyRole, nobody: 'admitted' },
  'signed-in': everyRole,
  session: {
    ...everyRole,
    'a viewer': 'insufficient_scope',
    'an operator': 'insufficient_scope',
    'an admin': 'insufficient_scope',
  },
  'catalog-read': everyRole,
  'catalog-sync': { ...everyRole, 'a viewer': 'insufficient_scope' },
};

afterAll(() => world.stop());

testRefusals({ endpoints: Object.values(fleetEndpoints), expected, api: (caller) => callers[caller] });
