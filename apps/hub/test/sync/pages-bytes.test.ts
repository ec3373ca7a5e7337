// Pages of large templates: their size in bytes is bounded, and the hub does not measure all
// templates for it.
import { byDepth } from '@svc/testing';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, type Get, updatesOf } from './mirror.ts';

const LIMIT = 1000;
/** Number of large templates. Together they are larger than a page. */
const LARGE = byDepth({ short: 14, full: 25, long: 25 });
const MB = 1_000_000;
const MAX_BYTES = 3 * MB;
const DOCUMENTATION = 'words '.repeat(150_000); // 900 kB

const world = await startWorld();
const { anonymous, database } = world;
afterAll(() => world.stop());
const { id: category_id } = await world.aCategory();
afterEach(() => writeCatalog(database, ({ template }) => template.deleteMany()));

/**
 * Inserts templates with a long documentation. PostgreSQL compresses the text once per transaction.
 */
async function insertLarge(count: number, documentation = DOCUMENTATION) {
  for (let left = count; left > 0; left -= 100) {
    await writeCatalog(database, async (catalog) => {
      await catalog.$executeRaw`CREATE TEMP TABLE given ON COMMIT DROP AS SELECT ${documentation} AS documentation`;
      await catalog.$executeRaw`
        INSERT INTO templates (id, name, slug, sort_name, search_text, category_id, documentation)
        SELECT id, id, id, id, id, ${category_id}::uuid, documentation
        FROM given, (SELECT gen_random_uuid() AS id FROM generate_series(1, ${Math.min(left, 100)}::int)) AS new`;
    });
  }
}

/** Records the size of the largest response. */
function measured() {
  const sizes: number[] = [];
  const get: Get = async (path) => {
    const answer = await anonymous.get(path);
    sizes.push(Buffer.byteLength(answer.text));
    return answer;
  };
  return { get, largest: () => Math.max(...sizes) };
}

test.each(['full', 'incremental'])(
  'a %s sync of large templates has pages of bounded size and misses no template',
  async (kind) => {
    const { get, largest } = measured();
    const client = clientByCursor(get, LIMIT);
    if (kind === 'incremental') await client.sync();
    await insertLarge(LARGE);
    const pages = await client.sync();
    expect(largest()).toBeLessThan(MAX_BYTES);
    expect(largest()).toBeGreaterThan(MB);
    expect(pages.length).toBeGreaterThan(1);
    const ids = pages.flatMap(({ templates }) => templates.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(client.held.size).toBe(LARGE);
    for (const { documentation } of client.held.values()) expect(documentation.length).toBe(DOCUMENTATION.length);
  },
);

test('a template that is larger than a page has a page of its own', async () => {
  const { get, largest } = measured();
  const client = clientByCursor(get, LIMIT);
  await client.sync();
  await insertLarge(2);
  await insertLarge(2, DOCUMENTATION.repeat(15));
  await insertLarge(2);
  const pages = await client.sync();
  expect(largest()).toBeGreaterThan(MAX_BYTES);
  expect(pages.map(({ templates }) => templates.length)).toEqual([2, 1, 1, 2]);
});

test('reads a page from many large templates without a timeout', async () => {
  const { cursor } = await updatesOf(anonymous.get, 'cursor=start');
  await insertLarge(byDepth({ short: 100, full: LIMIT, long: LIMIT }));
  for (const from of ['start', cursor]) {
    const page = await updatesOf(anonymous.get, `cursor=${from}&limit=${LIMIT}`);
    expect(page.has_more).toBe(true);
    expect(page.templates.length).toBeGreaterThan(0);
  }
});
