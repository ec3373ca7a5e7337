import { backUp, onServer } from '@svc/testing';
import { openPatiently, startWorld } from '../world.ts';
import { listenFor } from './client.ts';

const world = await startWorld();
const connections = openPatiently(world.databaseUrl);
const other = await listenFor(world.aReplica({ database: connections }).app);
const one = await listenFor(world.app);
const { secret } = await world.aToken();
afterAll(async () => {
  one.close();
  other.close();
  await world.stop();
  await connections.close();
});

const ID = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const insertSql = (number: number) =>
  `INSERT INTO volumes (id, name, created_by, size, access_mode, reclaim)
   VALUES ('${ID(number)}', 'volume-${number}', 'test', '1Gi', 'ReadWriteOnce', 'retain')`;
const event = (number: number) => `storage ${ID(number)}`;

test('events have the order of commits on every replica, also if the first transaction commits last', async () => {
  const watches = [await one.watch(secret, 'kinds=storage'), await other.watch(secret, 'kinds=storage')];
  await onServer(world.databaseUrl, (first) =>
    onServer(world.databaseUrl, async (second) => {
      await first.query('BEGIN');
      await first.query(insertSql(1));
      await second.query('BEGIN');
      await second.query(insertSql(2));
      await second.query('COMMIT');
      await second.query(insertSql(3));
      // The streams have read past the change of the open transaction.
      for (const watch of watches) await watch.ofObject(ID(3));
      await first.query('COMMIT');
      await second.query(insertSql(4));
      for (const watch of watches) await watch.ofObject(ID(4));
    }),
  );
  for (const { objects } of watches) expect(objects).toEqual([event(2), event(3), event(1), event(4)]);
  const [ofOne, ofOther] = watches.map(({ changes }) => changes);
  expect(ofOne).toEqual(ofOther);
  for (const watch of watches) watch.end();
});

test('no event is lost, added or in another order, while many transactions commit at the same time', async () => {
  const watches = [await one.watch(secret, 'kinds=storage'), await other.watch(secret, 'kinds=storage')];
  const numbers = Array.from({ length: 200 }, (_, index) => 1000 + index);
  const committed: string[] = [];
  const writer = (own: readonly number[]) =>
    onServer(world.databaseUrl, async (client) => {
      for (const number of own) {
        await client.query('BEGIN');
        await client.query(insertSql(number));
        await client.query('SELECT pg_sleep(random() * 0.005)');
        await client.query(number % 10 === 0 ? 'ROLLBACK' : 'COMMIT');
        if (number % 10 !== 0) committed.push(event(number));
      }
    });
  await Promise.all([0, 1, 2, 3].map((nth) => writer(numbers.filter((number) => number % 4 === nth))));
  for (const watch of watches)
    await watch.until('the stream has all events', ({ changes }) => changes.length >= committed.length);
  const [ofOne, ofOther] = watches.map(({ changes }) => changes);
  expect(ofOne).toEqual(ofOther);
  expect(watches[0]?.objects.toSorted()).toEqual(committed.toSorted());
  for (const watch of watches) watch.end();
});

test('a client continues on another replica after its last event, without a gap or a repetition', async () => {
  const first = await one.watch(secret, 'kinds=storage');
  await world.database.client.$executeRawUnsafe(insertSql(2001));
  await first.ofObject(ID(2001));
  const { position } = first;
  first.end();
  for (const number of [2002, 2003]) await world.database.client.$executeRawUnsafe(insertSql(number));
  const continued = await other.watch(secret, 'kinds=storage', { 'Last-Event-ID': position });
  await world.database.client.$executeRawUnsafe(insertSql(2004));
  await continued.ofObject(ID(2004));
  expect(continued.objects).toEqual([2002, 2003, 2004].map(event));
  continued.end();
});

test('more changes than are read at once are replayed completely', async () => {
  const before = await one.watch(secret, 'kinds=storage');
  const { position } = before;
  before.end();
  const sql = `INSERT INTO volumes (id, name, created_by, size, access_mode, reclaim)
    SELECT ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid, 'many-' || n, 'test', '1Gi', 'ReadWriteOnce', 'retain' FROM generate_series(1, 350) n`;
  await world.database.client.$executeRawUnsafe(sql);
  const continued = await other.watch(secret, `kinds=storage&after=${position}`);
  const ofTheMany = () => continued.objects.filter((object) => object.includes('-9000-'));
  await continued.until('the stream has all events', () => ofTheMany().length >= 350);
  expect(ofTheMany()).toEqual(ofTheMany().toSorted());
  expect(new Set(ofTheMany()).size).toBe(350);
  expect(continued.received.some(({ event }) => event === 'reset')).toBe(false);
  continued.end();
});

test('after a restored backup, a position of the lost history is answered with reset, and one of the backup is continued', async () => {
  const { client } = world.database;
  await client.$executeRawUnsafe(insertSql(3001));
  const watch = await one.watch(secret, 'kinds=storage');
  const known = watch.position;
  const backup = await backUp(world.databaseUrl);
  await retried(() => client.$executeRawUnsafe(insertSql(3002)));
  await watch.ofObject(ID(3002));
  const lost = watch.position;
  expect(lost).not.toBe(known);
  watch.end();
  await backup.restore();
  await backup.drop();
  // The same sequence number belongs to another change now.
  await retried(() => client.$executeRawUnsafe(insertSql(3003)));
  const ofLost = await reopened(lost);
  const ofKnown = await reopened(known);
  await retried(() => client.$executeRawUnsafe(insertSql(3004)));
  await ofLost.ofObject(ID(3004));
  await ofKnown.ofObject(ID(3004));
  expect(ofLost.received.map(({ event: name, data }) => name && `${name} ${data?.id ?? ''}`)).toEqual([
    'reset ',
    `change ${ID(3004)}`,
  ]);
  expect(ofKnown.objects).toEqual([event(3003), event(3004)]);
  for (const each of [ofLost, ofKnown]) each.end();
});

/** The connections of a pool ended with the restore. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 20) throw error;
    }
  }
}

const reopened = (position: string) => retried(() => other.watch(secret, `kinds=storage&after=${position}`));
