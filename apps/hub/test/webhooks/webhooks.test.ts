import { MAX_WEBHOOKS } from '@svc/contract';
import { createSealer, statementsOf } from '@svc/database';
import { pruneDeliveries } from '@svc/delivery';
import { eventually, verifyMessage } from '@svc/testing';
import { rotateKeys } from '../../src/commands/rotate-keys.ts';
import { encryptionOf } from '../../src/database/encryption.ts';
import { createKeys } from '../../src/webhooks/keys.ts';
import { anInstance, testKey, testSealer } from '../world.ts';
import { PUBLIC_URL, RETRIES, type Received, startWebhooks, startWebhookWorld, WEBHOOKS } from './world.ts';

const world = await startWebhookWorld();
const { admin, create, request, decline, listed, deliveries, receiver } = world;
const { client } = world.database;
let running = startWebhooks(world.database);

afterEach(() => world.clear());
afterAll(async () => {
  await running.stop();
  await world.stop();
});

const of = (received: readonly Received[], id: string) =>
  received.filter(({ data }) => data.id === id).map(({ type }) => type);

test('a request for access and its decision are sent in order, signed, with links and without texts of persons', async () => {
  const { url, received } = await receiver();
  const { secret } = await create(url, ['access.requested', 'access.decided']);
  const category = await world.aCategory({ is_private: true });
  const [granted, declined] = [await request(category.slug), await request('does-not-exist')];
  await decline(declined);
  const grant = { status: 'granted', answer: 'hunter2', category: { id: category.id, version: 1 } };
  expect((await admin.put(`/api/v1/admin/access-requests/${granted}`, grant)).status).toBe(200);
  await eventually('all messages have arrived', () => received.length >= 4);
  for (const id of [granted, declined]) expect(of(received, id)).toEqual(['access.requested', 'access.decided']);
  expect(received.filter(({ data }) => data.id === granted).map(({ data }) => data.status)).toEqual([
    'open',
    'granted',
  ]);
  for (const message of received) {
    verifyMessage(secret, message);
    expect(message.text).not.toMatch(/hunter2|@example/);
  }
  expect(received.find(({ type, data }) => type === 'access.decided' && data.id === declined)?.data).toEqual({
    ...{ kind: 'access-requests', id: declined, org_name: 'acme', org_slug: 'acme' },
    ...{ category_slug: 'does-not-exist', template_slug: null, status: 'declined' },
    ...{ path: '/api/v1/admin/access-requests', url: `${PUBLIC_URL}/admin/access?tab=requests` },
  });
});

test('a request that exists already, and a decision that is rejected, send no message', async () => {
  const { url } = await receiver();
  const { id } = await create(url, ['access.requested', 'access.decided']);
  const requested = await request('twice');
  const again = await world.member.post('/api/v1/account/access-requests', { category_slug: 'twice' });
  expect([again.status, again.body.request.id]).toEqual([200, requested]);
  const path = `/api/v1/admin/access-requests/${requested}`;
  expect((await admin.put(path, { status: 'granted' })).body.code).toBe('unknown_category');
  await decline(requested);
  expect((await admin.put(path, { status: 'declined' })).body.code).toBe('already_decided');
  expect((await deliveries(id)).map(({ event }) => event)).toEqual(['access.decided', 'access.requested']);
});

test('the secret is shown once, and its rotation signs with both secrets for 24 hours', async () => {
  const { url, received } = await receiver();
  const { id, secret } = await create(url);
  expect(JSON.stringify(await listed(id))).not.toContain(secret);
  const { body } = await admin.post(`${WEBHOOKS}/${id}/rotate`);
  const { secret: next, previous_until } = body.webhook;
  expect(Date.parse(previous_until) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  const sendTest = () => admin.post(`${WEBHOOKS}/${id}/test`);
  expect((await sendTest()).status).toBe(201);
  const first = await eventually('the test message has arrived', () => received[0]);
  expect(first.type).toBe('webhook.test');
  for (const valid of [secret, next]) verifyMessage(valid, first);
  await client.webhook.update({ where: { id }, data: { previous_until: new Date(Date.now() - 1000) } });
  await sendTest();
  const second = await eventually('the next message has arrived', () => received[1]);
  verifyMessage(next, second);
  expect(() => verifyMessage(secret, second)).toThrow('No matching signature found');
});

test('a message that fails is sent again with the same id, and that of its decision waits while others do not', async () => {
  let failing = '';
  let isAccepting = false;
  const { url, received } = await receiver(({ data }) => (data.id === failing && !isAccepting ? 500 : 200));
  const { id } = await create(url, ['access.requested', 'access.decided']);
  await client.webhook.update({ where: { id }, data: { retry_at: new Date(Date.now() + 3_600_000) } });
  failing = await request();
  await decline(failing);
  const other = await request();
  await client.webhook.update({ where: { id }, data: { retry_at: null } });
  await eventually('the other request has arrived', () => of(received, other).length > 0);
  await eventually('the failed message was sent again', () => of(received, failing).length > 1);
  expect(new Set(of(received, failing))).toEqual(new Set(['access.requested']));
  isAccepting = true;
  await eventually('the decision has arrived', () => of(received, failing).includes('access.decided'));
  expect(new Set(received.filter(({ data }) => data.id === failing).map((message) => message.id)).size).toBe(2);
});

test('a webhook is disabled after the last attempt, sends what waits when it is enabled, and a message again on request', async () => {
  let status = 500;
  const { url, received } = await receiver(() => status);
  const { id } = await create(url);
  await request();
  await eventually('the webhook is disabled', async () => !(await listed(id)).enabled);
  expect((await listed(id)).disabled_reason).toBe('The last attempt failed. It answered with the status 500.');
  expect(received).toHaveLength(RETRIES.length + 1);
  const refused = await admin.post(`${WEBHOOKS}/${id}/test`);
  expect([refused.status, refused.body.code]).toEqual([409, 'webhook_disabled']);

  status = 200;
  expect((await admin.put(`${WEBHOOKS}/${id}`, { enabled: true })).body.webhook.enabled).toBe(true);
  await eventually('it was delivered', async () => (await deliveries(id))[0]?.state === 'delivered');
  const [sent] = await deliveries(id);
  expect((await admin.post(`${WEBHOOKS}/${id}/deliveries/${sent?.id}/redeliver`)).status).toBe(200);
  await eventually('it has arrived again', () => received.length === RETRIES.length + 3);
  expect(new Set(received.map((message) => message.id))).toEqual(new Set([sent?.message_id]));
});

test('an administrator who is demoted or blocked loses the webhooks, and another one who enables them becomes the creator', async () => {
  const { url, received } = await receiver();
  const demoted = await world.aUser('admin');
  const blocked = await world.aUser('admin');
  const profile = async (of: typeof admin) => (await of.get('/api/v1/account/profile')).body.profile;
  const former = [
    { id: (await profile(demoted)).id, change: { role: 'user' }, webhook: await create(url, undefined, demoted) },
    { id: (await profile(blocked)).id, change: { blocked: true }, webhook: await create(url, undefined, blocked) },
  ];
  for (const { id, change } of former) {
    expect((await admin.put(`/api/v1/admin/users?id=${id}`, change)).status).toBe(200);
  }
  await request();
  for (const { webhook } of former) {
    const disabled_reason = 'Its creator has lost the right to it.';
    expect(await listed(webhook.id)).toMatchObject({ enabled: false, disabled_reason });
    expect(await deliveries(webhook.id)).toEqual([]);
  }
  const [taken] = former.map(({ webhook }) => webhook);
  const { email } = await profile(admin);
  expect((await admin.put(`${WEBHOOKS}/${taken?.id}`, { enabled: true })).body.webhook.created_by).toBe(email);
  const id = await request();
  await eventually('the message has arrived', () => received.length > 0);
  expect(received.map(({ data }) => data.id)).toEqual([id]);
});

test('a webhook whose creator was demoted by an earlier version is disabled before a message is sent', async () => {
  const { url, received } = await receiver();
  const creator = await world.aUser('admin');
  const { id } = await create(url, undefined, creator);
  const { email } = (await creator.get('/api/v1/account/profile')).body.profile;
  await client.user.updateMany({ where: { email }, data: { role: 'user' } });
  await request();
  await eventually('the message is withheld', async () => (await deliveries(id))[0]?.state === 'withheld');
  expect(await listed(id)).toMatchObject({ enabled: false, disabled_reason: 'Its creator has lost the right to it.' });
  expect(received).toEqual([]);
});

test('addresses that are not allowed are refused, at creation and when a message is sent, and no redirect is followed', async () => {
  const strict = anInstance(world.databaseUrl, world.issuer, { outboundAllow: [] });
  const asAdmin = strict.api(await world.anAuthorization('admin'));
  const { url, received } = await receiver(() => 302);
  const given = { name: 'a webhook', events: ['access.requested'] };
  for (const refused of [url, 'http://10.0.0.1/', 'https://169.254.169.254/latest', 'https://user@example.com/']) {
    const { status, body } = await asAdmin.post(WEBHOOKS, { ...given, url: refused });
    expect([status, body.errors?.[0].path]).toEqual([400, 'url']);
  }
  await strict.stop();
  const { id } = await create(url);
  await admin.post(`${WEBHOOKS}/${id}/test`);
  await eventually('the redirect is a failure', async () => (await deliveries(id))[0]?.status === 302);
  expect(received.map(({ headers }) => headers.host)).toEqual(received.map(() => new URL(url).host));

  await running.stop();
  running = startWebhooks(world.database, { allow: [], sealer: testSealer });
  await client.webhook.deleteMany();
  const { id: other } = await create(url);
  const before = received.length;
  await admin.post(`${WEBHOOKS}/${other}/test`);
  await eventually('the attempt failed', async () => (await deliveries(other))[0]?.failure);
  expect((await deliveries(other))[0]).toMatchObject({
    status: null,
    failure: expect.stringContaining('OUTBOUND_ALLOW'),
  });
  expect(received).toHaveLength(before);
  await running.stop();
  running = startWebhooks(world.database);
});

test('a hub without encryption keys refuses to create a webhook, and keeps messages until it has them', async () => {
  const { url, received } = await receiver();
  const { id } = await create(url);
  await running.stop();
  running = startWebhooks(world.database, { sealer: undefined });
  const without = anInstance(world.databaseUrl, world.issuer, { sealer: null });
  const asAdmin = without.api(await world.anAuthorization('admin'));
  const refused = [
    await asAdmin.post(WEBHOOKS, { name: 'another', url, events: ['access.requested'] }),
    await asAdmin.post(`${WEBHOOKS}/${id}/rotate`),
  ];
  for (const { status, body } of refused) {
    expect([status, body.code]).toEqual([409, 'encryption_not_configured']);
    expect(body.detail).toContain('ENCRYPTION_KEYS');
  }
  await without.stop();
  await request();
  expect((await deliveries(id)).map(({ state }) => state)).toEqual(['pending']);
  expect(await createKeys(world.database, undefined).health()).toMatchObject([{ state: 'degraded' }]);
  const other = createSealer([{ kid: 'other', key: new Uint8Array(32) }]);
  expect(await createKeys(world.database, other).health()).toMatchObject([{ state: 'degraded' }]);
  await expect(createKeys(world.database, other).sealer()).rejects.toThrow('ENCRYPTION_KEYS has no key "test"');

  await running.stop();
  running = startWebhooks(world.database);
  await eventually('the message has arrived', () => received.length > 0);
});

test('a rotation of the encryption keys seals the secrets with the new key, and the former one is no longer needed', async () => {
  const { url, received } = await receiver();
  const { id, secret } = await create(url);
  const next = { kid: 'next', key: new Uint8Array(32).fill(7) };
  expect(await rotateKeys(world.database, createSealer([next, testKey]))).toEqual([
    expect.stringContaining('encryption_canary.sealed'),
    'webhooks.sealed: 1 sealed with next',
  ]);
  expect(await encryptionOf(world.database).keysInUse()).toEqual(['next']);
  expect(await client.auditEntry.count({ where: { method: 'COMMAND', path: 'rotate-keys' } })).toBe(1);
  await running.stop();
  running = startWebhooks(world.database, { sealer: createSealer([next]) });
  await admin.post(`${WEBHOOKS}/${id}/test`);
  verifyMessage(secret, await eventually('the message has arrived', () => received[0]));
  await running.stop();
  await client.webhook.deleteMany();
  await client.encryptionCanary.deleteMany();
  running = startWebhooks(world.database);
});

test('a secret whose encryption key is lost can be replaced, and has no signature any longer', async () => {
  const { url, received } = await receiver();
  const { id } = await create(url);
  const lost = createSealer([{ kid: 'lost', key: new Uint8Array(32) }]);
  const sealed = await lost.seal({ table: 'webhooks', column: 'sealed', row: id }, '{}');
  await client.webhook.update({ where: { id }, data: { sealed } });
  const { status, body } = await admin.post(`${WEBHOOKS}/${id}/rotate`);
  expect([status, body.webhook.previous_until]).toEqual([200, null]);
  await admin.post(`${WEBHOOKS}/${id}/test`);
  const message = await eventually('the message has arrived', () => received[0]);
  verifyMessage(body.webhook.secret, message);
  expect(message.signature.split(' ')).toHaveLength(1);
});

test('the numbers of webhooks and of their deliveries are bounded', async () => {
  const { url } = await receiver();
  const { id } = await create(url);
  for (let sent = 0; sent < 3; sent += 1) await admin.post(`${WEBHOOKS}/${id}/test`);
  await eventually('all were delivered', async () =>
    (await deliveries(id)).every(({ state }) => state === 'delivered'),
  );
  const bounds = { query: statementsOf(client), disable: async () => undefined };
  await pruneDeliveries({ ...bounds, maxRows: 2 }, new AbortController().signal);
  expect(await deliveries(id)).toHaveLength(2);
  await client.$executeRaw`UPDATE webhook_deliveries SET created_at = now() - interval '8 days'`;
  await pruneDeliveries(bounds, new AbortController().signal);
  expect(await deliveries(id)).toEqual([]);

  for (let more = 1; more < MAX_WEBHOOKS; more += 1) await create(url);
  const given = { name: 'one more', url, events: ['access.requested'] };
  const { status, body } = await admin.post(WEBHOOKS, given);
  expect([status, body.code]).toEqual([409, 'too_many_webhooks']);
  expect((await admin.delete(`${WEBHOOKS}/${id}`)).status).toBe(204);
  expect((await admin.post(WEBHOOKS, given)).status).toBe(201);
  expect((await admin.post(WEBHOOKS, given)).body.code).toBe('too_many_webhooks');
  await client.webhook.deleteMany({ where: { name: { not: 'one more' } } });
  expect((await admin.post(WEBHOOKS, given)).body.code).toBe('name_taken');
});

test('only administrators reach webhooks, and a message that is not known is not found', async () => {
  const { url } = await receiver();
  const { id } = await create(url);
  for (const caller of [world.member, world.as(world.organization), world.anonymous]) {
    expect([401, 403]).toContain((await caller.get(WEBHOOKS)).status);
    expect([401, 403]).toContain((await caller.post(`${WEBHOOKS}/${id}/test`)).status);
  }
  const absent = '00000000-0000-4000-8000-000000000000';
  for (const missing of [`${absent}/deliveries`, 'x/deliveries'])
    expect((await admin.get(`${WEBHOOKS}/${missing}`)).status).toBe(404);
  expect((await admin.post(`${WEBHOOKS}/${id}/deliveries/${absent}/redeliver`)).status).toBe(404);
});
