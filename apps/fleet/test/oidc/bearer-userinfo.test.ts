import { ProviderUnavailable } from '../../src/oidc/provider.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const ada = { claims: { iss: issuer.url, sub: 'ada', role: 'admin' }, issuedAt: undefined };

/** A fleet at a provider that has userinfo only, which knows every token. */
function aFleetByUserinfo(allowUserinfo: boolean) {
  issuer.bendMetadata({ introspection_endpoint: undefined });
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', role: 'admin' } }));
  return aFleet({ allowUserinfo });
}

test('userinfo proves an opaque token where that is allowed', async () => {
  expect(await aFleetByUserinfo(true).provider.verifyBearer('opaque')).toEqual(ada);
  expect(issuer.lastAt('/userinfo')?.authorization).toBe('Bearer opaque');
});

test('where it is not allowed userinfo is not asked', async () => {
  const before = issuer.countOf('/userinfo');
  expect(await aFleetByUserinfo(false).provider.verifyBearer('opaque')).toBeUndefined();
  expect(issuer.countOf('/userinfo')).toBe(before);
});

test('a client without a secret can’t introspect: userinfo proves the token, or nothing does', async () => {
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', role: 'admin' } }));
  const withoutSecret = { clientSecret: undefined };
  const before = issuer.countOf('/introspect');
  expect(await aFleet({ ...withoutSecret, allowUserinfo: true }).provider.verifyBearer('opaque')).toEqual(ada);
  expect(await aFleet(withoutSecret).provider.verifyBearer('opaque')).toBeUndefined();
  expect(issuer.countOf('/introspect')).toBe(before);
});

test('a provider with neither proves no opaque token', async () => {
  issuer.bendMetadata({ introspection_endpoint: undefined, userinfo_endpoint: undefined });
  expect(await aFleet({ allowUserinfo: true }).provider.verifyBearer('opaque')).toBeUndefined();
});

test.each<[string, object]>([
  ['refuses it', { status: 401, headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } }],
  ['forbids it', { status: 403 }],
  ['names nobody', { body: { role: 'admin' } }],
  ['names somebody by an empty name', { body: { sub: '' } }],
])('a token is good for nothing when userinfo %s', async (_, reply) => {
  const fleet = aFleetByUserinfo(true);
  issuer.bend('/userinfo', () => reply);
  expect(await fleet.provider.verifyBearer('opaque')).toBeUndefined();
});

test.each<[string, object]>([
  ['is down', { status: 500 }],
  ['redirects', { status: 302, headers: { Location: '/elsewhere' } }],
  ['answers with a page', { body: '<html>' }],
])('nothing is known while userinfo %s', async (_, reply) => {
  const fleet = aFleetByUserinfo(true);
  issuer.bend('/userinfo', () => reply);
  await expect(fleet.provider.verifyBearer('opaque')).rejects.toThrow(ProviderUnavailable);
  expect(issuer.countOf('/elsewhere')).toBe(0);
});

test('what userinfo says is given again for thirty seconds', async () => {
  const fleet = aFleetByUserinfo(true);
  await fleet.provider.verifyBearer('opaque');
  issuer.bend('/userinfo', () => ({ status: 401 }));
  fleet.wait(29_999);
  expect(await fleet.provider.verifyBearer('opaque')).toEqual(ada);
  fleet.wait(1);
  expect(await fleet.provider.verifyBearer('opaque')).toBeUndefined();
});
