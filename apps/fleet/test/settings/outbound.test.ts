import { HUB, OIDC, startSettingsWorld } from './world.ts';

const world = await startSettingsWorld();
const { hub, nextHub, issuer, nextIssuer, aReplica } = world;

const SECRET = 'for wherever it is';
const atHub = (url: string) => ({ url, api_key: nextHub.key });
const atIssuer = (issuer: string) => ({ issuer, client_id: 'fleet', client_secret: SECRET });
const LINK_LOCAL = 'The address is link-local or a metadata service. Connections to such addresses are not allowed.';

/** Allows only https to public addresses. */
const strict = aReplica({ outboundAllow: new Set() });
const noHttp = aReplica({ outboundAllow: new Set(['loopback']) });
const noLoopback = aReplica({ outboundAllow: new Set(['http']) });

const hubSays = async ({ admin }: typeof strict, url: string) => {
  const { status, body } = await admin.post(`${HUB}/test`, atHub(url));
  expect(status).toBe(502);
  return body.detail;
};
const issuerSays = async ({ admin }: typeof strict, issuer: string) => {
  const { body } = await admin.post(`${OIDC}/test`, atIssuer(issuer));
  expect(body.ok).toBe(false);
  return body.checks[0].detail;
};

test.each([
  [
    'without TLS on this machine',
    strict,
    ['without TLS', 'on the machine of this service', 'add http and loopback to OUTBOUND_ALLOW.'],
  ],
  ['without TLS', noHttp, ['without TLS', 'add http to OUTBOUND_ALLOW.']],
  ['on this machine', noLoopback, ['on the machine of this service', 'add loopback to OUTBOUND_ALLOW.']],
])(
  'a target %s is rejected with the setting that would allow it, and receives no connection',
  async (_, replica, words) => {
    for (const message of [await hubSays(replica, nextHub.url), await issuerSays(replica, nextIssuer.url)])
      for (const word of words) expect(message).toContain(word);
    expect(nextHub.requests).toEqual([]);
    expect(nextIssuer.requests).toEqual([]);
  },
);

test('a hostname that resolves to loopback is rejected', async () => {
  const hubUrl = nextHub.url.replace('127.0.0.1', 'localhost');
  const issuerUrl = nextIssuer.url.replace('127.0.0.1', 'localhost');
  expect(await hubSays(noLoopback, hubUrl ?? '')).toContain('add loopback');
  expect(await issuerSays(noLoopback, issuerUrl ?? '')).toContain('add loopback');
  expect(nextHub.requests).toEqual([]);
  expect(nextIssuer.requests).toEqual([]);
});

test.each([
  'http://169.254.169.254',
  'https://[fe80::1]',
  'http://100.100.100.200',
  'https://[::ffff:169.254.169.254]',
])('%s never receives a request, even if everything is allowed', async (address) => {
  const lenient = aReplica({ outboundAllow: new Set(['http', 'loopback', 'private', 'unix']) });
  expect(await hubSays(lenient, address)).toBe(LINK_LOCAL);
  expect(await issuerSays(lenient, address)).toContain(LINK_LOCAL);
});

test('addresses of the environment are always allowed, also if the same address is set', async () => {
  expect((await strict.admin.post(`${HUB}/test`, {})).status).toBe(200);
  expect((await strict.admin.post(`${HUB}/test`, { url: hub.url, api_key: hub.key })).status).toBe(200);
  expect((await strict.admin.post(`${OIDC}/test`, {})).body.checks[0]).toMatchObject({ name: 'discovery', ok: true });
  expect((await strict.admin.post(`${OIDC}/test`, { issuer: issuer.url })).body.checks[0].ok).toBe(true);
});

test('an address that is not allowed cannot be set, and the former setting stays', async () => {
  const before = [await strict.admin.get(HUB), await strict.admin.get(OIDC)].map(({ body }) => body);
  const atHubAnswer = await strict.admin.put(HUB, atHub(nextHub.url));
  expect({ status: atHubAnswer.status, errors: atHubAnswer.body.errors }).toEqual({
    status: 400,
    errors: [{ path: 'url', message: expect.stringContaining('add http and loopback to OUTBOUND_ALLOW') }],
  });
  const atIssuerAnswer = await strict.admin.put(OIDC, atIssuer('https://169.254.169.254'));
  expect({ status: atIssuerAnswer.status, errors: atIssuerAnswer.body.errors }).toEqual({
    status: 400,
    errors: [{ path: 'issuer', message: LINK_LOCAL }],
  });
  expect([await strict.admin.get(HUB), await strict.admin.get(OIDC)].map(({ body }) => body)).toEqual(before);
});

test('an address that was set and is no longer allowed is not used by syncs and sign-ins', async () => {
  const { admin } = aReplica();
  expect((await admin.put(HUB, atHub(nextHub.url))).status).toBe(200);
  expect((await admin.put(OIDC, atIssuer(nextIssuer.url))).status).toBe(200);
  const sync = await strict.admin.post('/api/v1/catalog/sync', {});
  expect(sync).toMatchObject({ status: 502, body: { detail: expect.stringContaining('OUTBOUND_ALLOW') } });
  const state = (await strict.admin.get('/api/v1/catalog/sync')).body;
  expect(state.last_failure.reason).toContain('OUTBOUND_ALLOW');
  expect((await strict.admin.get('/api/v1/auth/oidc/login')).status).toBe(503);
  expect(nextHub.requests).toEqual([]);
  expect(nextIssuer.requests).toEqual([]);
});

test('an address that is allowed again is used at once', async () => {
  await aReplica().admin.put(HUB, atHub(nextHub.url));
  expect((await strict.admin.post('/api/v1/catalog/sync', {})).status).toBe(502);
  expect((await aReplica().admin.post('/api/v1/catalog/sync', {})).status).toBe(200);
});
