import { ProviderUnavailable } from '@svc/auth/oidc';
import type { Members } from '../bendable-issuer.ts';
import { aSigner, unsigned } from '../signer.ts';
import { startOidcWorld } from '../world.ts';

const { issuer, aFleet } = await startOidcWorld();
const AUDIENCE = 'https://fleet.example.test';
const fleet = aFleet({ audience: AUDIENCE });
const ISSUED = Math.floor(Date.now() / 1000);
const good = (): Members => ({
  iss: issuer.url,
  aud: AUDIENCE,
  sub: 'ada',
  iat: ISSUED,
  client_id: 'any',
  role: 'admin',
});
const accessToken = (claims: Members = {}, header: Members = {}) =>
  issuer.signer().sign({ ...good(), ...claims }, { typ: 'at+jwt', ...header });
const ada = { claims: { iss: issuer.url, sub: 'ada', role: 'admin' }, issuedAt: ISSUED };

test('a JWT of the issuer for the configured audience returns its claims', async () => {
  expect(await fleet.provider.verifyBearer(await accessToken())).toEqual(ada);
});

test('a JWT for the MCP endpoint only is recognized, with and without an audience of the API', async () => {
  const resource = `${AUDIENCE}/mcp`;
  const [both, mcpOnly] = [aFleet({ audience: AUDIENCE, resource }), aFleet({ resource })];
  const verified = async (at: typeof both, aud: string | string[]) =>
    (await at.provider.verifyBearer(await accessToken({ aud })))?.isForMcp;
  expect(await both.provider.verifyBearer(await accessToken())).toEqual(ada);
  expect(await verified(both, [resource, AUDIENCE])).toBeUndefined();
  expect(await verified(both, resource)).toBe(true);
  expect(await verified(mcpOnly, [resource, 'another'])).toBe(true);
  expect(await mcpOnly.provider.verifyBearer(await accessToken())).toBeUndefined();
});

test('a JWT is not sent to the provider', async () => {
  const before = issuer.countOf('/introspect') + issuer.countOf('/userinfo');
  await aFleet({ allowUserinfo: true }).provider.verifyBearer(await accessToken());
  await fleet.provider.verifyBearer(await accessToken({ aud: 'another' }));
  expect(issuer.countOf('/introspect') + issuer.countOf('/userinfo')).toBe(before);
});

test('without a configured audience each JWT is rejected', async () => {
  expect(await aFleet().provider.verifyBearer(await accessToken())).toBeUndefined();
});

test.each<[string, Members, Members?]>([
  ['for another audience', { aud: 'another' }],
  ['for the client', { aud: 'fleet' }],
  ['of another issuer', { iss: 'https://other.example.test' }],
  ['of the issuer with a trailing slash', { iss: `${issuer.url}/` }],
  ['that has expired', { exp: ISSUED - 60 }],
  ['without an expiry', { exp: undefined }],
  ['without a subject', { sub: undefined }],
  ['that is an ID token, because it has a nonce', { nonce: 'n' }, { typ: undefined }],
  ['that is an ID token, because of its typ claim', { typ: 'ID' }],
  ['with claims that are too large', { about: 'x'.repeat(17_000) }],
])('a JWT %s is rejected', async (_, claims, header = {}) => {
  expect(await fleet.provider.verifyBearer(await accessToken(claims, header))).toBeUndefined();
});

test('a JWT that is valid for years is rejected with the limit', async () => {
  const token = await accessToken({ exp: ISSUED + 10 ** 9 });
  await expect(fleet.provider.verifyBearer(token)).rejects.toThrow('more than 24 hours');
});

test('a JWT without a signature, or with one of an unknown key, is rejected', async () => {
  const stranger = await aSigner(issuer.signer().kid);
  expect(await fleet.provider.verifyBearer(`${unsigned(good())}x`)).toBeUndefined();
  expect(await fleet.provider.verifyBearer(await stranger.sign(good()))).toBeUndefined();
});

test('if the client is the audience, a JWT must show that it is not an ID token', async () => {
  const { provider } = aFleet({ audience: 'fleet' });
  const byClaims = (claims: Members, typ?: string) =>
    accessToken({ aud: 'fleet', client_id: undefined, ...claims }, { typ });
  expect(await provider.verifyBearer(await byClaims({}))).toBeUndefined();
  expect(await provider.verifyBearer(await byClaims({}, 'JWT'))).toBeUndefined();
  for (const token of [
    byClaims({}, 'at+jwt'),
    byClaims({}, 'application/at+jwt'),
    byClaims({ typ: 'Bearer' }),
    byClaims({ scope: 'openid' }),
    byClaims({ scp: 'read' }),
    byClaims({ client_id: 'fleet' }),
  ]) {
    expect(await provider.verifyBearer(await token)).toMatchObject({ issuedAt: ISSUED });
  }
});

test('without the keys of the issuer a JWT cannot be verified, and the provider is unavailable', async () => {
  const fresh = aFleet({ audience: AUDIENCE });
  issuer.bend('/keys', () => ({ status: 500 }));
  await expect(fresh.provider.verifyBearer(await accessToken())).rejects.toThrow(ProviderUnavailable);
  expect(fresh.provider.status().problem).toMatch(/\S/);
});

test('a JWT that is signed with a new key of the issuer is accepted at once', async () => {
  const fresh = aFleet({ audience: AUDIENCE });
  await fresh.provider.verifyBearer(await accessToken());
  await issuer.rotate();
  expect(await fresh.provider.verifyBearer(await accessToken())).toEqual(ada);
});
