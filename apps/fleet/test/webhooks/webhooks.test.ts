import { randomUUID } from 'node:crypto';
import { MAX_WEBHOOKS } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { statementsOf } from '@svc/database';
import { pruneDeliveries } from '@svc/delivery';
import { eventually, type ReceivedMessage, startWebhookReceiver, verifyMessage } from '@svc/testing';
import { RETRIES, startWebhookWorld, webhooksOf } from './world.ts';

const world = await startWebhookWorld();
const { asAdmin, client, create, record } = world;
const WEBHOOKS = '/api/v1/webhooks';
let running = webhooksOf(world);
running.start();
const receivers: Awaited<ReturnType<typeof startWebhookReceiver>>[] = [];
const receiver = async (answer?: (received: ReceivedMessage) => number) => {
  const started = await startWebhookReceiver(answer);
  receivers.push(started);
  return started;
};

afterEach(() => client.webhook.deleteMany());
afterAll(async () => {
  await running.stop();
  await Promise.all(receivers.map(({ stop }) => stop()));
  await world.stop();
});

const of = (received: readonly ReceivedMessage[], objectId: string) =>
  received.filter(({ data }) => data.id === objectId).map(({ type }) => type);
const listed = async (id: string) =>
  (await asAdmin.get(WEBHOOKS)).body.webhooks.find((webhook: { id: string }) => webhook.id === id);
const deliveries = async (id: string) => {
  const { status, body } = await asAdmin.get(`${WEBHOOKS}/${id}/deliveries`);
  expect(status).toBe(200);
  return body.deliveries;
};

test('a problem and its end are sent in order, signed, with links and without values', async () => {
  const { url, received } = await receiver();
  const events = [
    'deployment.failed',
    'deployment.recovered',
    'deployment.rolled_back',
    'host.unreachable',
    'host.recovered',
  ];
  const { secret } = await create(url, [...events, 'plan.needs_approval']);
  const [deployment, host, plan] = [randomUUID(), randomUUID(), randomUUID()];
  await record('deployments', deployment, 'CrashLoop');
  await record('hosts', host, 'Unreachable');
  await record('deployments', deployment, 'RolledBack');
  await record('hosts', host, 'Recovered');
  await record('deployments', deployment, 'Recovered');
  await record('clusters', randomUUID(), 'Unreachable'); // not requested
  await record('plans', plan, 'NeedsApproval');
  await eventually('all messages have arrived', () => received.length >= 6);
  expect(of(received, deployment)).toEqual(['deployment.failed', 'deployment.rolled_back', 'deployment.recovered']);
  expect(of(received, host)).toEqual(['host.unreachable', 'host.recovered']);
  expect(of(received, plan)).toEqual(['plan.needs_approval']);
  for (const message of received) {
    verifyMessage(secret, message);
    expect(message.text).not.toContain('hunter2');
    expect(Object.keys(message.data).sort()).toEqual(['id', 'kind', 'name', 'path', 'reason', 'url']);
  }
  expect(received.find(({ data }) => data.id === host)?.data).toEqual({
    ...{ kind: 'hosts', id: host, name: `name of ${host}`, reason: 'Unreachable' },
    ...{ path: `/api/v1/hosts/${host}`, url: `https://fleet.example.test/hosts/${host}` },
  });
});

test('the secret is shown once, and its rotation signs with both secrets for 24 hours', async () => {
  const { url, received } = await receiver();
  const { id, secret } = await create(url, ['host.unreachable']);
  expect(JSON.stringify(await listed(id))).not.toContain(secret);
  const { body } = await asAdmin.post(`${WEBHOOKS}/${id}/rotate`);
  const { secret: next, previous_until } = body.webhook;
  expect(Date.parse(previous_until) - Date.now()).toBeGreaterThan(23 * 3_600_000);

  expect((await asAdmin.post(`${WEBHOOKS}/${id}/test`)).status).toBe(201);
  await eventually('the test message has arrived', () => received.length > 0);
  for (const valid of [secret, next]) verifyMessage(valid, received[0] as ReceivedMessage);
  await client.webhook.update({ where: { id }, data: { previous_until: new Date(Date.now() - 1000) } });
  await asAdmin.post(`${WEBHOOKS}/${id}/test`);
  await eventually('the next message has arrived', () => received.length > 1);
  verifyMessage(next, received[1] as ReceivedMessage);
  expect(() => verifyMessage(secret, received[1] as ReceivedMessage)).toThrow('No matching signature found');
});

test('a message that fails is sent again with the same id, and those of its object wait for it while others do not', async () => {
  const [failing, other] = [randomUUID(), randomUUID()];
  let isAccepting = false;
  const { url, received } = await receiver(({ data }) => (data.id === failing && !isAccepting ? 500 : 200));
  await create(url, ['deployment.failed', 'deployment.recovered']);
  await record('deployments', failing, 'CrashLoop');
  await record('deployments', failing, 'Recovered');
  await record('deployments', other, 'CrashLoop');
  await eventually('the other object has arrived', () => of(received, other).length > 0);
  await eventually('the failed message was sent again', () => of(received, failing).length > 1);
  expect(new Set(of(received, failing))).toEqual(new Set(['deployment.failed']));
  isAccepting = true;
  await eventually('the second message has arrived', () => of(received, failing).includes('deployment.recovered'));
  expect(new Set(received.filter(({ data }) => data.id === failing).map(({ id }) => id)).size).toBe(2);
});

test('a webhook is disabled with an event after the last attempt, and sends what waits when it is enabled', async () => {
  let status = 500;
  const { url, received } = await receiver(() => status);
  const { id, name } = await create(url, ['host.unreachable']);
  const host = randomUUID();
  await record('hosts', host, 'Unreachable');
  const disabled = await eventually('the webhook is disabled', async () => {
    const webhook = await listed(id);
    return !webhook.enabled && webhook;
  });
  expect(disabled.disabled_reason).toBe('The last attempt failed. It answered with the status 500.');
  expect(received).toHaveLength(RETRIES.length + 1);
  const { body } = await asAdmin.get('/api/v1/events?reason=WebhookDisabled&resolved=false');
  expect(body.events).toEqual([expect.objectContaining({ object_id: id, name, severity: 'warning' })]);
  const refused = await asAdmin.post(`${WEBHOOKS}/${id}/test`);
  expect([refused.status, refused.body.code]).toEqual([409, 'webhook_disabled']);

  status = 200;
  expect((await asAdmin.put(`${WEBHOOKS}/${id}`, { enabled: true })).body.webhook.enabled).toBe(true);
  await eventually('it was delivered', async () => (await deliveries(id))[0].state === 'delivered');
  expect(new Set(received.map(({ id }) => id)).size).toBe(1);
  expect((await asAdmin.get('/api/v1/events?reason=WebhookDisabled&resolved=false')).body.events).toEqual([]);
});

test('a receiver that answers 410 gets no further message', async () => {
  const { url, received } = await receiver(() => 410);
  const { id } = await create(url, ['host.unreachable']);
  await asAdmin.post(`${WEBHOOKS}/${id}/test`);
  await eventually('the webhook is disabled', async () => !(await listed(id)).enabled);
  expect(received).toHaveLength(1);
});

test('a message is delivered again on request, with the same id', async () => {
  const { url, received } = await receiver();
  const { id } = await create(url, ['host.unreachable']);
  await record('hosts', randomUUID(), 'Unreachable');
  await eventually('it was delivered', async () => (await deliveries(id))[0]?.state === 'delivered');
  const [first] = await deliveries(id);
  expect(first).toMatchObject({ event: 'host.unreachable', attempts: 1, status: 204, message_id: received[0]?.id });
  const { status } = await asAdmin.post(`${WEBHOOKS}/${id}/deliveries/${first.id}/redeliver`);
  expect(status).toBe(200);
  await eventually('it has arrived again', () => received.length === 2);
  expect(received[1]?.id).toBe(received[0]?.id);
  const { id: another } = await create(url, ['host.unreachable']);
  expect((await asAdmin.post(`${WEBHOOKS}/${another}/deliveries/${first.id}/redeliver`)).status).toBe(404);
});

test('no message is sent with former rights', async () => {
  const { url, received } = await receiver();
  const expiring = await world.aToken({ role: 'admin', expires_at: new Date(Date.now() + 3_600_000) });
  const removed = await world.aUser('admin');
  await world.aUser('admin'); // so that the removed user is not the last admin
  const token = await asAdmin.post('/api/v1/tokens', { name: 'of a program', role: 'admin' });
  const asProgram = world.api(`Bearer ${token.body.token.secret}`);
  const ofRemoved = await create(url, ['host.unreachable'], await removed.api());
  const ofProgram = await create(url, ['host.unreachable'], asProgram);
  const ofExpired = await create(url, ['host.unreachable'], world.as(expiring));
  await client.token.update({ where: { id: expiring.id }, data: { expires_at: new Date(Date.now() - 1000) } });

  expect((await asAdmin.delete(`/api/v1/users/${removed.id}`)).status).toBe(204);
  expect((await asAdmin.delete(`/api/v1/tokens/${token.body.token.id}`)).status).toBe(200);
  await record('hosts', randomUUID(), 'Unreachable');
  for (const { id } of [ofRemoved, ofProgram])
    expect(await listed(id)).toMatchObject({
      enabled: false,
      disabled_reason: 'Its creator has lost the right to it.',
    });
  await eventually('the message is withheld', async () => (await deliveries(ofExpired.id))[0]?.state === 'withheld');
  expect(received).toEqual([]);

  // Another admin takes a webhook over.
  await asAdmin.put(`${WEBHOOKS}/${ofRemoved.id}`, { enabled: true });
  await record('hosts', randomUUID(), 'Unreachable');
  await eventually('the message has arrived', () => received.length === 1);
});

test('addresses that are not allowed are refused, at creation and when a message is sent, and no redirect is followed', async () => {
  const given = { name: 'a webhook', events: ['host.unreachable'] };
  const strict = world
    .aReplica({ outboundAllow: new Set() })
    .api(`Bearer ${(await world.aToken({ role: 'admin' })).secret}`);
  const { url, received } = await receiver(() => 302);
  for (const refused of [
    url,
    'http://10.0.0.1/',
    'https://169.254.169.254/latest',
    'https://user@example.com/',
    'ftp://example.com/',
  ]) {
    const { status, body } = await strict.post(WEBHOOKS, { ...given, url: refused });
    expect([status, body.errors?.[0].path]).toEqual([400, 'url']);
  }
  const { id } = await create(url, given.events);
  await asAdmin.post(`${WEBHOOKS}/${id}/test`);
  await eventually('the redirect is a failure', async () => (await deliveries(id))[0]?.status === 302);
  expect(received.map(({ headers }) => headers.host)).toEqual(received.map(() => new URL(url).host));

  await running.stop();
  running = webhooksOf(world, { allow: [] });
  running.start();
  await client.webhook.deleteMany();
  const { id: other } = await create(url, given.events);
  const before = received.length;
  await asAdmin.post(`${WEBHOOKS}/${other}/test`);
  const [failed] = await eventually('the attempt failed', async () => {
    const found = await deliveries(other);
    return found[0]?.failure && found;
  });
  expect(failed).toMatchObject({ status: null, failure: expect.stringContaining('OUTBOUND_ALLOW') });
  expect(received).toHaveLength(before);
  await running.stop();
  running = webhooksOf(world);
  running.start();
});

test('events of a time without replicas are sent, also if the history of changes has ended, and none twice', async () => {
  const { url, received } = await receiver();
  const { id } = await create(url, ['host.unreachable']);
  const [before, meanwhile, after] = [randomUUID(), randomUUID(), randomUUID()];
  await record('hosts', before, 'Unreachable');
  await eventually('the first message has arrived', () => received.length === 1);
  await running.stop();
  await record('hosts', meanwhile, 'Unreachable');
  await client.$executeRaw`DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)`;
  running = webhooksOf(world);
  const another = webhooksOf(world);
  running.start();
  another.start();
  await record('hosts', after, 'Unreachable');
  await eventually('all messages have arrived', () => received.length === 3);
  await eventually('all are recorded', async () =>
    (await deliveries(id)).every(({ state }: { state: string }) => state === 'delivered'),
  );
  await another.stop();
  expect(received.map(({ data }) => data.id).sort()).toEqual([before, meanwhile, after].sort());
});

test('the numbers of webhooks and of their deliveries are bounded', async () => {
  const { url } = await receiver();
  const { id } = await create(url, ['host.unreachable']);
  for (let sent = 0; sent < 3; sent += 1) await asAdmin.post(`${WEBHOOKS}/${id}/test`);
  await eventually('all were delivered', async () =>
    (await deliveries(id)).every(({ state }: { state: string }) => state === 'delivered'),
  );
  const { signal } = new AbortController();
  const bounds = { query: statementsOf(client), disable: async () => undefined };
  await pruneDeliveries({ ...bounds, maxRows: 2 }, signal);
  expect(await deliveries(id)).toHaveLength(2);
  await client.$executeRaw`UPDATE webhook_deliveries SET created_at = now() - interval '8 days'`;
  await pruneDeliveries(bounds, signal);
  expect(await deliveries(id)).toEqual([]);

  for (let more = 1; more < MAX_WEBHOOKS; more += 1) await create(url, ['host.unreachable']);
  const { status, body } = await asAdmin.post(WEBHOOKS, { name: 'one more', url, events: ['host.unreachable'] });
  expect([status, body.code]).toEqual([409, 'too_many_webhooks']);
  expect(fleetEndpoints.listWebhooks.reply.parse((await asAdmin.get(WEBHOOKS)).body).webhooks).toHaveLength(
    MAX_WEBHOOKS,
  );
});
