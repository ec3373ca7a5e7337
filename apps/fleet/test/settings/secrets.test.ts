import { newSecretToken } from '@svc/auth';
import type { BendableIssuer } from '../oidc/bendable-issuer.ts';
import { ENVIRONMENT_SECRET, HUB, keysAt, OIDC, startSettingsWorld } from './world.ts';

const world = await startSettingsWorld();
const { one, other, hub, nextHub, issuer, nextIssuer, aReplica, environment } = world;
const SYNC = '/api/v1/catalog/sync';
const SET = 'the secret that was set';

/** The client secrets that an issuer received. */
const secretsAt = ({ requests }: BendableIssuer) => [
  ...new Set(
    requests.flatMap(({ authorization = '' }) => {
      const [, secret] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':');
      return secret === undefined ? [] : [decodeURIComponent(secret.replaceAll('+', ' '))];
    }),
  ),
];

test.each([
  ['PUT', '', 'put'],
  ['a test', '/test', 'post'],
] as const)(
  'another address without its own secret is rejected by %s with the name of the member, and receives no request',
  async (_, end, call) => {
    const asked = [
      await one.admin[call](`${HUB}${end}`, { url: nextHub.url }),
      await one.admin[call](`${OIDC}${end}`, { issuer: nextIssuer.url }),
      await one.admin[call](`${OIDC}${end}`, { issuer: `${issuer.url}/` }),
    ];
    expect(asked.map(({ status, body }) => [status, body.errors?.[0]?.path])).toEqual([
      [400, 'api_key'],
      [400, 'client_secret'],
      [400, 'client_secret'],
    ]);
    expect(nextHub.requests).toEqual([]);
    expect(nextIssuer.requests).toEqual([]);
    expect(issuer.requests).toEqual([]);
    expect(await world.database.client.setting.count()).toBe(0);
  },
);

test('a secret that was set is not sent to another address', async () => {
  await one.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key });
  await one.admin.put(OIDC, { issuer: nextIssuer.url, client_secret: SET });
  expect((await other.admin.put(HUB, { url: hub.url })).body.errors[0].path).toBe('api_key');
  expect((await other.admin.post(`${HUB}/test`, { url: hub.url })).body.errors[0].path).toBe('api_key');
  expect((await other.admin.put(OIDC, { issuer: issuer.url })).body.errors[0].path).toBe('client_secret');
  expect((await other.admin.post(`${OIDC}/test`, { issuer: issuer.url })).body.errors[0].path).toBe('client_secret');
  expect(hub.requests).toEqual([]);
  expect(issuer.requests).toEqual([]);
});

test('a change that repeats the address keeps its secret', async () => {
  await one.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key });
  expect((await one.admin.put(HUB, { url: nextHub.url, sync_interval: 5 })).status).toBe(200);
  expect((await other.admin.post(SYNC, {})).status).toBe(200);
  expect(keysAt(nextHub)).toEqual([nextHub.key]);
});

test('each hub and issuer receives only its own secret, in any sequence of changes and tests', async () => {
  await one.admin.post(SYNC, {});
  await one.admin.post(`${OIDC}/test`, {});
  await one.admin.post(`${HUB}/test`, { url: nextHub.url, api_key: nextHub.key });
  await one.admin.post(`${OIDC}/test`, { issuer: nextIssuer.url, client_secret: SET });
  await one.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key });
  await one.admin.put(OIDC, { issuer: nextIssuer.url, client_secret: SET });
  await other.admin.post(SYNC, {});
  await other.admin.post(`${OIDC}/test`, { role_claim: 'groups' });
  await other.admin.delete(HUB);
  await other.admin.delete(OIDC);
  await one.admin.post(SYNC, {});
  await one.admin.post(`${OIDC}/test`, {});
  expect(keysAt(hub)).toEqual([hub.key]);
  expect(keysAt(nextHub)).toEqual([nextHub.key]);
  expect(secretsAt(issuer)).toEqual([ENVIRONMENT_SECRET]);
  expect(secretsAt(nextIssuer)).toEqual([SET]);
});

test('a secret that was set for an address of the environment is not used when the environment names another', async () => {
  const key = newSecretToken('svcc_');
  await one.admin.put(HUB, { api_key: key });
  await one.admin.put(OIDC, { client_secret: SET });
  const moved = aReplica({
    hub: { url: nextHub.url, key: nextHub.key },
    oidc: { ...environment.oidc, issuer: nextIssuer.url },
  });
  const shown = (await moved.admin.get(HUB)).body;
  expect(shown).toMatchObject({ url: nextHub.url, api_key_prefix: null });
  expect((await moved.admin.post(SYNC, {})).body.code).toBe('hub_not_configured');
  expect((await moved.admin.get(OIDC)).body).toMatchObject({ issuer: nextIssuer.url, has_client_secret: false });
  await moved.admin.post(`${OIDC}/test`, {});
  expect(nextHub.requests).toEqual([]);
  expect(secretsAt(nextIssuer)).toEqual([]);
  await one.admin.post(SYNC, {});
  expect(keysAt(hub)).toEqual([key]);
});

test('a secret of the environment is not used for an address that was set, even if the secret is new', async () => {
  await one.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key });
  await one.admin.put(OIDC, { issuer: nextIssuer.url, client_secret: null });
  const key = newSecretToken('svcc_');
  const renewed = aReplica({
    hub: { url: hub.url, key },
    oidc: { ...environment.oidc, client_secret: 'a renewed secret' },
  });
  await renewed.admin.post(SYNC, {});
  await renewed.admin.post(`${OIDC}/test`, {});
  expect(keysAt(nextHub)).toEqual([nextHub.key]);
  expect(secretsAt(nextIssuer)).toEqual([]);
  expect(nextIssuer.countOf('/token')).toBe(1);
});

test('for an address that was set to that of the environment, the secret of the environment is used only while it names that address', async () => {
  await one.admin.put(HUB, { url: hub.url });
  await one.admin.put(OIDC, { issuer: issuer.url });
  expect((await other.admin.get(HUB)).body.sources).toMatchObject({ url: 'set', api_key: 'environment' });
  expect((await other.admin.post(SYNC, {})).status).toBe(200);
  const gone = aReplica({ hub: { url: nextHub.url, key: nextHub.key } });
  expect((await gone.admin.get(HUB)).body).toMatchObject({ url: hub.url, api_key_prefix: null });
  expect((await gone.admin.post(SYNC, {})).body.code).toBe('hub_not_configured');
  expect(keysAt(hub)).toEqual([hub.key]);
  expect(keysAt(nextHub)).toEqual([]);
});

test('a key or secret without an address is rejected', async () => {
  const bare = world.aBareReplica();
  const key = newSecretToken('svcc_');
  expect((await bare.admin.put(HUB, { api_key: key })).body.errors[0].path).toBe('url');
  expect((await bare.admin.put(OIDC, { client_secret: SET })).body.errors[0].path).toBe('issuer');
});

test('an unknown hub requires a key, and a public client requires no secret', async () => {
  const bare = world.aBareReplica();
  expect((await bare.admin.put(HUB, { url: nextHub.url })).body.errors[0].path).toBe('api_key');
  const { status, body } = await bare.admin.put(OIDC, { issuer: nextIssuer.url, client_id: 'public' });
  expect({ status, has_client_secret: body.has_client_secret }).toEqual({ status: 200, has_client_secret: false });
});
