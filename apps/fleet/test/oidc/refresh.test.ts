import { GrantRefused, ProviderUnavailable } from '@svc/auth/oidc';
import { aSigner } from './signer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const fleet = aFleet();
const known = { iss: issuer.url, sub: 'ada', name: 'Ada', role: 'admin' };
const refresh = (at = fleet) => at.provider.refresh('refresh-1', known);

/** The provider answers a refresh with these members and a new refresh token. */
const answer = (makeMembers: () => Promise<object> | object) =>
  issuer.bend('/token', async () => issuer.tokens({ refresh_token: 'refresh-2', ...(await makeMembers()) }));
const tellById = (claims: object) =>
  answer(async () => ({ id_token: await issuer.idToken({ nonce: undefined, ...claims }) }));

test('a refresh replaces the claims by those of the new ID token, and the refresh token by the new one', async () => {
  tellById({ name: 'Ada L.', role: 'viewer' });
  expect(await refresh()).toEqual({
    claims: { iss: issuer.url, sub: 'ada', name: 'Ada L.', role: 'viewer' },
    refreshToken: 'refresh-2',
  });
  expect(issuer.lastAt('/token')?.form.get('refresh_token')).toBe('refresh-1');
});

test('a refresh removes a claim that the provider no longer sends', async () => {
  tellById({});
  expect((await refresh()).claims).toEqual({ iss: issuer.url, sub: 'ada', name: 'Ada' });
});

test('a refresh keeps a refresh token that is not rotated', async () => {
  answer(() => ({ refresh_token: undefined }));
  expect((await refresh()).refreshToken).toBe('refresh-1');
});

test('a refresh without an ID token takes the claims of userinfo, and keeps the new refresh token', async () => {
  answer(() => ({ id_token: undefined }));
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', role: 'operator' } }));
  expect(await refresh()).toEqual({
    claims: { iss: issuer.url, sub: 'ada', role: 'operator' },
    refreshToken: 'refresh-2',
  });
});

test.each<[string, object]>([
  ['is down', { status: 500 }],
  ['answers 403', { status: 403 }],
  ['has the subject of another user', { body: { sub: 'eve', role: 'admin', name: 'Eve' } }],
])('a refresh without an ID token and with a userinfo that %s keeps the known claims', async (_, reply) => {
  answer(() => ({ id_token: undefined }));
  issuer.bend('/userinfo', () => reply);
  expect(await refresh()).toEqual({ claims: known, refreshToken: 'refresh-2' });
});

test('a refresh without an ID token and a userinfo endpoint keeps the known claims', async () => {
  answer(() => ({ id_token: undefined }));
  issuer.bendMetadata({ userinfo_endpoint: undefined });
  expect(await refresh(aFleet())).toEqual({ claims: known, refreshToken: 'refresh-2' });
});

test('while userinfo is down, a refresh updates the claims of the ID token and keeps the others', async () => {
  tellById({ name: 'Ada L.' });
  issuer.bend('/userinfo', () => ({ status: 500 }));
  expect((await refresh()).claims).toEqual({ ...known, name: 'Ada L.' });
});

test('if userinfo answers 403, a refresh takes only the claims of the ID token', async () => {
  tellById({});
  issuer.bend('/userinfo', () => ({ status: 403 }));
  expect((await refresh()).claims).toEqual({ iss: issuer.url, sub: 'ada', name: 'Ada' });
});

test('a refresh keeps the new refresh token if the keys of the issuer cannot be fetched', async () => {
  const fresh = aFleet();
  tellById({ role: 'viewer' });
  issuer.bend('/keys', () => ({ status: 500 }));
  expect(await refresh(fresh)).toEqual({ claims: known, refreshToken: 'refresh-2' });
});

test('an ID token with an unknown key in a refresh neither changes claims nor ends the session', async () => {
  const stranger = await aSigner('unknown');
  answer(async () => ({ id_token: await stranger.sign({ iss: issuer.url, aud: 'fleet', sub: 'ada', role: 'other' }) }));
  expect(await refresh()).toEqual({ claims: known, refreshToken: 'refresh-2' });
});

test.each<[string, () => Promise<string>]>([
  ['of another user', () => issuer.idToken({ sub: 'eve' })],
  ['for another client', () => issuer.idToken({ aud: 'another' })],
  ['of another issuer', () => issuer.idToken({ iss: 'https://other.example.test' })],
  ['expired', () => issuer.idToken({ exp: 1 })],
  [
    'signed with an unknown key',
    async () => (await aSigner(issuer.signer().kid)).sign({ iss: issuer.url, aud: 'fleet', sub: 'ada' }),
  ],
])('a refreshed ID token that is %s is rejected', async (_, makeIdToken) => {
  answer(async () => ({ id_token: await makeIdToken() }));
  await expect(refresh()).rejects.toThrow(GrantRefused);
});

test('a refresh token that the provider no longer knows is rejected for good', async () => {
  issuer.bend('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
  await expect(refresh()).rejects.toThrow(GrantRefused);
});

test.each<[string, object]>([
  ['is down', { status: 503 }],
  ['no longer knows the client', { status: 401, body: { error: 'invalid_client' } }],
  ['answers invalid_request', { status: 400, body: { error: 'invalid_request' } }],
])('a refresh is not rejected for good while the token endpoint %s', async (_, reply) => {
  issuer.bend('/token', () => reply);
  await expect(refresh()).rejects.toThrow(ProviderUnavailable);
});

test('a refresh token is not sent to another issuer than its own', async () => {
  const before = issuer.requests.length;
  const refreshed = fleet.provider.refresh('refresh-1', { ...known, iss: 'https://other.example.test' });
  await expect(refreshed).rejects.toThrow(GrantRefused);
  expect(issuer.requests.length).toBe(before);
});
