// Pages of a sync by cursor: no page exceeds its limit, and no template is repeated or missing.
import type { TemplateUpdates } from '@svc/contract';
import { byDepth, scaled } from '@svc/testing';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, clientBySince, listingOf, lostIn, updatesOf } from './mirror.ts';

const NEVER = '1970-01-01T00:00:00.000Z';
/** More templates than the maximum limit of a page. */
const MANY = byDepth({ short: 1100, full: 2500, long: 2500 });
/** So many templates that a query is slow if it depends on statistics of the table. */
const IMPORTED = 10_000;
const ROWS_PER_STATEMENT = 2500;

const world = await startWorld();
const { anonymous, database } = world;
afterAll(() => world.stop());
const { id: category_id } = await world.aCategory();

/** Inserts templates as an import does: in one transaction, with one stamp. */
const insertMany = (count: number) =>
  writeCatalog(
    database,
    async (catalog) => {
      for (let from = 1; from <= count; from += ROWS_PER_STATEMENT) {
        await catalog.$executeRaw`
          INSERT INTO templates (id, name, slug, sort_name, search_text, category_id)
          SELECT gen_random_uuid(), n, 'many-' || n, n, n, ${category_id}::uuid
          FROM generate_series(${from}::int, ${Math.min(count, from + ROWS_PER_STATEMENT - 1)}::int) AS g (i), text(i) n`;
      }
    },
    { timeoutMs: scaled(60_000) },
  );
const many = { slug: { startsWith: 'many-' } };
const write = (work: (catalog: CatalogTransaction) => Promise<unknown>) => writeCatalog(database, work);
beforeEach(() => write(({ template }) => template.deleteMany({ where: many })));

const entriesOf = ({ templates, removed }: TemplateUpdates) => [...templates, ...removed].map(({ id }) => id);

/** Expects that all pages of a walk but the last are full, and that no id occurs twice. */
function expectWalk(pages: readonly TemplateUpdates[], { limit, entries }: { limit: number; entries: number }) {
  const sizes = pages.map((page) => entriesOf(page).length);
  const full = Math.ceil(entries / limit) - 1;
  expect(sizes).toEqual([...Array<number>(full).fill(limit), entries - full * limit]);
  expect(pages.map(({ has_more }) => has_more)).toEqual([...Array<boolean>(full).fill(true), false]);
  expect(new Set(pages.flatMap(entriesOf)).size).toBe(entries);
  expect(new Set(pages.map(({ cursor }) => cursor)).size).toBe(pages.length);
}

test.each([1000, 333])(
  'a sync of many templates with one stamp has pages of %i without gaps or repetitions',
  async (limit) => {
    const client = clientByCursor(anonymous.get, limit);
    const before = (await client.sync()).at(-1)?.checked_at;
    await insertMany(MANY);
    const pages = await client.sync();
    expectWalk(pages, { limit, entries: MANY });
    expect(pages.slice(0, -1).map(({ checked_at }) => checked_at)).toEqual(pages.slice(1).map(() => before));
    expect(pages.at(-1)?.checked_at).toBe(pages[0]?.templates[0]?.updated_at);
    const ids = pages.flatMap(entriesOf);
    expect(ids).toEqual([...ids].sort());
    expect(lostIn(client.held, await listingOf(anonymous.get))).toEqual([]);
  },
);

test('a page has 500 templates by default, and a full sync sends checked_at with its last page only', async () => {
  await insertMany(MANY);
  const client = clientByCursor(anonymous.get);
  const pages = await client.sync();
  expectWalk(pages, { limit: 500, entries: MANY });
  expect(pages.map(({ reset }) => reset)).toEqual(pages.map((_, index) => index === 0));
  expect(pages.slice(0, -1).map(({ checked_at }) => checked_at)).toEqual(pages.slice(1).map(() => NEVER));
  expect(pages.at(-1)?.checked_at).toBe(pages[0]?.templates[0]?.updated_at);
  expect(lostIn(client.held, await listingOf(anonymous.get))).toEqual([]);
});

test('removals count towards the limit of a page like templates', async () => {
  await insertMany(MANY);
  const byCursor = clientByCursor(anonymous.get, 150);
  const bySince = clientBySince(anonymous.get);
  await Promise.all([byCursor.sync(), bySince.sync()]);
  await write(async ({ template }) => {
    await template.deleteMany({ where: { slug: { endsWith: '0', ...many.slug } } });
    await template.updateMany({ where: { slug: { endsWith: '1', ...many.slug } }, data: { is_public: false } });
    await template.updateMany({ where: { slug: { endsWith: '2', ...many.slug } }, data: { description: 'new' } });
  });
  const pages = await byCursor.sync();
  expectWalk(pages, { limit: 150, entries: (3 * MANY) / 10 });
  expect(pages[0]?.templates.length).toBeGreaterThan(0);
  expect(pages[0]?.removed.length).toBeGreaterThan(0);
  const whole = await bySince.sync();
  expect(whole.templates).toHaveLength(MANY / 10);
  expect(whole.removed).toHaveLength((2 * MANY) / 10);
  expect(whole.has_more).toBe(false);
  for (const { held } of [byCursor, bySince]) expect(lostIn(held, await listingOf(anonymous.get))).toEqual([]);
});

test('returns a page directly after a large import, while the tables have no statistics', async () => {
  const { cursor } = await updatesOf(anonymous.get, 'cursor=start');
  await insertMany(IMPORTED);
  for (const from of ['start', cursor]) {
    const { templates, has_more } = await updatesOf(anonymous.get, `cursor=${from}&limit=1000`);
    expect({ length: templates.length, has_more }).toEqual({ length: 1000, has_more: true });
  }
});
