// Pages of a walk: none is too large, nothing comes twice and nothing falls between two of them.
import type { TemplateUpdates } from '@svc/contract';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, clientBySince, listingOf, lostIn, updatesOf } from './mirror.ts';

const NEVER = '1970-01-01T00:00:00.000Z';
const MANY = 2500;

const world = await startWorld();
const { nobody, database } = world;
afterAll(() => world.stop());
const { id: category_id } = await world.aCategory();

/** Templates as an import writes them: in one statement, under one stamp. */
const insertMany = (count: number) =>
  writeCatalog(
    database,
    (catalog) => catalog.$executeRaw`
      INSERT INTO templates (id, name, slug, sort_name, search_text, category_id)
      SELECT gen_random_uuid(), n, 'many-' || n, n, n, ${category_id}::uuid
      FROM generate_series(1, ${count}::int) AS g (i), text(i) n`,
    { timeoutMs: 60_000 },
  );
const many = { slug: { startsWith: 'many-' } };
const write = (work: (catalog: CatalogTransaction) => Promise<unknown>) => writeCatalog(database, work);
beforeEach(() => write(({ template }) => template.deleteMany({ where: many })));

const entriesOf = ({ templates, removed }: TemplateUpdates) => [...templates, ...removed].map(({ id }) => id);

/** What holds of the pages of every walk: all are full but the last, and nothing is named twice. */
function expectWalk(pages: readonly TemplateUpdates[], { limit, entries }: { limit: number; entries: number }) {
  const sizes = pages.map((page) => entriesOf(page).length);
  const full = Math.ceil(entries / limit) - 1;
  expect(sizes).toEqual([...Array<number>(full).fill(limit), entries - full * limit]);
  expect(pages.map(({ has_more }) => has_more)).toEqual([...Array<boolean>(full).fill(true), false]);
  expect(new Set(pages.flatMap(entriesOf)).size).toBe(entries);
  expect(new Set(pages.map(({ cursor }) => cursor)).size).toBe(pages.length);
}

test.each([1000, 333])('a walk over one stamp pages by %i, without a gap and without a double', async (limit) => {
  const client = clientByCursor(nobody.get, limit);
  const before = (await client.sync()).at(-1)?.checked_at;
  await insertMany(MANY);
  const pages = await client.sync();
  expectWalk(pages, { limit, entries: MANY });
  expect(pages.slice(0, -1).map(({ checked_at }) => checked_at)).toEqual(pages.slice(1).map(() => before));
  expect(pages.at(-1)?.checked_at).toBe(pages[0]?.templates[0]?.updated_at);
  const ids = pages.flatMap(entriesOf);
  expect(ids).toEqual([...ids].sort());
  expect(lostIn(client.held, await listingOf(nobody.get))).toEqual([]);
});

test('a page holds 500 unless its reader says otherwise, and a full walk tells no time before its end', async () => {
  await insertMany(MANY);
  const client = clientByCursor(nobody.get);
  const pages = await client.sync();
  expectWalk(pages, { limit: 500, entries: MANY });
  expect(pages.map(({ reset }) => reset)).toEqual(pages.map((_, index) => index === 0));
  expect(pages.slice(0, -1).map(({ checked_at }) => checked_at)).toEqual(pages.slice(1).map(() => NEVER));
  expect(pages.at(-1)?.checked_at).toBe(pages[0]?.templates[0]?.updated_at);
  expect(lostIn(client.held, await listingOf(nobody.get))).toEqual([]);
});

test('removals count for a page as templates do, also under one stamp', async () => {
  await insertMany(MANY);
  const [byCursor, bySince] = [clientByCursor(nobody.get, 400), clientBySince(nobody.get)];
  await Promise.all([byCursor.sync(), bySince.sync()]);
  await write(async ({ template }) => {
    await template.deleteMany({ where: { slug: { endsWith: '0', ...many.slug } } });
    await template.updateMany({ where: { slug: { endsWith: '1', ...many.slug } }, data: { is_public: false } });
    await template.updateMany({ where: { slug: { endsWith: '2', ...many.slug } }, data: { description: 'new' } });
  });
  const pages = await byCursor.sync();
  expectWalk(pages, { limit: 400, entries: (3 * MANY) / 10 });
  expect(pages[0]?.templates.length).toBeGreaterThan(0);
  expect(pages[0]?.removed.length).toBeGreaterThan(0);
  const whole = await bySince.sync();
  expect([whole.templates.length, whole.removed.length, whole.has_more]).toEqual([MANY / 10, (2 * MANY) / 10, false]);
  for (const { held } of [byCursor, bySince]) expect(lostIn(held, await listingOf(nobody.get))).toEqual([]);
});

test('just after a large import, before the database has counted its rows, a page is found all the same', async () => {
  const { cursor } = await updatesOf(nobody.get, 'cursor=start');
  await insertMany(4 * MANY);
  for (const from of ['start', cursor]) {
    const { templates, has_more } = await updatesOf(nobody.get, `cursor=${from}&limit=1000`);
    expect([templates.length, has_more]).toEqual([1000, true]);
  }
});
