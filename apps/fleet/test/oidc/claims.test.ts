import { GrantRefused } from '@svc/auth/oidc';
import type { Members } from './bendable-issuer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const fleet = aFleet();

/** The claims of a user who signs in, from the ID token and userinfo. */
async function claimsBy({ idToken = {}, userinfo = {} }: { idToken?: Members; userinfo?: Members }) {
  issuer.bend('/token', async () => issuer.tokens({ id_token: await issuer.idToken(idToken) }));
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', ...userinfo } }));
  return (await fleet.signIn()).claims;
}
const ada = { iss: issuer.url, sub: 'ada', name: 'Ada' };

test('claims of userinfo are added, and those of the ID token take precedence', async () => {
  const claims = await claimsBy({
    idToken: { role: 'viewer' },
    userinfo: { role: 'admin', email: 'ada@example.test' },
  });
  expect(claims).toEqual({ ...ada, role: 'viewer', email: 'ada@example.test' });
});

test('userinfo is requested with the access token, which is sent nowhere else', async () => {
  await claimsBy({});
  expect(issuer.lastAt('/userinfo')?.authorization).toBe('Bearer opaque-access-token');
  expect(
    issuer.requests.filter(({ authorization }) => authorization?.includes('opaque')).map(({ path }) => path),
  ).not.toContain('/token');
});

test('an issuer in the userinfo response does not change the issuer of the user', async () => {
  expect(await claimsBy({ userinfo: { iss: 'https://other.example.test' } })).toEqual(ada);
});

test.each<[string, object]>([
  ['the subject of another user', { sub: 'eve' }],
  ['no subject', { sub: undefined }],
  ['a subject that is a number', { sub: 5 }],
])('a userinfo response with %s is ignored, and the sign-in succeeds', async (_, who) => {
  expect(await claimsBy({ userinfo: { ...who, role: 'admin' } })).toEqual(ada);
});

test.each<[string, object]>([
  ['is down', { status: 500 }],
  ['rejects the token', { status: 401, headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } }],
  ['redirects', { status: 302, headers: { Location: '/elsewhere' } }],
  ['answers with a page', { headers: { 'Content-Type': 'text/html' }, body: '<html>' }],
  ['answers with an unsigned JWT', { headers: { 'Content-Type': 'application/jwt' }, body: 'e30.e30.' }],
  ['sends a response that is too large', { body: { sub: 'ada', padding: 'x'.repeat(100_000) } }],
])('a sign-in succeeds without userinfo claims if userinfo %s', async (_, reply) => {
  issuer.bend('/userinfo', () => reply);
  expect((await fleet.signIn()).claims).toEqual(ada);
});

test('userinfo is not requested if the provider has none', async () => {
  issuer.bendMetadata({ userinfo_endpoint: undefined });
  const before = issuer.countOf('/userinfo');
  expect((await aFleet().signIn()).claims).toEqual(ada);
  expect(issuer.countOf('/userinfo')).toBe(before);
});

test('only the claims of an ID token that describe the user are stored', async () => {
  const protocol = { sid: 's', azp: 'fleet', auth_time: 1, acr: '1', amr: ['pwd'], at_hash: 'a', jti: 'j', typ: 'ID' };
  const person = { groups: ['a', 'b'], realm_access: { roles: ['admin'] }, 'https://example.test/role': 'admin' };
  expect(await claimsBy({ idToken: { ...protocol, ...person } })).toEqual({ ...ada, ...person });
});

test('claims of 16 kB are stored, larger ones rejected', async () => {
  const frame = JSON.stringify({ ...ada, about: '' }).length;
  const about = 'x'.repeat(16 * 1024 - frame);
  expect(await claimsBy({ userinfo: { about } })).toEqual({ ...ada, about });
  await expect(claimsBy({ userinfo: { about: `${about}x` } })).rejects.toThrow(GrantRefused);
  await expect(claimsBy({ userinfo: { about: `${about.slice(1)}é` } })).rejects.toThrow(GrantRefused);
});

const nested = (depth: number): unknown => (depth === 0 ? 'end' : [nested(depth - 1)]);

test.each<[string, unknown]>([
  ['NUL', 'a\0b'],
  ['half of a surrogate pair', 'a\ud800b'],
  ['NUL in a nested value', { list: ['a', { deep: '\0' }] }],
  ['a name with NUL inside', { 'a\0': 1 }],
  ['more nesting than can be stored', nested(40)],
  ['extreme nesting', nested(3000)],
])('a claim with %s is omitted, and the others are stored', async (_, odd) => {
  expect(await claimsBy({ userinfo: { odd, role: 'admin' } })).toEqual({ ...ada, role: 'admin' });
});

test('a subject that cannot be stored is rejected', async () => {
  issuer.bend('/token', async () => issuer.tokens({ id_token: await issuer.idToken({ sub: 'a\0' }) }));
  await expect(fleet.signIn()).rejects.toThrow(GrantRefused);
});
