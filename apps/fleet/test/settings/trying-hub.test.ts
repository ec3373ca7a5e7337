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

test('the test of a working hub returns the organization of the key', async () => {
  expect(await tryHub()).toMatchObject({ status: 200, body: { organization: hub.organization() } });
  const next = { url: nextHub.url, api_key: nextHub.key };
  expect(await tryHub(next)).toMatchObject({ status: 200, body: { organization: nextHub.organization() } });
  expect(keysAt(hub)).toEqual([hub.key]);
  expect(keysAt(nextHub)).toEqual([nextHub.key]);
});

test('the test of a hub stores and changes nothing', async () => {
  await tryHub({ url: nextHub.url, api_key: nextHub.key, sync_interval: 9 });
  expect(await sql.setting.count()).toBe(0);
  expect((await other.admin.get(HUB)).body.url).toBe(hub.url);
  const state = (await other.admin.get('/api/v1/catalog/sync')).body;
  expect(state).toMatchObject({ hub_url: hub.url, status: 'never_synced' });
});

test.each([
  ['drops the connection', closeConnection, 'does not respond'],
  ['closes the connection in the middle of its response', breakOff, 'does not respond'],
  ['sends an endless response', neverEnd, 'does not respond'],
  ['answers HTML', send(200, 'text/html', `<html>${leaking}</html>`), 'not a catalog'],
  ['answers something else', sendChanged(() => ({ organization: { name: leaking } })), 'not a catalog'],
  ['redirects', send(302, 'text/plain', leaking, { Location: 'https://elsewhere.example.test' }), 'redirect (302)'],
  ['has suspended the organization', refuse('organization_suspended', leaking), 'suspended'],
  ['fails', send(500, 'text/plain', leaking), 'responded with 500'],
  ['does not know the path', refuse('not_found', leaking), 'responded with 404'],
])('the test of a hub reports a hub that %s', async (_, behaviour, words) => {
  hub.behave(behaviour, 'organization');
  const { status, body, text } = await tryHub();
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: 502,
    code: 'hub_unreachable',
    detail: expect.stringContaining(words),
  });
  expect(text).not.toContain(leaking);
  expect(text).not.toContain(hub.key);
});

test('the test of a hub reports a hub that does not answer in time', async () => {
  hub.behave(neverAnswer, 'organization');
  const { status, body } = await tryHub({}, world.aReplica({ outboundTimeoutMs: SHORT_TIMEOUT_MS }));
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: 502,
    code: 'hub_unreachable',
    detail: expect.stringContaining('does not respond'),
  });
});

test('the test of a hub reports a key that the hub rejects', async () => {
  const { status, body } = await tryHub({ api_key: aKey });
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: 502,
    code: 'hub_unreachable',
    detail: 'The hub refused the API key (401): it is wrong, expired or revoked.',
  });
});

test.each([
  ['has no listener', 'http://127.0.0.1:1', 'does not respond'],
  ['cannot be resolved', 'http://hub.invalid', 'does not respond'],
  ['belongs to another service', issuer.url, 'responded with 404'],
])('the test of a hub reports an address that %s', async (_, url, words) => {
  const { status, body } = await tryHub({ url, api_key: aKey });
  expect({ status, detail: body.detail }).toEqual({ status: 502, detail: expect.stringContaining(words) });
});

test('the test of a hub reports that no hub is configured', async () => {
  const { status, body } = await world.aBareReplica().admin.post(`${HUB}/test`, {});
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'hub_not_configured' });
});

test.each([
  ['svcc_', 'whole'],
  [aKey.slice(0, -1), 'cut short'],
  [aKey.replace('svcc_', 'svcm_'), 'another service’s'],
  [` ${aKey}`, 'with a blank'],
])('the test of a hub rejects an invalid key (%s, %s) without a request', async (api_key) => {
  const { status, body } = await tryHub({ api_key });
  expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'api_key' });
  expect(hub.requests).toEqual([]);
});
