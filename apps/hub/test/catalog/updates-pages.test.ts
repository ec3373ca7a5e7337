// Requests for pages of changes that wait, on a hub with the smallest number of connections.
import { setTimeout as wait } from 'node:timers/promises';
import { createReadQueue } from '../../src/catalog/templates/updates/read-queue.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { startWorld } from '../world.ts';

const UPDATES = '/api/v1/catalog/templates/updates';

const world = await startWorld({ limits: { connections: 6 } });
const { client, catalogStreams } = world.database;
afterAll(() => world.stop());

/** A function that reads a page until the test ends it, and records its start. */
function readers() {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const read = (name: string) => () => {
    started.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const endOne = async () => {
    ends.shift()?.();
    await wait(0);
  };
  return { started, read, endOne };
}

test.each(['cursor=start', 'since=1970-01-01T00:00:00Z'])(
  'requests with %s leave database connections to other requests',
  async (query) => {
    const organization = await world.anOrganization();
    await world.aTemplate();
    await world.anonymous.get(`${UPDATES}?${query}`); // the index is current
    const waiting = async () => {
      const [row] = await catalogStreams.read<{ count: number }>(Prisma.sql`
      SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`);
      return row?.count ?? 0;
    };
    const { all, others } = await world.database.catalogWriter.$transaction(async (lock) => {
      await lock.$executeRaw`LOCK TABLE templates IN ACCESS EXCLUSIVE MODE`;
      const pages = Array.from({ length: 8 }, () => world.anonymous.get(`${UPDATES}?${query}`));
      while ((await waiting()) < 2) await wait(5);
      const statuses: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        statuses.push((await world.as(organization).get('/api/v1/catalog/organization')).status);
      }
      return { all: Promise.all(pages), others: statuses };
    });
    expect(others).toEqual([200, 200, 200, 200, 200]);
    for (const { body } of await all) expect(body.templates).toHaveLength(await client.template.count());
  },
);

test('callers take turns to read pages', async () => {
  const { started, read, endOne } = readers();
  const queue = createReadQueue({ running: 1, waitingPerCaller: 10, waitMs: 600_000 });
  const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
  const all = names.map((name) => queue.run(name.slice(0, 1), read(name)));
  for (const _ of names) {
    await wait(0);
    await endOne();
  }
  await Promise.all(all);
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('a request for a page is answered 503 overloaded if its caller has too many waiting, or if it waits too long', async () => {
  const { read, endOne } = readers();
  const queue = createReadQueue({ running: 1, waitingPerCaller: 1, waitMs: 20 });
  const running = queue.run('a', read('running'));
  const late = queue.run('a', read('late'));
  await expect(queue.run('a', read('refused'))).rejects.toMatchObject({ code: 'overloaded', status: 503 });
  await expect(late).rejects.toMatchObject({ code: 'overloaded', status: 503 });
  await wait(0);
  await endOne();
  await running;
  const next = queue.run('a', read('next'));
  await wait(0);
  await endOne();
  await next;
});
