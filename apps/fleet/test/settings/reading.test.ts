import { ENVIRONMENT_SECRET, HUB, OIDC, startSettingsWorld } from './world.ts';

const world = await startSettingsWorld();
const { one, other, hub, nextHub, issuer, nextIssuer } = world;
const sql = world.database.client;

const ofEnvironment = {
  issuer: issuer.url,
  client_id: 'fleet',
  has_client_secret: true,
  audience: null,
  role_claim: 'role',
  role_map: { staff: 'operator' },
  default_role: 'none',
  allow_userinfo: false,
  sources: {
    issuer: 'environment',
    client_id: 'environment',
    client_secret: 'environment',
    audience: 'default',
    role_claim: 'default',
    role_map: 'environment',
    default_role: 'default',
    allow_userinfo: 'default',
  },
};

/** The response of both replicas, which must be the same. */
async function read(path: string) {
  const body = (await one.admin.get(path)).body;
  const another = (await other.admin.get(path)).body;
  expect(another).toEqual(body);
  return body;
}

test('settings show the effective values and their sources', async () => {
  expect(await read(OIDC)).toEqual(ofEnvironment);
  expect(await read(HUB)).toEqual({
    url: hub.url,
    api_key_prefix: hub.key.slice(0, 12),
    sync_interval: 0,
    sources: { url: 'environment', api_key: 'environment', sync_interval: 'environment' },
  });
});

test('settings show the defaults if the environment sets nothing', async () => {
  const bare = world.aBareReplica();
  expect((await bare.admin.get(HUB)).body).toEqual({
    url: null,
    api_key_prefix: null,
    sync_interval: 300,
    sources: { url: 'default', api_key: 'default', sync_interval: 'default' },
  });
  const { issuer: none, client_id, has_client_secret, sources } = (await bare.admin.get(OIDC)).body;
  expect({ none, client_id, has_client_secret }).toEqual({ none: null, client_id: null, has_client_secret: false });
  expect(new Set(Object.values(sources))).toEqual(new Set(['default']));
});

test('a change sets the named members over the environment, and returns the effective settings', async () => {
  const { status, body } = await one.admin.put(OIDC, { role_claim: 'groups', default_role: 'viewer' });
  expect(status).toBe(200);
  expect(body).toEqual({
    ...ofEnvironment,
    role_claim: 'groups',
    default_role: 'viewer',
    sources: { ...ofEnvironment.sources, role_claim: 'set', default_role: 'set' },
  });
  expect(await read(OIDC)).toEqual(body);
  const next = (await other.admin.put(OIDC, { role_claim: 'roles' })).body;
  expect(next).toEqual({ ...body, role_claim: 'roles' });
  expect(await read(OIDC)).toEqual(next);
});

test('null sets an empty value, also over the environment', async () => {
  await one.admin.put(OIDC, { audience: 'https://fleet.example.test' });
  expect((await read(OIDC)).audience).toBe('https://fleet.example.test');
  await one.admin.put(OIDC, { audience: null, role_map: null, client_secret: null });
  const { audience, role_map, has_client_secret, sources } = await read(OIDC);
  expect({ audience, role_map, has_client_secret }).toEqual({
    audience: null,
    role_map: null,
    has_client_secret: false,
  });
  expect(sources).toMatchObject({ audience: 'set', role_map: 'set', client_secret: 'set' });
});

test('an empty change of settings changes nothing', async () => {
  expect((await one.admin.put(OIDC, {})).body).toEqual(ofEnvironment);
  expect(await read(OIDC)).toEqual(ofEnvironment);
});

test('DELETE removes all stored settings, and returns the effective settings', async () => {
  await one.admin.put(OIDC, { issuer: nextIssuer.url, client_secret: 'of the next one', role_claim: 'groups' });
  await one.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key });
  expect((await read(HUB)).url).toBe(nextHub.url);
  expect((await other.admin.delete(OIDC)).body).toEqual(ofEnvironment);
  expect((await other.admin.delete(HUB)).body.url).toBe(hub.url);
  expect(await read(OIDC)).toEqual(ofEnvironment);
  expect(await sql.setting.count()).toBe(0);
  expect((await other.admin.delete(OIDC)).status).toBe(200);
});

test('a trailing slash is removed from the URL of the hub, and kept in that of an issuer', async () => {
  await one.admin.put(HUB, { url: `${nextHub.url}/`, api_key: nextHub.key });
  expect((await read(HUB)).url).toBe(nextHub.url);
  expect((await one.admin.put(HUB, { url: `${nextHub.url}//` })).status).toBe(200);
  await one.admin.put(OIDC, { issuer: `${nextIssuer.url}/`, client_secret: 'of the next one' });
  expect((await read(OIDC)).issuer).toBe(`${nextIssuer.url}/`);
});

test.each([
  [OIDC, { issuer: 'ftp://example.test' }, 'issuer'],
  [OIDC, { issuer: null }, 'issuer'],
  [OIDC, { issuer: 'https://user:secret@example.test', client_secret: 'x' }, 'issuer'],
  [OIDC, { issuer: 'https://example.test?x', client_secret: 'x' }, 'issuer'],
  [OIDC, { default_role: 'admin' }, 'default_role'],
  [OIDC, { role_map: { staff: 'superadmin' } }, 'role_map.staff'],
  [OIDC, { client_secret: '' }, 'client_secret'],
  [OIDC, { has_client_secret: true }, 'has_client_secret'],
  [HUB, { url: 'hub.example.test', api_key: 'x' }, 'url'],
  [HUB, { sync_interval: -1 }, 'sync_interval'],
  [HUB, { sync_interval: 1.5 }, 'sync_interval'],
  [HUB, { api_key: 'svcm_not-a-key-of-the-hub' }, 'api_key'],
])('PUT %s %j is rejected with the name of the member, and stores nothing', async (path, body, member) => {
  for (const call of [one.admin.put(path, body), one.admin.post(`${path}/test`, body)]) {
    const { status, body: problem } = await call;
    expect({ status, code: problem.code, path: problem.errors[0].path }).toEqual({
      status: 400,
      code: 'validation_failed',
      path: member,
    });
  }
  expect(await sql.setting.count()).toBe(0);
});

test('no response contains a secret of the settings, and the database contains it sealed', async () => {
  const secret = 'a secret that was set, of some length';
  const answers = [
    await one.admin.put(OIDC, { client_secret: secret }),
    await one.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key }),
    await one.admin.get(OIDC),
    await one.admin.get(HUB),
    await one.admin.post(`${OIDC}/test`, {}),
    await one.admin.post(`${HUB}/test`, {}),
    await world.asAdmin.get('/api/v1/audit'),
  ];
  const text = JSON.stringify(answers.map(({ text, headers }) => [text, headers]));
  const kept = JSON.stringify(await sql.setting.findMany());
  for (const one of [secret, nextHub.key, hub.key, ENVIRONMENT_SECRET]) {
    expect(text).not.toContain(one);
    expect(kept).not.toContain(one);
  }
  const rows = await sql.setting.findMany({ orderBy: { name: 'asc' } });
  expect(rows.map(({ name, key_id }) => [name, key_id])).toEqual([
    ['hub', 'test'],
    ['oidc', 'test'],
  ]);
});

test('a sealed secret that was moved to the other row of the settings cannot be opened', async () => {
  await one.admin.put(OIDC, { client_secret: 'a secret' });
  await one.admin.put(HUB, { sync_interval: 7 });
  await sql.$executeRaw`
    UPDATE settings SET sealed = o.sealed, key_id = o.key_id FROM settings o
    WHERE settings.name = 'hub' AND o.name = 'oidc'`;
  expect((await one.admin.get(HUB)).status).toBe(500);
});

test.each(['asOperator', 'asViewer', 'nobody'] as const)(
  '%s can neither read nor change nor test settings',
  async (who) => {
    const wanted = who === 'nobody' ? 401 : 403;
    for (const path of [OIDC, HUB]) {
      const api = world[who];
      const answers = [
        await api.get(path),
        await api.put(path, {}),
        await api.delete(path),
        await api.post(`${path}/test`, {}),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => wanted));
    }
  },
);
