import { GrantRefused, ProviderUnavailable } from '../../src/oidc/provider.ts';
import { aSigner } from './signer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const fleet = aFleet();
const known = { iss: issuer.url, sub: 'ada', name: 'Ada', role: 'admin' };
const refresh = (at = fleet) => at.provider.refresh('refresh-1', known);

/** The provider answers a refresh with these members beside a new refresh token. */
const answer = (makeMembers: () => Promise<object> | object) =>
  issuer.bend('/token', async () => issuer.tokens({ refresh_token: 'refresh-2', ...(await makeMembers()) }));
const tellById = (claims: object) =>
  answer(async () => ({ id_token: await issuer.idToken({ nonce: undefined, ...claims }) }));

test('a new ID token’s claims take the place of the known ones, and the new refresh token that of the old', async () => {
  tellById({ name: 'Ada L.', role: 'viewer' });
  expect(await refresh()).toEqual({
    claims: { iss: issuer.url, sub: 'ada', name: 'Ada L.', role: 'viewer' },
    refreshToken: 'refresh-2',
  });
  expect(issuer.lastAt('/token')?.form.get('refresh_token')).toBe('refresh-1');
});

test('a claim that is no longer told is no longer known', async () => {
  tellById({});
  expect((await refresh()).claims).toEqual({ iss: issuer.url, sub: 'ada', name: 'Ada' });
});

test('a refresh token that is not rotated stays', async () => {
  answer(() => ({ refresh_token: undefined }));
  expect((await refresh()).refreshToken).toBe('refresh-1');
});

test('without an ID token userinfo tells, and the new refresh token is kept', async () => {
  answer(() => ({ id_token: undefined }));
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', role: 'operator' } }));
  expect(await refresh()).toEqual({
    claims: { iss: issuer.url, sub: 'ada', role: 'operator' },
    refreshToken: 'refresh-2',
  });
});

test.each<[string, object]>([
  ['is down', { status: 500 }],
  ['refuses', { status: 403 }],
  ['speaks of somebody else', { body: { sub: 'eve', role: 'admin', name: 'Eve' } }],
])('without an ID token and with a userinfo that %s the known claims stay', async (_, reply) => {
  answer(() => ({ id_token: undefined }));
  issuer.bend('/userinfo', () => reply);
  expect(await refresh()).toEqual({ claims: known, refreshToken: 'refresh-2' });
});

test('without an ID token and a userinfo endpoint the known claims stay', async () => {
  answer(() => ({ id_token: undefined }));
  issuer.bendMetadata({ userinfo_endpoint: undefined });
  expect(await refresh(aFleet())).toEqual({ claims: known, refreshToken: 'refresh-2' });
});

test('while userinfo is down, what the ID token does not tell stays, and what it tells is new', async () => {
  tellById({ name: 'Ada L.' });
  issuer.bend('/userinfo', () => ({ status: 500 }));
  expect((await refresh()).claims).toEqual({ ...known, name: 'Ada L.' });
});

test('a userinfo that refuses leaves the ID token’s word alone', async () => {
  tellById({});
  issuer.bend('/userinfo', () => ({ status: 403 }));
  expect((await refresh()).claims).toEqual({ iss: issuer.url, sub: 'ada', name: 'Ada' });
});

test('a new refresh token is not lost when the issuer’s keys can’t be had', async () => {
  const fresh = aFleet();
  tellById({ role: 'viewer' });
  issuer.bend('/keys', () => ({ status: 500 }));
  expect(await refresh(fresh)).toEqual({ claims: known, refreshToken: 'refresh-2' });
});

test('an ID token by a key that is not published yet changes nothing and ends nothing', async () => {
  const stranger = await aSigner('unknown');
  answer(async () => ({ id_token: await stranger.sign({ iss: issuer.url, aud: 'fleet', sub: 'ada', role: 'other' }) }));
  expect(await refresh()).toEqual({ claims: known, refreshToken: 'refresh-2' });
});

test.each<[string, () => Promise<string>]>([
  ['somebody else’s', () => issuer.idToken({ sub: 'eve' })],
  ['another client’s', () => issuer.idToken({ aud: 'another' })],
  ['another issuer’s', () => issuer.idToken({ iss: 'https://other.example.test' })],
  ['over', () => issuer.idToken({ exp: 1 })],
  [
    'a stranger’s',
    async () => (await aSigner(issuer.signer().kid)).sign({ iss: issuer.url, aud: 'fleet', sub: 'ada' }),
  ],
])('a refreshed ID token that is %s is refused', async (_, makeIdToken) => {
  answer(async () => ({ id_token: await makeIdToken() }));
  await expect(refresh()).rejects.toThrow(GrantRefused);
});

test('a refresh token that the provider no longer knows is refused for good', async () => {
  issuer.bend('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
  await expect(refresh()).rejects.toThrow(GrantRefused);
});

test.each<[string, object]>([
  ['is down', { status: 503 }],
  ['no longer knows us', { status: 401, body: { error: 'invalid_client' } }],
  ['finds fault with the request', { status: 400, body: { error: 'invalid_request' } }],
])('while the token endpoint %s nobody is refused for good', async (_, reply) => {
  issuer.bend('/token', () => reply);
  await expect(refresh()).rejects.toThrow(ProviderUnavailable);
});

test('a refresh token is not sent to another issuer than its own', async () => {
  const before = issuer.asked.length;
  const refreshed = fleet.provider.refresh('refresh-1', { ...known, iss: 'https://other.example.test' });
  await expect(refreshed).rejects.toThrow(GrantRefused);
  expect(issuer.asked.length).toBe(before);
});
