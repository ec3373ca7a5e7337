import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createPlaces } from '@svc/http';
import { eventually } from '@svc/testing';
import { pruneChanges } from '../../src/changes/history.ts';
import { createOutbox } from '../../src/changes/outbox.ts';
import { startWorld } from '../world.ts';
import { listenFor } from './client.ts';
import { observeSubscriptions } from './subscriptions.ts';

const world = await startWorld({ feedTimings: { interval: 20, heartbeat: 200 } });
const { client } = world.database;
const subscriptions = observeSubscriptions(world.services.changes);
const fleet = await listenFor(world.app);
const token = await world.aToken();
afterAll(async () => {
  fleet.close();
  await world.stop();
});

let count = 0;
const aVolume = async (given: object = {}) => {
  const volume = { size: '1Gi', access_mode: 'ReadWriteOnce', reclaim: 'retain', created_by: 'test' } as const;
  return client.volume.create({ data: { name: `volume-${++count}`, ...volume, ...given } });
};

test('an event has the object as in its list, and of a deleted object only the id', async () => {
  const watch = await fleet.watch(token.secret);
  const { body } = await world.asOperator.post('/api/v1/storage', { name: 'data', size: '1Gi' });
  const { id } = body.storage;
  const [created] = await watch.ofObject(id);
  const list = await world.asViewer.get('/api/v1/storage?search=data');
  expect(created?.data).toEqual({ operation: 'put', kind: 'storage', id, object: list.body.storage[0] });
  await world.asOperator.delete(`/api/v1/storage/${id}`);
  const [, deleted] = await watch.ofObject(id, 2);
  expect(deleted?.data).toEqual({ operation: 'deleted', kind: 'storage', id, object: null });
  watch.end();
});

test('proxies must not store, compress or buffer a stream', async () => {
  const { answer } = await fleet.watch(token.secret);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  answer.destroy();
});

test('the events of the API contain no value of a secret', async () => {
  const watch = await fleet.watch(token.secret, 'kinds=secrets,users,tokens,hosts,workloads');
  const canary = 'canary-of-the-watched-secret';
  const secret = await world.asAdmin.post('/api/v1/secrets', { name: 'watched', values: { key: canary } });
  const issued = await world.asAdmin.post('/api/v1/tokens', { name: 'watched', role: 'viewer' });
  const user = await world.aUser('viewer');
  await watch.ofObject(secret.body.secret.id);
  await watch.ofObject(issued.body.token.id);
  await watch.ofObject(user.id);
  const text = JSON.stringify(watch.received);
  for (const hidden of [canary, issued.body.token.secret, user.password_hash ?? canary, 'password_hash', 'sealed']) {
    expect(text).not.toContain(hidden);
  }
  watch.end();
});

test('a stream has only the requested lists, or only the requested object', async () => {
  const one = await aVolume();
  const other = await aVolume();
  const storage = await fleet.watch(token.secret, 'kinds=storage');
  const object = await fleet.watch(token.secret, `kinds=storage,hosts&id=${other.id}`);
  await world.aToken();
  for (const { id } of [one, other]) await client.volume.update({ where: { id }, data: { phase: 'bound' } });
  await object.ofObject(other.id);
  await storage.ofObject(other.id);
  expect(storage.objects).toEqual([`storage ${one.id}`, `storage ${other.id}`]);
  expect(object.objects).toEqual([`storage ${other.id}`]);
  for (const watch of [storage, object]) watch.end();
});

test.each([
  ['kinds=storage,audit', 'kinds'],
  ['kinds=', 'kinds'],
  ['id=1', 'id'],
  ['page=1', 'page'],
])('a stream with %s is a 400 that names the parameter', async (query, path) => {
  const { status, body } = await world.asViewer.get(`/api/v1/changes?${query}`);
  expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path });
});

test('a position that was pruned, and text that is none, are answered with reset; then the stream continues', async () => {
  const open = await fleet.watch(token.secret, 'kinds=storage');
  const old = open.position;
  for (let nth = 0; nth < 2; nth += 1) await aVolume();
  const newest = await aVolume();
  await open.ofObject(newest.id); // the feed is at the position that stays
  expect(await pruneChanges(world.database, AbortSignal.timeout(60_000), 1)).toBeGreaterThan(0);
  expect(await client.change.count()).toBe(1);
  for (const after of [old, '1-1', 'text', '999999999999999999-1']) {
    const watch = await fleet.watch(token.secret, `kinds=storage&after=${encodeURIComponent(after)}`);
    const { id } = await aVolume();
    await watch.ofObject(id);
    expect(watch.received[0]).toMatchObject({ event: 'reset', id: expect.stringMatching(/^\d+-\d+$/) });
    expect(watch.objects).toEqual([`storage ${id}`]);
    watch.end();
  }
  open.end();
});

test('changes older than a day are deleted, except the newest one', async () => {
  await aVolume();
  await client.change.updateMany({ data: { at: new Date(Date.now() - 25 * 3_600_000) } });
  await pruneChanges(world.database, AbortSignal.timeout(60_000));
  expect(await client.change.count()).toBe(1);
  await aVolume();
  await pruneChanges(world.database, AbortSignal.timeout(60_000));
  expect(await client.change.count()).toBe(1);
});

test('an idle stream receives signs of life, and positions of other changes with which it can continue', async () => {
  const watch = await fleet.watch(token.secret, 'kinds=hosts');
  const first = watch.position;
  await watch.until('the stream has a sign of life', ({ received }) => received.some(({ event }) => event === 'alive'));
  await aVolume();
  await watch.until('the stream has a later position', ({ position }) => position !== first);
  expect(watch.changes).toEqual([]);
  const { position } = watch;
  watch.end();
  const continued = await fleet.watch(token.secret, `kinds=hosts,storage&after=${position}`);
  const { id } = await aVolume();
  await continued.ofObject(id);
  expect(continued.objects).toEqual([`storage ${id}`]);
  continued.end();
});

test('an object that is not valid resets the streams and does not stop them', async () => {
  const watch = await fleet.watch(token.secret);
  const { id } = await client.workload.create({ data: { name: 'without-a-revision', created_by: 'test' } });
  await watch.until('the stream was reset', ({ received }) => received.some(({ event }) => event === 'reset'));
  const volume = await aVolume();
  await watch.ofObject(volume.id);
  watch.end();
  await client.workload.delete({ where: { id } });
});

test('a stream of a token has one audit entry, which exists before its beginning, and that of a session has none', async () => {
  const entries = () => client.auditEntry.count({ where: { path: '/api/v1/changes' } });
  const before = await entries();
  const { id } = await aVolume();
  const session = await fleet.watch((await world.signIn()).access_token, `id=${id}`);
  const watch = await fleet.watch(token.secret, `id=${id}`);
  expect(await entries()).toBe(before + 1);
  await client.volume.update({ where: { id }, data: { phase: 'bound' } });
  for (const one of [watch, session]) {
    await one.ofObject(id);
    one.end();
  }
  await subscriptions.reach(id, 0);
  const later = await fleet.watch(token.secret); // its entry is stored after those of the first streams
  expect(await entries()).toBe(before + 2);
  later.end();
});

test('a caller without a credential or a role has no stream', async () => {
  const withoutRole = await world.anOidcUser();
  expect((await world.nobody.get('/api/v1/changes')).status).toBe(401);
  expect([401, 403]).toContain((await (await withoutRole.api()).get('/api/v1/changes')).status);
});

test('streams of two viewers, as many as they receive, leave places for others', async () => {
  const replica = world.aReplica();
  const { places } = replica.services.changes;
  const viewers = [await world.aToken({ role: 'viewer' }), await world.aToken({ role: 'viewer' })];
  for (const { id } of viewers) {
    for (let count = 0; count < 1000; count += 1) {
      try {
        places.take(`token ${id}`);
      } catch {
        break;
      }
    }
  }
  const other = await listenFor(replica.app);
  const refused = await other.request('/api/v1/changes', viewers[0]?.secret ?? '');
  refused.resume();
  expect(refused.statusCode).toBe(503);
  const watch = await other.watch(token.secret);
  watch.end();
  other.close();
});

test('a stream that ended releases its place', async () => {
  const places = createPlaces({ what: 'streams', total: 1, perCaller: 1, reserve: { places: 0, perCaller: 0 } });
  const replica = world.aReplica();
  Object.assign(replica.services.changes, { places });
  const other = await listenFor(replica.app);
  const watch = await other.watch(token.secret);
  expect((await other.request('/api/v1/changes', token.secret)).statusCode).toBe(503);
  watch.end();
  const statusOfAnother = async () => {
    const answer = await other.request('/api/v1/changes', token.secret);
    answer.destroy();
    return answer.statusCode;
  };
  await eventually('another stream is answered with 200', statusOfAnother, { until: (status) => status === 200 });
  other.close();
});

test('a client that reads nothing is closed when too much waits for it, and others receive everything', async () => {
  const slow = connect(fleet.port, '127.0.0.1');
  await once(slow, 'connect');
  slow.pause();
  slow.on('error', () => undefined); // it can be reset
  slow.write(
    `GET /api/v1/changes?kinds=storage HTTP/1.1\r\nHost: fleet.test\r\nAuthorization: Bearer ${token.secret}\r\n\r\n`,
  );
  const closed = new Promise((resolve) => slow.once('close', resolve));
  const reading = await fleet.watch(token.secret, 'kinds=storage');
  const labels = Object.fromEntries(Array.from({ length: 64 }, (_, nth) => [`label-${nth}`, 'x'.repeat(60)]));
  const volumes = await Promise.all([1, 2, 3].map(() => aVolume({ labels })));
  // Each change commits.
  const ids = volumes.map(({ id }) => `'${id}'`).join();
  const changing = `DO $$ BEGIN
      FOR nth IN 1..100 LOOP UPDATE volumes SET version = version + 1 WHERE id IN (${ids}); COMMIT; END LOOP;
    END $$`;
  let written = 0;
  const isClosed = closed.then(() => true);
  for (let done = false; !done && written < 12_000; written += 300) {
    await client.$executeRawUnsafe(changing);
    done = await Promise.race([isClosed, turn(false)]);
  }
  slow.resume(); // it detects the reset only when it reads
  await closed;
  await reading.until('the stream has all events', ({ changes }) => changes.length >= written);
  expect(reading.answer.destroyed).toBe(false);
  reading.end();
});

test('an outbox that overflows forgets what waits, and reports it once', async () => {
  let overflows = 0;
  const outbox = createOutbox(() => {
    overflows += 1;
  });
  for (let nth = 0; nth < 1500; nth += 1) outbox.push('text');
  const sent: string[] = [];
  for await (const chunk of outbox.chunks) sent.push(chunk);
  expect({ overflows, sent }).toEqual({ overflows: 1, sent: [] });
});

test('when the process stops, streams end completely, and new ones are a 503', async () => {
  const replica = world.aReplica();
  const other = await listenFor(replica.app);
  const watch = await other.watch(token.secret);
  await replica.services.changes.stop();
  expect(await watch.ended()).toEqual({ complete: true });
  expect((await other.request('/api/v1/changes', token.secret)).statusCode).toBe(503);
  other.close();
});

test('a stream that ends while it reads missing changes has no later ones, so that a client can continue', async () => {
  const before = await fleet.watch(token.secret, 'kinds=storage');
  const { position } = before;
  before.end();
  const missed = await aVolume();
  const replica = world.aReplica({ feedTimings: { interval: 20, heartbeat: 200 } });
  const { changes } = replica.services;
  const { replay } = changes;
  let proceed = () => {};
  const paused = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  Object.assign(changes, { replay: (range: Parameters<typeof replay>[0]) => paused.then(() => replay(range)) });
  const other = await listenFor(replica.app);
  const current = await other.watch(token.secret, 'kinds=storage');
  const continued = await other.watch(token.secret, `kinds=storage&after=${position}`);
  const later = await aVolume();
  await current.ofObject(later.id);
  await changes.stop();
  proceed();
  expect(await continued.ended()).toEqual({ complete: true });
  expect({ objects: continued.objects, position: continued.position }).toEqual({ objects: [], position });
  const again = await fleet.watch(token.secret, `kinds=storage&after=${continued.position}`);
  await again.ofObject(later.id);
  expect(again.objects).toEqual([`storage ${missed.id}`, `storage ${later.id}`]);
  again.end();
  other.close();
});
