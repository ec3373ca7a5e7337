import { startIdentityProvider } from '@svc/identity-provider/server';
import { DISCOVERY } from '../oidc/bendable-issuer.ts';
import { SHORT_TIMEOUT_MS } from '../world.ts';
import { OIDC, startSettingsWorld } from './world.ts';

const world = await startSettingsWorld();
const { one, other, hub, issuer } = world;
const sql = world.database.client;

const SECRET = 'a secret of the provider';
const provider = await startIdentityProvider({
  port: 0,
  host: '127.0.0.1',
  audiences: [],
  redirectUris: ['http://127.0.0.1/callback'],
  fleetClientSecret: SECRET,
  password: 'development',
});
afterAll(() => provider.stop());

const good = { issuer: provider.issuer, client_id: 'fleet', client_secret: SECRET };
const tryIt = async (body: object = {}, { admin } = one) => {
  const { status, body: answer } = await admin.post(`${OIDC}/test`, body);
  expect(status).toBe(200);
  return answer as { ok: boolean; checks: { name: string; ok: boolean; detail: string }[] };
};
/** The first failed check. */
const wrong = async (body?: object, replica?: typeof one) => {
  const { ok, checks } = await tryIt(body, replica);
  const found = checks.find((check) => !check.ok);
  expect(ok).toBe(found === undefined);
  return [found?.name, found?.detail];
};

test('the test of a provider passes all checks for a working provider', async () => {
  const { ok, checks } = await tryIt(good);
  expect(checks.filter((check) => !check.ok)).toEqual([]);
  expect(ok).toBe(true);
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['discovery', 'issuer', 'keys', 'client', 'introspection']),
  );
});

test('the test of a provider stores and changes nothing', async () => {
  await tryIt({ ...good, role_claim: 'groups' });
  expect(await sql.setting.count()).toBe(0);
  expect((await other.admin.get(OIDC)).body).toMatchObject({ issuer: issuer.url, role_claim: 'role' });
});

test.each([
  [
    'a wrong client secret',
    { ...good, client_secret: 'another' },
    'client',
    'the client id or the client secret is wrong',
  ],
  ['an unknown client', { ...good, client_id: 'nobody' }, 'client', 'the client id or the client secret is wrong'],
  ['an issuer without a listener', { ...good, issuer: 'http://127.0.0.1:1' }, 'discovery', 'ECONNREFUSED'],
  ['an issuer that cannot be resolved', { ...good, issuer: 'http://provider.invalid' }, 'discovery', 'ENOTFOUND'],
  [
    'an issuer with an extra trailing slash',
    { ...good, issuer: `${provider.issuer}/` },
    'issuer',
    'without a slash at the end',
  ],
  ['another service', { ...good, issuer: hub.url }, 'discovery', '(404)'],
])('the test of a provider reports %s', async (_, body, name, words) => {
  expect(await wrong(body)).toEqual([name, expect.stringContaining(words)]);
});

test.each([
  ['answers HTML', { body: '<html>leaked-text', headers: { 'Content-Type': 'text/html' } }, 'not a JSON object'],
  ['redirects', { status: 302, headers: { Location: 'https://elsewhere.example.test' } }, '302'],
  ['fails', { status: 500, body: 'leaked-text' }, '500'],
  ['has metadata that lack members', { body: { issuer: issuer.url } }, 'token_endpoint'],
] as const)('the test of a provider reports an issuer that %s', async (_, reply, words) => {
  issuer.bend(DISCOVERY, () => reply);
  const [name, detail] = await wrong();
  expect({ name, detail }).toEqual({ name: 'discovery', detail: expect.stringContaining(words) });
  expect(detail).not.toContain('leaked-text');
});

test('the test of a provider reports an issuer that does not answer in time', async () => {
  issuer.bend(DISCOVERY, () => 'silence');
  const found = await wrong({}, world.aReplica({ outboundTimeoutMs: SHORT_TIMEOUT_MS }));
  expect(found).toEqual(['discovery', expect.stringContaining('in time')]);
});

test('the test of a provider sends no secret to a provider that names another issuer', async () => {
  issuer.bendMetadata({ issuer: 'https://other.example.test' });
  expect((await wrong())[0]).toBe('issuer');
  expect(issuer.countOf('/token')).toBe(0);
  expect(issuer.countOf('/introspect')).toBe(0);
});

test.each([
  ['keys that cannot be fetched', '/keys', { status: 500 }, 'keys'],
  ['no usable key', '/keys', { body: { keys: [] } }, 'keys'],
  ['a token endpoint that accepts any code', '/token', { body: { access_token: 'x', token_type: 'Bearer' } }, 'client'],
  ['introspection that is rejected', '/introspect', { status: 403, body: { error: 'access_denied' } }, 'introspection'],
])('the test of a provider reports in its failed check: %s', async (_, path, reply, name) => {
  if (path !== '/token') issuer.bend('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
  issuer.bend(path, () => reply);
  const [failed, detail] = await wrong();
  expect(failed).toBe(name);
  expect(detail).toMatch(/^[A-Z][^\n]{20,300}\.$/);
});

test('the test of a provider reports that no provider is configured', async () => {
  const { status, body } = await world.aBareReplica().admin.post(`${OIDC}/test`, {});
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'oidc_not_configured' });
});

test('the test of another provider keeps the cached keys of the effective one', async () => {
  await one.admin.put(OIDC, { audience: 'https://fleet.example.test' });
  const token = await issuer
    .signer()
    .sign({ iss: issuer.url, aud: 'https://fleet.example.test', sub: 'ada', role: 'staff' }, { typ: 'at+jwt' });
  const { api, admin } = world.aReplica();
  const me = () => api(`Bearer ${token}`).get('/api/v1/auth/me');
  for (let tried = 0; tried < 4; tried += 1) {
    expect((await me()).status).toBe(200);
    await admin.post(`${OIDC}/test`, { client_secret: `secret ${tried}` });
  }
  await issuer.stopListening();
  expect((await me()).status).toBe(200);
  await issuer.startListening();
});
