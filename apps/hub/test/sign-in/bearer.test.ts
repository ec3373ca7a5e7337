// Invalid access tokens over HTTP. Every endpoint rejects them alike.
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { newSecretToken } from '@svc/auth';
import { startLocalIssuer } from '@svc/testing';
import { base64url, exportSPKI, importJWK } from 'jose';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { issuer } = world;
const otherIssuer = await startLocalIssuer(issuer.audience); // its signing key has the same `kid`
const admin = await world.aUser('admin');
afterAll(async () => {
  await otherIssuer.close();
  await world.stop();
});

const PUBLIC = '/api/v1/catalog/templates';
const ADMIN = '/api/v1/admin/templates';
const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;
const encode = (value: unknown) => base64url.encode(JSON.stringify(value));
const claims = () => ({ iss: issuer.issuer, aud: issuer.audience, sub: 'rejected', exp: seconds(300) });

const unsigned = (alg: string) => `${encode({ alg, kid: 'local', typ: 'at+jwt' })}.${encode(claims())}`;
const hmac = (secret: string) => {
  const head = unsigned('HS256');
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
};
const publicPem = async () => {
  const key = await importJWK(issuer.publicKey(), 'ES256', { extractable: true });
  if (key instanceof Uint8Array) throw new TypeError('an EC key is not a symmetric key');
  return exportSPKI(key);
};
const forged = (header: Record<string, unknown>) => otherIssuer.sign('rejected', { iss: issuer.issuer }, header);

const invalidTokens: Readonly<Record<string, () => Promise<string>>> = {
  'no signature (alg none)': async () => `${unsigned('none')}.AAAA`,
  'HS256 with the public key in PEM format as secret': async () => hmac(await publicPem()),
  'HS256 with the public key as JWK as secret': async () => hmac(JSON.stringify(issuer.publicKey())),
  'the signature of another issuer': () => forged({}),
  'an embedded key in the header (jwk)': () => forged({ jwk: otherIssuer.publicKey() }),
  'a key set URL in the header (jku)': () => forged({ jku: `${otherIssuer.issuer}/keys` }),
  'a certificate URL in the header (x5u)': () => forged({ x5u: `${otherIssuer.issuer}/cert` }),
  'a critical extension (crit)': () =>
    issuer.sign('rejected', {}, { crit: ['https://example.test/x'], 'https://example.test/x': 1 }),
  'another issuer': () => issuer.sign('rejected', { iss: otherIssuer.issuer }),
  'a trailing slash after the issuer': () => issuer.sign('rejected', { iss: `${issuer.issuer}/` }),
  'a list of issuers': () => issuer.sign('rejected', { iss: [issuer.issuer] }),
  'another audience': () => issuer.sign('rejected', { aud: 'https://other.example.test' }),
  'no audience': () => issuer.sign('rejected', { aud: undefined }),
  'no expiry': () => issuer.sign('rejected', { exp: undefined }),
  'an expiry in the past': () => issuer.sign('rejected', { exp: seconds(-60) }),
  'a not-before time in the future': () => issuer.sign('rejected', { nbf: seconds(60) }),
  'a number as subject': () => issuer.sign('rejected', { sub: 42 }),
  'no subject': () => issuer.sign('rejected', { sub: undefined }),
  'the type and nonce of an ID token': () => issuer.sign('rejected', { nonce: 'n' }, { typ: 'JWT' }),
  'changed claims': async () => {
    const [header, , signature] = (await issuer.sign('rejected')).split('.');
    return `${header}.${encode({ ...claims(), sub: 'admin-1' })}.${signature}`;
  },
  'an unknown format': async () => 'opaque',
};

test.each(Object.entries(invalidTokens))(
  'rejects a token with %s exactly as an unknown key, on public endpoints too',
  async (_, token) => {
    const same = { 'X-Request-Id': 'the-same' };
    const api = world.api(`Bearer ${await token()}`);
    for (const path of [PUBLIC, ADMIN]) {
      const unknown = await world.api(`Bearer ${newSecretToken('svcc_')}`).get(path, same);
      const answer = await api.get(path, same);
      expect(answer.body).toMatchObject({ status: 401, code: 'invalid_token' });
      expect(answer).toMatchObject({ status: 401, text: unknown.text });
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="hub", error="invalid_token"');
    }
    expect(await world.database.client.user.count({ where: { sub: 'rejected' } })).toBe(0);
  },
);

test('accepts a valid token', async () => {
  expect((await world.api(`Bearer ${await issuer.sign('accepted')}`).get(PUBLIC)).status).toBe(200);
});

test('rejects a token in the query, even with a valid token in the header', async () => {
  const token = await issuer.sign('accepted');
  for (const api of [world.anonymous, admin]) {
    for (const path of [PUBLIC, ADMIN]) {
      const answer = await api.get(`${path}?access_token=${token}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
  }
});

test.each(['application/json', 'application/x-www-form-urlencoded'])(
  'ignores a token in a body of type %s',
  async (type) => {
    const access_token = await issuer.sign('accepted');
    const body = type === 'application/json' ? { access_token } : `access_token=${access_token}`;
    const answer = await world.anonymous.post(ADMIN, body, { 'Content-Type': type });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  },
);

test('rejects two Authorization headers, whatever their values', async () => {
  const valid = `Bearer ${await issuer.sign('accepted')}`;
  const server = world.app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP');
  for (const second of [valid, 'Bearer x', 'Basic eDp5']) {
    const { status, code } = await sendHeaders(address.port, [valid, second]);
    expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' });
  }
  await new Promise((resolve) => server.close(resolve));
});

test.each(['Bearer', 'Bearer ', 'Bearer a b', 'Basic eDp5', 'Token x'])(
  'rejects the malformed Authorization header %j',
  async (header) => {
    const answer = await world.api(header).get(PUBLIC);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  },
);

/**
 * Sends the request over a socket, because HTTP clients join headers with the same name or send
 * only one.
 */
async function sendHeaders(port: number, authorizations: readonly string[]): Promise<{ status: number; code: string }> {
  const socket = connect(port, '127.0.0.1');
  const lines = [`GET ${PUBLIC} HTTP/1.1`, 'Host: hub', 'Connection: close'];
  socket.end([...lines, ...authorizations.map((value) => `Authorization: ${value}`), '', ''].join('\r\n'));
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  const body = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1);
  return { status: Number(answer.split(' ', 2)[1]), code: JSON.parse(body).code };
}
