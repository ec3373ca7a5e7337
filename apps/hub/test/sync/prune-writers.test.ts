// Pruning concurrently with writers and with other prunes.
import { byDepth, eventually, onServer } from '@svc/testing';
import { pruneHistory } from '../../src/catalog/history.ts';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { anInstance, startWorld } from '../world.ts';
import { clientByCursor, listingOf, lostIn } from './mirror.ts';
import { DAY_MS, historyOf } from './prune.ts';

const world = await startWorld({ limits: { lockTimeoutMs: 30_000 } });
const replica = anInstance(world.databaseUrl, world.issuer);
/** A replica whose statements soon time out while they wait for a lock. */
const impatient = anInstance(world.databaseUrl, world.issuer, { limits: { lockTimeoutMs: 200 } });
const history = historyOf(world);
const { client } = world.database;
afterAll(async () => {
  await Promise.all([replica.stop(), impatient.stop()]);
  await world.stop();
});

const tomorrow = () => new Date(Date.now() + DAY_MS);

/** The key of an advisory lock that nothing else on the server uses. */
const LOCK = 471_147_114;

test('a catalog write does not wait for a prune', async () => {
  const admin = await world.aUser('admin');
  const { id } = await world.aTemplate();
  await history.remove(await world.aTemplate());
  await client.$executeRawUnsafe(`
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${LOCK}); RETURN OLD; END $$`);
  await client.$executeRawUnsafe(`
    CREATE TRIGGER wait_for_test BEFORE DELETE ON template_scopes FOR EACH ROW EXECUTE FUNCTION wait_for_test()`);
  await onServer(world.databaseUrl, async (holder) => {
    const waiting = async () => {
      const { rowCount } = await holder.query('SELECT FROM pg_locks WHERE objid = $1 AND NOT granted', [LOCK]);
      return rowCount === 1;
    };
    await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const pruned = history.prune(tomorrow());
    try {
      await eventually('the prune waits', waiting);
      const { status } = await admin.put('/api/v1/admin/templates', { id, is_public: false });
      expect({ status, pruning: await waiting() }).toEqual({ status: 200, pruning: true });
    } finally {
      await holder.query('SELECT pg_advisory_unlock($1)', [LOCK]);
      expect(await pruned).toBeGreaterThan(0);
    }
  });
  await client.$executeRawUnsafe(`DROP TRIGGER wait_for_test ON template_scopes`);
});

test('a prune that times out waiting for a writer deletes nothing, and the next prune deletes everything', async () => {
  await history.remove(await world.aTemplate());
  const before = { ends: await history.ends(), floor: await history.floor() };
  await writeCatalog(world.database, async () => {
    await expect(pruneHistory(impatient.database, tomorrow())).rejects.toMatchObject({ code: 'unavailable' });
  });
  expect({ ends: await history.ends(), floor: await history.floor() }).toEqual(before);
  await history.prune(tomorrow());
  expect((await history.ends()).ended).toEqual([]);
  expect(await history.floor()).toEqual(before.ends.ended.at(-1));
});

/** Half of the deleted templates. All of them are more than one batch of a prune. */
const MANY = byDepth({ short: 1500, full: 5000, long: 20_000 });

test('concurrent prunes share the work', async () => {
  const { id: category_id } = await world.aCategory();
  const stamps = [];
  for (const half of [0, 1]) {
    await history.write(
      (catalog) => catalog.$executeRaw`
        INSERT INTO templates (id, name, slug, sort_name, search_text, category_id)
        SELECT gen_random_uuid(), n, 'many-' || n, n, n, ${category_id}::uuid
        FROM generate_series(${half * MANY + 1}::int, ${(half + 1) * MANY}::int) AS g (i), text(i) n`,
    );
    stamps.push(
      await history.write(({ template }) => template.deleteMany({ where: { slug: { startsWith: 'many-' } } })),
    );
  }
  const keeper = clientByCursor(world.anonymous.get);
  await keeper.sync();
  const { ended } = await history.ends();
  expect(ended.length).toBe(2 * MANY);
  const commits = (await history.commits()).length;
  const databases = [world.database, replica.database, world.database];
  const counts = await Promise.all(databases.map((database) => pruneHistory(database, tomorrow())));
  expect(counts.reduce((sum, count) => sum + count)).toBe(ended.length + commits - 1);
  expect((await history.ends()).ended).toEqual([]);
  expect(await history.floor()).toEqual(stamps.at(-1));
  expect(await keeper.sync()).toMatchObject([{ reset: false }]);
  expect(lostIn(keeper.held, await listingOf(world.anonymous.get))).toEqual([]);
});
