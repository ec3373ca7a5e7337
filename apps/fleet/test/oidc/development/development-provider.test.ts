import { createProvider, GrantRefused } from '@svc/auth/oidc';
import { signIn } from '@svc/identity-provider/sign-in';
import { secrets } from '../secrets.ts';
import { AUDIENCE, REDIRECT, startDevelopmentProvider } from './development-provider.ts';

const world = await startDevelopmentProvider();
afterAll(() => world.stop());
const { provider, recorder } = world;

const ADA = {
  iss: world.issuer,
  sub: 'dev-admin',
  email: 'admin@example.test',
  email_verified: true,
  name: 'Ada Admin',
  role: 'admin',
};
const someTime = expect.any(Number);

/** A fleet with other settings at the same provider. */
const aFleetWith = (changed: object) => createProvider({ ...world.settings, ...changed }, { send: recorder.send });

test('at the development provider, a user signs in by code and PKCE with the claims that describe the user', async () => {
  const { claims, refreshToken } = await provider.redeemCallback(await world.browse('admin@example.test'));
  expect(claims).toEqual(ADA);
  expect(refreshToken).toEqual(expect.any(String));
});

test('the development provider names its issuer in the callback, and another issuer there is rejected', async () => {
  const callback = await world.browse('admin@example.test');
  expect(callback.currentUrl.searchParams.get('iss')).toBe(world.issuer);
  callback.currentUrl.searchParams.set('iss', 'https://other.example.test');
  await expect(provider.redeemCallback(callback)).rejects.toThrow(GrantRefused);
});

test('a code of the development provider can be redeemed once', async () => {
  const callback = await world.browse('admin@example.test');
  await provider.redeemCallback(callback);
  await expect(provider.redeemCallback(callback)).rejects.toThrow(GrantRefused);
});

test('a code of the development provider is valid only with the verifier of its own sign-in', async () => {
  const callback = await world.browse('admin@example.test');
  const stolen = { ...callback, codeVerifier: secrets().codeVerifier };
  await expect(provider.redeemCallback(stolen)).rejects.toThrow(GrantRefused);
});

test('a code of another sign-in with the state of this one fails by its nonce or verifier', async () => {
  const ours = await world.browse('user@example.test');
  const others = await world.browse('admin@example.test');
  ours.currentUrl.searchParams.set('code', others.currentUrl.searchParams.get('code') ?? '');
  await expect(provider.redeemCallback(ours)).rejects.toThrow(GrantRefused);
  const injected = { ...ours, codeVerifier: others.codeVerifier };
  await expect(provider.redeemCallback(injected)).rejects.toThrow(GrantRefused);
});

test('the code of a frontend is redeemed with its nonce', async () => {
  const { currentUrl, codeVerifier, nonce } = await world.browse('admin@example.test');
  const code = currentUrl.searchParams.get('code') ?? '';
  const { claims } = await provider.redeemCode({ code, codeVerifier, nonce, redirectUri: REDIRECT });
  expect(claims).toEqual(ADA);
});

test('a refresh returns the user and the next refresh token, and the use of the former one ends the session', async () => {
  const { claims, refreshToken = '' } = await world.signIn('admin@example.test');
  const refreshed = await provider.refresh(refreshToken, claims);
  expect(refreshed.claims).toEqual(ADA);
  expect(refreshed.refreshToken).not.toBe(refreshToken);
  await expect(provider.refresh(refreshToken, claims)).rejects.toThrow(GrantRefused);
  await expect(provider.refresh(refreshed.refreshToken ?? '', claims)).rejects.toThrow(GrantRefused);
});

test('an opaque access token of the development provider is verified by one introspection request', async () => {
  await world.signIn('admin@example.test');
  const token = String(recorder.lastOf('/token').access_token);
  const before = recorder.countOf('/token/introspection');
  expect(await provider.verifyBearer(token)).toEqual({ claims: ADA, issuedAt: someTime });
  expect(await provider.verifyBearer(token)).toEqual({ claims: ADA, issuedAt: someTime });
  expect(recorder.countOf('/token/introspection')).toBe(before + 1);
});

test('a refresh token is rejected as access token, even though it is active', async () => {
  const { refreshToken = '' } = await world.signIn('admin@example.test');
  expect(await provider.verifyBearer(refreshToken)).toBeUndefined();
  expect(recorder.lastOf('/token/introspection')).toMatchObject({ active: true });
});

test('an ID token is rejected as access token, whatever audience is configured', async () => {
  await world.signIn('admin@example.test');
  const idToken = String(recorder.lastOf('/token').id_token);
  expect(await provider.verifyBearer(idToken)).toBeUndefined();
  expect(await aFleetWith({ audience: 'fleet' }).verifyBearer(idToken)).toBeUndefined();
});

test('a JWT access token for the fleet is accepted, one for another audience is rejected', async () => {
  const account = { issuer: world.issuer, email: 'admin@example.test', password: 'development' };
  const { accessToken } = await signIn({ ...account, resource: AUDIENCE, redirectUri: REDIRECT });
  expect(await provider.verifyBearer(accessToken)).toEqual({ claims: ADA, issuedAt: someTime });
  expect(await aFleetWith({ audience: 'https://other.example.test' }).verifyBearer(accessToken)).toBeUndefined();
  expect(await aFleetWith({ audience: undefined }).verifyBearer(accessToken)).toBeUndefined();
});

test('an opaque access token of another client is rejected', async () => {
  const account = { issuer: world.issuer, email: 'admin@example.test', password: 'development' };
  const { accessToken } = await signIn({ ...account, redirectUri: REDIRECT });
  expect(await provider.verifyBearer(accessToken)).toBeUndefined();
  expect(recorder.lastOf('/token/introspection')).toMatchObject({ active: true, client_id: 'dashboard' });
});

test('an invalid token is rejected at the development provider', async () => {
  expect(await provider.verifyBearer('nonsense')).toBeUndefined();
  expect(await provider.verifyBearer('e30.e30.e30')).toBeUndefined();
});

test('the test of the settings passes at the development provider', async () => {
  const checks = await provider.test();
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(checks.find(({ name }) => name === 'client')?.detail).toMatch(/and its secret/);
});

test.each([
  ['a wrong secret', { clientSecret: 'wrong' }],
  ['an unknown client', { clientId: 'unknown' }],
  ['a missing secret', { clientSecret: undefined }],
])('the test of the settings reports %s', async (_, changed) => {
  const wrong = (await aFleetWith(changed).test()).filter(({ ok }) => !ok);
  expect(wrong).toContainEqual({ name: 'client', ok: false, detail: expect.stringMatching(/id or the client secret/) });
});
