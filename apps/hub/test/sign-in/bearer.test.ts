// Access tokens over HTTP, by an issuer that can be bent: what is refused, and that it is refused everywhere alike.
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { newSecretToken } from '@svc/auth';
import { startLocalIssuer } from '@svc/testing';
import { base64url, exportSPKI, importJWK } from 'jose';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { issuer } = world;
const stranger = await startLocalIssuer(issuer.audience); // its key has the id of the issuer's
const admin = await world.aUser('admin');
afterAll(async () => {
  await stranger.close();
  await world.stop();
});

const PUBLIC = '/api/v1/catalog/templates';
const ADMIN = '/api/v1/admin/templates';
const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;
const encode = (value: unknown) => base64url.encode(JSON.stringify(value));
const claims = () => ({ iss: issuer.issuer, aud: issuer.audience, sub: 'bent', exp: seconds(300) });

const unsigned = (alg: string) => `${encode({ alg, kid: 'local', typ: 'at+jwt' })}.${encode(claims())}`;
const hmac = (secret: string) => {
  const head = unsigned('HS256');
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
};
const publicPem = async () => {
  const key = await importJWK(issuer.publicKey(), 'ES256', { extractable: true });
  if (key instanceof Uint8Array) throw new TypeError('an EC key is no secret');
  return exportSPKI(key);
};
const forged = (header: Record<string, unknown>) => stranger.sign('bent', { iss: issuer.issuer }, header);

const bent: Readonly<Record<string, () => Promise<string>>> = {
  'no signature (alg none)': async () => `${unsigned('none')}.AAAA`,
  'HS256 by the public key in PEM': async () => hmac(await publicPem()),
  'HS256 by the public key as a JWK': async () => hmac(JSON.stringify(issuer.publicKey())),
  'the signature of a stranger': () => forged({}),
  'a key of its own in the header (jwk)': () => forged({ jwk: stranger.publicKey() }),
  'an address of its own keys (jku)': () => forged({ jku: `${stranger.issuer}/keys` }),
  'an address of its own certificate (x5u)': () => forged({ x5u: `${stranger.issuer}/cert` }),
  'an extension that must be understood (crit)': () =>
    issuer.sign('bent', {}, { crit: ['https://example.test/x'], 'https://example.test/x': 1 }),
  'another issuer': () => issuer.sign('bent', { iss: stranger.issuer }),
  'the issuer with a slash behind': () => issuer.sign('bent', { iss: `${issuer.issuer}/` }),
  'a list of issuers': () => issuer.sign('bent', { iss: [issuer.issuer] }),
  'another audience': () => issuer.sign('bent', { aud: 'https://other.example.test' }),
  'no audience': () => issuer.sign('bent', { aud: undefined }),
  'no end': () => issuer.sign('bent', { exp: undefined }),
  'an end in two days': () => issuer.sign('bent', { exp: seconds(2 * 86_400) }),
  'an end of 1e20': () => issuer.sign('bent', { exp: 1e20 }),
  'an end that is over': () => issuer.sign('bent', { exp: seconds(-60) }),
  'a beginning to come': () => issuer.sign('bent', { nbf: seconds(60) }),
  'a number for a subject': () => issuer.sign('bent', { sub: 42 }),
  'no subject': () => issuer.sign('bent', { sub: undefined }),
  'no key id': () => issuer.sign('bent', {}, { kid: undefined }),
  'the marks of an ID token': () => issuer.sign('bent', { nonce: 'n' }, { typ: 'JWT' }),
  'changed claims': async () => {
    const [header, , signature] = (await issuer.sign('bent')).split('.');
    return `${header}.${encode({ ...claims(), sub: 'admin-1' })}.${signature}`;
  },
  'nothing that is a token here': async () => 'opaque',
};

test.each(Object.entries(bent))(
  'a token with %s is refused, on public routes too, as an unknown key is',
  async (_, token) => {
    const same = { 'X-Request-Id': 'the-same' };
    const api = world.api(`Bearer ${await token()}`);
    for (const path of [PUBLIC, ADMIN]) {
      const unknown = await world.api(`Bearer ${newSecretToken('svcc_')}`).get(path, same);
      const answer = await api.get(path, same);
      expect(answer.body).toMatchObject({ status: 401, code: 'invalid_token' });
      expect([answer.status, answer.text]).toEqual([401, unknown.text]);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="hub", error="invalid_token"');
    }
    expect(await world.database.client.user.count({ where: { sub: 'bent' } })).toBe(0);
  },
);

test('the same token without the bend is let in', async () => {
  expect((await world.api(`Bearer ${await issuer.sign('straight')}`).get(PUBLIC)).status).toBe(200);
});

test('a token in the query is refused, also beside a good one', async () => {
  const token = await issuer.sign('straight');
  for (const api of [world.nobody, admin]) {
    for (const path of [PUBLIC, ADMIN]) {
      const answer = await api.get(`${path}?access_token=${token}`);
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    }
  }
});

test.each(['application/json', 'application/x-www-form-urlencoded'])(
  'a token in a body of %s is nobody’s',
  async (type) => {
    const access_token = await issuer.sign('straight');
    const body = type === 'application/json' ? { access_token } : `access_token=${access_token}`;
    const answer = await world.nobody.post(ADMIN, body, { 'Content-Type': type });
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated']);
  },
);

test('two Authorization headers are refused, whatever stands in them', async () => {
  const good = `Bearer ${await issuer.sign('straight')}`;
  const server = world.app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP');
  for (const second of [good, 'Bearer x', 'Basic eDp5']) {
    const { status, code } = await sendTwo(address.port, [good, second]);
    expect([status, code]).toEqual([400, 'invalid_request']);
  }
  await new Promise((resolve) => server.close(resolve));
});

test.each(['Bearer', 'Bearer ', 'Bearer  x', 'Bearer a b', 'Basic eDp5', 'Token x'])(
  'the header %j is malformed',
  async (header) => {
    const answer = await world.api(header).get(PUBLIC);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  },
);

/** By hand: clients join two headers of a name, or keep one. */
async function sendTwo(port: number, authorizations: readonly string[]): Promise<{ status: number; code: string }> {
  const socket = connect(port, '127.0.0.1');
  const lines = [`GET ${PUBLIC} HTTP/1.1`, 'Host: hub', 'Connection: close'];
  socket.end([...lines, ...authorizations.map((value) => `Authorization: ${value}`), '', ''].join('\r\n'));
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  const body = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1);
  return { status: Number(answer.split(' ', 2)[1]), code: JSON.parse(body).code };
}
