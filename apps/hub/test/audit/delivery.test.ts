import { setTimeout as pause } from 'node:timers/promises';
import { byDepth, eventually } from '@svc/testing';
import { entriesOf, insert, startDeliveryWorld } from './world.ts';

const world = await startDeliveryWorld();
afterEach(() => world.reset());
afterAll(() => world.stop());

/** Resolves when the delivery has stored its first position: it delivers what is recorded from then on. */
const hasBegun = () =>
  eventually('the delivery has begun', () => world.database.client.delivery.count(), { until: (count) => count === 1 });

const ENTRIES = byDepth({ short: 100, full: 2000, long: 10_000 });
const ACTORS = 4;

test('entries of several actors arrive, and in order per actor, although the receiver and the process are killed', async () => {
  let receiver = await world.aReceiver();
  const { port } = receiver;
  let delivery = world.aDelivery({ receiver });
  await hasBegun();
  const clients = await Promise.all(Array.from({ length: ACTORS }, () => world.aConnection()));
  const write = (from: number, to: number) =>
    Promise.all(
      clients.map(async (client, actor) => {
        for (let number = from; number <= to; number += 1) {
          await client.query('BEGIN');
          await insert(client, `actor ${actor}`, number);
          await client.query('COMMIT');
        }
      }),
    );
  const half = Math.floor(ENTRIES / ACTORS / 2);
  const begun = write(1, half);
  const messages: string[] = [];
  const arrivedAt = async (count: number) => {
    await eventually('entries arrive', () => receiver.messages.length, { until: (length) => length >= count });
    messages.push(...receiver.messages);
  };
  await arrivedAt(1);
  await receiver.stop();
  receiver = await world.aReceiver({ port });
  await begun;
  const written = write(half + 1, ENTRIES / ACTORS);
  await arrivedAt(1);
  await delivery.kill();
  const known = receiver.messages.length;
  delivery = world.aDelivery({ receiver });
  await written;
  await eventually('all entries are delivered', () => delivery.lag(), { until: (lag) => lag === 0 });
  messages.push(...receiver.messages.slice(known));

  const first = new Map(entriesOf(messages).map((entry) => [entry.id, entry]));
  const numbersOf = (actor: number) =>
    [...first.values()].filter(({ email }) => email === `actor ${actor}`).map(({ request_id }) => Number(request_id));
  for (let actor = 0; actor < ACTORS; actor += 1)
    expect(numbersOf(actor)).toEqual(Array.from({ length: ENTRIES / ACTORS }, (_, index) => index + 1));
});

test('an entry whose transaction commits late is delivered before the entries that were recorded after it', async () => {
  const receiver = await world.aReceiver();
  const delivery = world.aDelivery({ receiver });
  await hasBegun();
  const [late, other] = [await world.aConnection(), await world.aConnection()];
  await late.query('BEGIN');
  await insert(late, 'late');
  await insert(other, 'other');
  const leases = () => world.database.client.delivery.count({ where: { lease_owner: { not: null } } });
  await eventually('the delivery has found the later entry', leases, { until: (count) => count === 1 });
  await pause(100); // the delivery must not continue meanwhile
  expect(delivery.reads).toEqual([]);
  await late.query('COMMIT');
  await eventually('both arrive', () => receiver.messages.length, { until: (length) => length === 2 });
  expect(entriesOf(receiver.messages).map(({ email }) => email)).toEqual(['late', 'other']);
});

test('of two replicas, one delivers at a time, and the other one continues when it stops', async () => {
  const receiver = await world.aReceiver();
  const timings = { lease: 600_000 };
  const replicas = [world.aDelivery({ receiver, timings }), world.aDelivery({ receiver, timings })];
  await hasBegun();
  const client = await world.aConnection();
  const deliver = async (count: number) => {
    for (let number = 1; number <= count; number += 1) await insert(client, 'actor', number);
    await eventually('all entries are delivered', () => replicas[0]?.lag(), { until: (lag) => lag === 0 });
  };
  const delivers = () => replicas.map(({ reads }) => reads.length > 0);
  await deliver(40);
  const [first] = delivers();
  expect(delivers()).toEqual([first, !first]);
  await replicas[first ? 0 : 1]?.stop();
  await deliver(40);
  expect(delivers()).toEqual([true, true]);
  expect(receiver.mostSenders()).toBe(1);
  expect(receiver.messages).toHaveLength(80);
});

test('while a receiver does not read, only one batch is in memory, and batches have at most 500 entries and 512 KiB', async () => {
  const silent = await world.aReceiver({ onConnection: (socket) => socket.pause() });
  const { port } = silent;
  const delivery = world.aDelivery({ receiver: silent, timings: { send: 300 } });
  await hasBegun();
  const client = await world.aConnection();
  const many = 1200;
  await client.query(
    `INSERT INTO audit_entries (id, email, method, path, status, request_id)
     SELECT gen_random_uuid(), 'actor', 'PUT', '/' || repeat('a', CASE WHEN n <= 600 THEN 1000 ELSE 5 END), 200, n::text
     FROM generate_series(1, $1::int) n`,
    [many],
  );
  await eventually('two attempts fail', () => delivery.health(), {
    until: ({ state }) => state === 'degraded' && delivery.reads.length >= 2,
  });
  expect(Math.max(...delivery.reads)).toBe(500);
  // Each attempt begins with the same entries: nothing is collected meanwhile.
  expect(new Set(delivery.reads)).toEqual(new Set([500]));
  expect((await delivery.health()).detail).toBe('The syslog receiver does not respond in time.');
  await silent.stop();
  const receiver = await world.aReceiver({ port });
  await eventually('all entries arrive', () => delivery.lag(), { until: (lag) => lag === 0 });
  expect(new Set(entriesOf(receiver.messages).map(({ request_id }) => request_id)).size).toBe(many);
  const sizes = receiver.batches.map(({ messages }) => messages);
  expect(Math.max(...sizes)).toBe(500); // of the short ones
  expect(sizes[0]).toBeLessThan(500); // of the long ones, which fill 512 KiB before
  expect(Math.max(...receiver.batches.map(({ bytes }) => bytes))).toBeLessThanOrEqual(512 * 1024);
});

test('a receiver with a certificate of an unknown authority is named as the cause, and receives nothing until it is trusted', async () => {
  const receiver = await world.aReceiver();
  const delivery = world.aDelivery({ receiver, ca: world.pem(world.stranger.certificate) });
  await hasBegun();
  await insert(await world.aConnection(), 'actor');
  await eventually('the delivery fails', () => delivery.health(), { until: ({ state }) => state === 'degraded' });
  expect(await delivery.health()).toEqual({
    name: 'audit delivery',
    state: 'degraded',
    detail:
      'The TLS connection to the syslog receiver cannot be established. Its certificate is not signed by an authority that this service trusts. Set AUDIT_DELIVERY_CA_FILE to a file with the certificate of the authority.',
  });
  expect(await delivery.lag()).toBeGreaterThan(0);
  expect(receiver.messages).toEqual([]);
  await delivery.stop();
  const corrected = world.aDelivery({ receiver });
  await eventually('the entry arrives', () => receiver.messages.length === 1);
  await eventually('the delivery succeeds', () => corrected.health(), { until: ({ state }) => state === 'ok' });
});
