import { byDepth } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { holdAnswers } from '../fake-hub.ts';
import { HUB, keysAt, OIDC, startSettingsWorld } from './world.ts';

const world = await startSettingsWorld();
const { one, other, hub, nextHub, issuer, nextIssuer } = world;
const SYNC = '/api/v1/catalog/sync';
const ROUNDS = byDepth({ short: 2, full: 4, long: 20 });

const names = async () => {
  const { body } = await one.admin.get('/api/v1/catalog/templates');
  return body.templates.map(({ name }: { name: string }) => name);
};

test('a changed hub applies to the other replica at once: its next sync uses the new hub', async () => {
  hub.publish(aTemplate({ name: 'of the first' }));
  nextHub.publish(aTemplate({ name: 'of the next' }));
  expect((await other.admin.post(SYNC, {})).body.hub_url).toBe(hub.url);
  expect(await names()).toEqual(['of the first']);
  await one.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key });
  expect((await other.admin.get(SYNC)).body.hub_url).toBe(nextHub.url);
  expect((await other.admin.post(SYNC, {})).status).toBe(200);
  expect(await names()).toEqual(['of the next']);
  await one.admin.delete(HUB);
  expect((await other.admin.post(SYNC, {})).status).toBe(200);
  expect(await names()).toEqual(['of the first']);
  expect(keysAt(hub)).toEqual([hub.key]);
  expect(keysAt(nextHub)).toEqual([nextHub.key]);
});

test('a changed issuer applies to the other replica at once: its sign-ins use the new issuer', async () => {
  const at = async () => {
    const { headers } = await other.admin.get('/api/v1/auth/oidc/login');
    return new URL(headers.location ?? '').origin;
  };
  expect(await at()).toBe(issuer.url);
  await one.admin.put(OIDC, { issuer: nextIssuer.url, client_secret: 'of the next one' });
  expect(await at()).toBe(nextIssuer.url);
  expect((await other.admin.get('/api/v1/auth/config')).body.oidc.issuer).toBe(nextIssuer.url);
  await one.admin.delete(OIDC);
  expect(await at()).toBe(issuer.url);
});

test('concurrent changes of different settings are all stored', async () => {
  const changes = {
    client_id: 'another',
    client_secret: 'another secret',
    audience: 'https://fleet.example.test',
    role_claim: 'groups',
    role_map: { staff: 'admin' },
    default_role: 'viewer',
    allow_userinfo: true,
  } as const;
  const { client_secret: _, ...shown } = changes;
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.all(
      Object.entries(changes).map(([name, value], index) =>
        (index % 2 === 0 ? one : other).admin.put(OIDC, { [name]: value }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { body } = await one.admin.get(OIDC);
    expect(body).toMatchObject({ ...shown, sources: { client_secret: 'set', role_map: 'set', client_id: 'set' } });
    await other.admin.delete(OIDC);
  }
});

test('an address and a key that are changed concurrently are never combined with others', async () => {
  for (const each of [hub, nextHub]) each.publish(aTemplate());
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.all([
      one.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key }),
      other.admin.put(HUB, { url: hub.url, api_key: hub.key }),
      other.admin.put(HUB, { url: nextHub.url }),
      one.admin.put(HUB, { url: hub.url }),
    ]);
    for (const { status, body } of answers) expect(status === 200 || body.errors[0].path === 'api_key').toBe(true);
    const { url, api_key_prefix } = (await one.admin.get(HUB)).body;
    const key = url === hub.url ? hub.key : nextHub.key;
    expect(api_key_prefix).toBe(key.slice(0, api_key_prefix.length));
    expect((await other.admin.post(SYNC, {})).status).toBe(200);
  }
  expect([hub, nextHub].flatMap((each) => keysAt(each).filter((key) => key !== each.key))).toEqual([]);
});

test('if the hub changes during a sync, the sync completes with the former hub, and the next one uses the new hub', async () => {
  hub.publish(aTemplate({ name: 'of the first' }));
  nextHub.publish(aTemplate({ name: 'of the next' }));
  const held = holdAnswers();
  hub.behave(held.hold, 'updates');
  const running = one.admin.post(SYNC, {});
  await held.arrived(1);
  expect((await other.admin.put(HUB, { url: nextHub.url, api_key: nextHub.key })).status).toBe(200);
  await held.release(0);
  expect((await running).status).toBe(200);
  hub.recover();
  expect((await other.admin.post(SYNC, {})).status).toBe(200);
  expect(await names()).toEqual(['of the next']);
  expect(keysAt(hub)).toEqual([hub.key]);
  expect(keysAt(nextHub)).toEqual([nextHub.key]);
});

test('a change and a concurrent reset to the environment leave one of the two, complete', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all([
      one.admin.put(OIDC, { issuer: nextIssuer.url, client_id: 'next', client_secret: null }),
      other.admin.delete(OIDC),
    ]);
    const { issuer: now, client_id, has_client_secret } = (await one.admin.get(OIDC)).body;
    expect([
      [nextIssuer.url, 'next', false],
      [issuer.url, 'fleet', true],
    ]).toContainEqual([now, client_id, has_client_secret]);
  }
});
