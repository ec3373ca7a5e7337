import { newSecretToken } from '@svc/auth';
import { breakOff, closeConnection, neverAnswer, neverEnd, refuse, send, sendChanged } from '../fake-hub.ts';
import { SHORT_TIMEOUT_MS } from '../world.ts';
import { HUB, keysAt, startSettingsWorld } from './world.ts';

const world = await startSettingsWorld();
const { one, other, hub, nextHub, issuer } = world;
const sql = world.database.client;

const tryHub = (body: object = {}, { admin } = one) => admin.post(`${HUB}/test`, body);
const aKey = newSecretToken('svcc_');
const leaking = 'words of the other side';

test('a good hub answers whose organization the key is', async () => {
  expect(await tryHub()).toMatchObject({ status: 200, body: { organization: hub.organization() } });
  const next = { url: nextHub.url, api_key: nextHub.key };
  expect(await tryHub(next)).toMatchObject({ status: 200, body: { organization: nextHub.organization() } });
  expect([keysAt(hub), keysAt(nextHub)]).toEqual([[hub.key], [nextHub.key]]);
});

test('trying stores nothing and changes nothing', async () => {
  await tryHub({ url: nextHub.url, api_key: nextHub.key, sync_interval: 9 });
  expect(await sql.setting.count()).toBe(0);
  expect((await other.admin.get(HUB)).body.url).toBe(hub.url);
  const state = (await other.admin.get('/api/v1/catalog/sync')).body;
  expect([state.hub_url, state.status]).toEqual([hub.url, 'never_synced']);
});

test.each([
  ['drops the connection', closeConnection, 'does not answer'],
  ['breaks off', breakOff, 'does not answer'],
  ['never comes to an end', neverEnd, 'does not answer'],
  ['answers HTML', send(200, 'text/html', `<html>${leaking}</html>`), 'not a catalog'],
  ['answers something else', sendChanged(() => ({ organization: { name: leaking } })), 'not a catalog'],
  ['redirects', send(302, 'text/plain', leaking, { Location: 'https://elsewhere.example.test' }), 'redirect (302)'],
  ['has suspended the organization', refuse('organization_suspended', leaking), 'suspended'],
  ['fails', send(500, 'text/plain', leaking), 'answered 500'],
  ['does not know the path', refuse('not_found', leaking), 'answered 404'],
])('a hub that %s is told as that', async (_, behaviour, words) => {
  hub.behave(behaviour, 'organization');
  const { status, body, text } = await tryHub();
  expect([status, body.code, body.detail]).toEqual([502, 'hub_unreachable', expect.stringContaining(words)]);
  expect(text).not.toContain(leaking);
  expect(text).not.toContain(hub.key);
});

test('a hub that does not answer in time is reported as that', async () => {
  hub.behave(neverAnswer, 'organization');
  const { status, body } = await tryHub({}, world.aReplica({ outboundTimeoutMs: SHORT_TIMEOUT_MS }));
  expect([status, body.code, body.detail]).toEqual([
    ...[502, 'hub_unreachable'],
    expect.stringContaining('does not answer'),
  ]);
});

test('a key that the hub does not take is told as that', async () => {
  const { status, body } = await tryHub({ api_key: aKey });
  expect([status, body.code, body.detail]).toEqual([
    502,
    'hub_unreachable',
    'The hub refused the API key (401): it is wrong, expired or revoked.',
  ]);
});

test.each([
  ['nothing listens at', 'http://127.0.0.1:1', 'does not answer'],
  ['no name leads to', 'http://hub.invalid', 'does not answer'],
  ['is another service’s', issuer.url, 'answered 404'],
])('an address that %s is told as that', async (_, url, words) => {
  const { status, body } = await tryHub({ url, api_key: aKey });
  expect([status, body.detail]).toEqual([502, expect.stringContaining(words)]);
});

test('where no hub is configured that is said', async () => {
  const { status, body } = await world.aBareReplica().admin.post(`${HUB}/test`, {});
  expect([status, body.code]).toEqual([409, 'hub_not_configured']);
});

test.each([
  ['svcc_', 'whole'],
  [aKey.slice(0, -1), 'cut short'],
  [aKey.replace('svcc_', 'svcm_'), 'another service’s'],
  [` ${aKey}`, 'with a blank'],
])('a key that is none (%s, %s) is said before anybody is asked', async (api_key) => {
  const { status, body } = await tryHub({ api_key });
  expect([status, body.errors[0].path]).toEqual([400, 'api_key']);
  expect(hub.requests).toEqual([]);
});
