import { ProviderUnavailable } from '@svc/auth/oidc';
import { startOidcWorld } from '../world.ts';

const { issuer, aFleet } = await startOidcWorld();
const ada = { claims: { iss: issuer.url, sub: 'ada', role: 'admin' }, issuedAt: undefined };

/** A fleet at a provider that has only userinfo, which accepts each token. */
function aFleetByUserinfo(allowUserinfo: boolean) {
  issuer.bendMetadata({ introspection_endpoint: undefined });
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', role: 'admin' } }));
  return aFleet({ allowUserinfo });
}

test('userinfo verifies an opaque token if the settings allow it', async () => {
  expect(await aFleetByUserinfo(true).provider.verifyBearer('opaque')).toEqual(ada);
  expect(issuer.lastAt('/userinfo')?.authorization).toBe('Bearer opaque');
});

test('userinfo is not requested if the settings do not allow it', async () => {
  const before = issuer.countOf('/userinfo');
  expect(await aFleetByUserinfo(false).provider.verifyBearer('opaque')).toBeUndefined();
  expect(issuer.countOf('/userinfo')).toBe(before);
});

test('a client without a secret verifies opaque tokens by userinfo only, without introspection', async () => {
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', role: 'admin' } }));
  const withoutSecret = { clientSecret: undefined };
  const before = issuer.countOf('/introspect');
  expect(await aFleet({ ...withoutSecret, allowUserinfo: true }).provider.verifyBearer('opaque')).toEqual(ada);
  expect(await aFleet(withoutSecret).provider.verifyBearer('opaque')).toBeUndefined();
  expect(issuer.countOf('/introspect')).toBe(before);
});

test('an opaque token is rejected if the provider has neither introspection nor userinfo', async () => {
  issuer.bendMetadata({ introspection_endpoint: undefined, userinfo_endpoint: undefined });
  expect(await aFleet({ allowUserinfo: true }).provider.verifyBearer('opaque')).toBeUndefined();
});

test.each<[string, object]>([
  ['answers 401 to it', { status: 401, headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } }],
  ['answers 403 to it', { status: 403 }],
  ['has no subject', { body: { role: 'admin' } }],
  ['has an empty subject', { body: { sub: '' } }],
])('an opaque token is rejected if userinfo %s', async (_, reply) => {
  const fleet = aFleetByUserinfo(true);
  issuer.bend('/userinfo', () => reply);
  expect(await fleet.provider.verifyBearer('opaque')).toBeUndefined();
});

test.each<[string, object]>([
  ['is down', { status: 500 }],
  ['redirects', { status: 302, headers: { Location: '/elsewhere' } }],
  ['answers with a page', { body: '<html>' }],
])('an opaque token cannot be verified while userinfo %s', async (_, reply) => {
  const fleet = aFleetByUserinfo(true);
  issuer.bend('/userinfo', () => reply);
  await expect(fleet.provider.verifyBearer('opaque')).rejects.toThrow(ProviderUnavailable);
  expect(issuer.countOf('/elsewhere')).toBe(0);
});

test('a userinfo response is cached for thirty seconds', async () => {
  const fleet = aFleetByUserinfo(true);
  await fleet.provider.verifyBearer('opaque');
  issuer.bend('/userinfo', () => ({ status: 401 }));
  fleet.wait(29_999);
  expect(await fleet.provider.verifyBearer('opaque')).toEqual(ada);
  fleet.wait(1);
  expect(await fleet.provider.verifyBearer('opaque')).toBeUndefined();
});
