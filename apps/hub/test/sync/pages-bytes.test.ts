// Pages of large templates: what a page weighs is bounded, and so is what it costs to find that out.
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, type Get, updatesOf } from './mirror.ts';

const LIMIT = 1000;
const MB = 1_000_000;
const MOST_BYTES = 12 * MB;
const DOCUMENTATION = 'words '.repeat(150_000); // 900 kB

const world = await startWorld();
const { nobody, database } = world;
afterAll(() => world.stop());
const { id: category_id } = await world.aCategory();
afterEach(() => writeCatalog(database, ({ template }) => template.deleteMany()));

/** Templates with much to read, as many writes as it takes. */
async function insertLarge(count: number, documentation = DOCUMENTATION) {
  for (let left = count; left > 0; left -= 100) {
    await writeCatalog(
      database,
      (catalog) => catalog.$executeRaw`
        INSERT INTO templates (id, name, slug, sort_name, search_text, category_id, documentation)
        SELECT id, id, id, id, id, ${category_id}::uuid, ${documentation}
        FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, ${Math.min(left, 100)}::int)) AS new`,
    );
  }
}

/** Remembers how much it was sent at most. */
function weighed() {
  const weights: number[] = [];
  const get: Get = async (path) => {
    const answer = await nobody.get(path);
    weights.push(Buffer.byteLength(answer.text));
    return answer;
  };
  return { get, heaviest: () => Math.max(...weights) };
}

test.each(['full', 'incremental'])(
  'a walk over large templates has small pages and misses none, when it is %s',
  async (kind) => {
    const { get, heaviest } = weighed();
    const client = clientByCursor(get, LIMIT);
    if (kind === 'incremental') await client.sync();
    await insertLarge(25);
    const pages = await client.sync();
    expect(heaviest()).toBeLessThan(MOST_BYTES);
    expect(heaviest()).toBeGreaterThan(MB);
    expect(pages.length).toBeGreaterThan(2);
    const ids = pages.flatMap(({ templates }) => templates.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(client.held.size).toBe(25);
    for (const { documentation } of client.held.values()) expect(documentation.length).toBe(DOCUMENTATION.length);
  },
);

test('a template that is heavier than a page has a page of its own', async () => {
  const { get, heaviest } = weighed();
  const client = clientByCursor(get, LIMIT);
  await client.sync();
  await insertLarge(2);
  await insertLarge(2, DOCUMENTATION.repeat(15));
  await insertLarge(2);
  const pages = await client.sync();
  expect(heaviest()).toBeGreaterThan(MOST_BYTES);
  expect(pages.map(({ templates }) => templates.length)).toEqual([2, 1, 1, 2]);
});

test('a page of a thousand large templates is never weighed whole', async () => {
  const { cursor } = await updatesOf(nobody.get, 'cursor=start');
  await insertLarge(LIMIT);
  for (const from of ['start', cursor]) {
    const page = await updatesOf(nobody.get, `cursor=${from}&limit=${LIMIT}`);
    expect([page.has_more, page.templates.length > 0]).toEqual([true, true]);
  }
});
