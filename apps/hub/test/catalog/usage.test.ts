import type { SnapshotReader } from '@svc/database';
import { byDepth } from '@svc/testing';
import { templates } from '../../src/catalog/kinds.ts';
import { createDocuments } from '../../src/catalog/memory/documents.ts';
import { createUsage } from '../../src/catalog/usage.ts';
import { anInstance, startWorld } from '../world.ts';

const world = await startWorld();
const other = anInstance(world.databaseUrl, world.issuer);
const { client } = world.database;
const organization = await world.anOrganization();
afterAll(async () => {
  await other.stop();
  await world.stop();
});

const storedCount = async (id: string) =>
  Number((await client.templateDownload.findUnique({ where: { template_id: id } }))?.count ?? 0);

test('counts each download of parallel fetches from two replicas', async () => {
  const fetches = byDepth({ short: 100, full: 1000, long: 50_000 });
  const { id, slug } = await world.aTemplate();
  const path = `/api/v1/catalog/templates/${slug}`;
  const replicas = [world.as(organization), other.api(`Bearer ${organization.key}`)];
  for (let sent = 0; sent < fetches; sent += 50) {
    await Promise.all(replicas.flatMap((api) => Array.from({ length: 50 }, () => api.get(path))));
    if (sent % 200 === 0) await Promise.all([world.usage.flush(), other.usage.flush()]);
  }
  await Promise.all([world.usage.flush(), other.usage.flush()]);
  expect(await storedCount(id)).toBe(2 * fetches);
});

test('shows the downloads that another replica stored', async () => {
  const { slug } = await world.aTemplate();
  const path = `/api/v1/catalog/templates/${slug}`;
  const shown = async () => (await world.anonymous.get(path)).body.download_count;
  expect(await shown()).toBe(0);
  await other.api(`Bearer ${organization.key}`).get(path);
  await other.usage.flush();
  await world.usage.readCounts();
  expect(await shown()).toBe(1);
});

/** Counts of a replica whose access to the database is changed. */
const usageOf = (changes: Partial<SnapshotReader>) => {
  const { reader } = world.database;
  return createUsage({ ...reader, ...changes }, createDocuments(reader, templates));
};

test('keeps the counts of a flush that fails, and ignores deleted templates', async () => {
  const { reader } = world.database;
  let isFailing = true;
  const during = async <T>(work: () => Promise<T>) => {
    if (isFailing) throw new Error('no connection');
    return work();
  };
  const usage = usageOf({
    read: (statement) => during(() => reader.read<never>(statement)),
    inTransaction: (work) => during(() => reader.inTransaction(work)),
  });
  const { id } = await world.aTemplate();
  usage.countDownload(id);
  usage.countDownload('019a0000-0000-7000-8000-000000000000');
  usage.recordKeyUse(organization.keyRow.id, new Date());
  await expect(usage.flush()).rejects.toThrow('no connection');
  usage.countDownload(id);
  expect(usage.pendingDownloads(id)).toBe(2);
  isFailing = false;
  await usage.flush();
  expect(await storedCount(id)).toBe(2);
  expect(usage.pendingDownloads(id)).toBe(0);
});

test.each([
  ['the response to COMMIT is lost', 'COMMIT'],
  ['the connection is lost before COMMIT', 'ROLLBACK'],
])('stores counts once if %s', async (_, end) => {
  const { reader } = world.database;
  const { id } = await world.aTemplate();
  let failures = 1;
  const usage = usageOf({
    inTransaction: async (work) => {
      const lost = new Error('connection lost');
      if (failures === 0) return reader.inTransaction(work);
      failures -= 1;
      await reader.inTransaction(async (transaction) => {
        await work(transaction);
        if (end === 'ROLLBACK') throw lost;
      });
      throw lost;
    },
  });
  usage.countDownload(id);
  await expect(usage.flush()).rejects.toThrow('connection lost');
  usage.countDownload(id);
  expect(usage.pendingDownloads(id)).toBe(2);
  await usage.flush();
  expect(await storedCount(id)).toBe(2);
  expect(usage.pendingDownloads(id)).toBe(0);
});

test('waits for a transaction whose COMMIT PostgreSQL has not executed yet', async () => {
  const { reader } = world.database;
  const { id } = await world.aTemplate();
  let commit = () => {};
  let committed: Promise<unknown> = Promise.resolve();
  const usage = usageOf({
    inTransaction: (work) =>
      new Promise((_, reject) => {
        committed = reader.inTransaction(async (transaction) => {
          await work(transaction);
          reject(new Error('timeout'));
          await new Promise<void>((resolve) => {
            commit = resolve;
          });
        });
      }),
  });
  usage.countDownload(id);
  await expect(usage.flush()).rejects.toThrow('timeout');
  await expect(usage.flush()).rejects.toThrow('still storing');
  commit();
  await committed;
  await usage.flush();
  expect(await storedCount(id)).toBe(1);
  expect(usage.pendingDownloads(id)).toBe(0);
});

test('never moves the last use of a key back', async () => {
  const { keyRow } = await world.anOrganization();
  const earlier = new Date('2020-01-01T00:00:00Z');
  const later = new Date('2020-01-02T00:00:00Z');
  for (const at of [later, earlier]) {
    world.usage.recordKeyUse(keyRow.id, at);
    await world.usage.flush();
  }
  expect((await client.apiKey.findUniqueOrThrow({ where: { id: keyRow.id } })).last_used_at).toEqual(later);
});
