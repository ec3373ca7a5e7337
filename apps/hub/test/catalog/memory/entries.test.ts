import { seed } from '@svc/testing';
import fc from 'fast-check';
import { createEntries, type TemplateKeys } from '../../../src/catalog/memory/entries.ts';
import { compareCodePoints, orders } from '../../../src/catalog/memory/order.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const categories = ['one', 'two'].map((slug) => ({ id: slug, slug, shownAt: 1 }));
const aTemplate = (id: string, given: Partial<TemplateKeys> = {}): TemplateKeys => ({
  id,
  slug: `slug-${id}`,
  sortName: 'name',
  categoryId: 'one',
  ownerOrgId: null,
  isPublic: true,
  kind: 'service',
  minTier: 'free',
  hasGpu: false,
  createdAt: 1,
  updatedAt: 1,
  downloads: 0,
  ...given,
});

test('texts are compared like those of PostgreSQL with the collation C', async () => {
  const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 4 }), { numRuns: 300, seed });
  const given = [...new Set([...texts, '', 'a', 'ab', 'é', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{1f600}'])].filter(
    (text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text),
  );
  const rows = await world.database.client.$queryRaw<{ text: string }[]>`
    SELECT text FROM unnest(${given}::text[]) AS given (text) ORDER BY text COLLATE "C"`;
  expect([...given].sort(compareCodePoints)).toEqual(rows.map(({ text }) => text));
});

test('after any changes, the entries equal those that are created from the same templates', () => {
  const template = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    sortName: fc.constantFrom('k', 'l', 'm'),
    slug: fc.constantFrom('p', 'q', 'r', 's', 't', 'u', 'v'),
    categoryId: fc.constantFrom('one', 'two'),
    isPublic: fc.boolean(),
    createdAt: fc.constantFrom(1, 2, 3),
    downloads: fc.constantFrom(0, 1, 2),
  });
  const change = fc.oneof(
    template.map((given) => ({ put: given })),
    fc.record({ id: fc.constantFrom('a', 'b', 'c'), count: fc.constantFrom(1, 2, 3) }).map((count) => ({ count })),
    fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f').map((id) => ({ remove: id })),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.nat({ max: 40 }), (changes, sortedAt) => {
      const entries = createEntries(categories, [], 1);
      const expected = new Map<string, TemplateKeys>();
      changes.forEach((each, at) => {
        // The other orders are created when they are requested first.
        if (at === sortedAt) for (const order of ['-created_at', '-download_count'] as const) entries.inOrder(order);
        if ('remove' in each) {
          entries.remove(each.remove, at + 2);
          expected.delete(each.remove);
        } else if ('count' in each) {
          entries.setDownloads([each.count]);
          const counted = expected.get(each.count.id);
          const downloads = Math.max(counted?.downloads ?? 0, each.count.count);
          if (counted) expected.set(counted.id, { ...counted, downloads });
        } else if (![...expected.values()].some(({ slug, id }) => slug === each.put.slug && id !== each.put.id)) {
          const put = aTemplate(each.put.id, each.put);
          entries.put(put, at + 2);
          const downloads = Math.max(put.downloads, expected.get(put.id)?.downloads ?? 0);
          expected.set(put.id, { ...put, downloads });
        }
      });
      const sorted = [...expected.values()].sort(
        (one, other) => compareCodePoints(one.sortName, other.sortName) || compareCodePoints(one.id, other.id),
      );
      const shown = ({ ordered }: ReturnType<typeof createEntries>) =>
        ordered.map(({ id, slug, group }) => ({ id, slug, category: group.category.id, isPublic: group.isPublic }));
      expect(shown(entries)).toEqual(shown(createEntries(categories, sorted, 1)));
      for (const order of ['-created_at', '-download_count'] as const) {
        const ids = [...sorted].sort(orders[order]).map(({ id }) => id);
        expect(entries.inOrder(order).map(({ id }) => id)).toEqual(ids);
      }
      for (const { id, slug } of sorted)
        expect({ slug: entries.byId(id)?.slug, id: entries.bySlug(slug)?.id }).toEqual({ slug, id });
      const sizes = entries.groups.reduce((sum, { size }) => sum + size, 0);
      expect(sizes).toBe(sorted.length);
    }),
    { seed },
  );
});

test('templates that swap their slugs in one change are found by their new slugs', () => {
  const entries = createEntries(categories, [aTemplate('a'), aTemplate('b')], 1);
  entries.put(aTemplate('a', { slug: 'slug-b' }), 2);
  entries.put(aTemplate('b', { slug: 'slug-a' }), 2);
  expect(entries.bySlug('slug-a')?.id).toBe('b');
  expect(entries.bySlug('slug-b')?.id).toBe('a');
});

test('a change is a change of the groups that have, and that had, the template, and of no others', () => {
  const entries = createEntries(
    categories,
    [aTemplate('a'), aTemplate('b', { categoryId: 'two' }), aTemplate('c', { isPublic: false })],
    1,
  );
  const changed = () =>
    entries.groups
      .filter(({ changedAt }) => changedAt === 2)
      .map(({ category, isPublic }) => ({ category: category.id, isPublic }));
  entries.put(aTemplate('a', { categoryId: 'two' }), 2);
  expect(changed()).toEqual([
    { category: 'one', isPublic: true },
    { category: 'two', isPublic: true },
  ]);
});

test('the templates that changed after a stamp are known for a bounded number of changes, each in its last version', () => {
  const entries = createEntries(categories, [aTemplate('a'), aTemplate('b')], 1);
  const changedAfter = (stamp: number) => entries.changedAfter(stamp)?.map(({ id, updatedAt }) => ({ id, updatedAt }));
  expect(changedAfter(0)).toBeUndefined();
  expect(changedAfter(1)).toEqual([]);
  entries.put(aTemplate('b', { updatedAt: 3 }), 3);
  entries.put(aTemplate('a', { updatedAt: 3 }), 3);
  entries.put(aTemplate('c', { updatedAt: 4 }), 4);
  entries.put(aTemplate('b', { updatedAt: 5 }), 5);
  entries.remove('c', 6);
  expect(changedAfter(2)).toEqual([
    { id: 'a', updatedAt: 3 },
    { id: 'b', updatedAt: 5 },
  ]);
  expect(changedAfter(3)).toEqual([{ id: 'b', updatedAt: 5 }]);
  expect(changedAfter(5)).toEqual([]);
  for (let stamp = 10; stamp < 10_010; stamp += 1) entries.put(aTemplate('a', { updatedAt: stamp }), stamp);
  expect(changedAfter(5)).toBeUndefined();
  expect(changedAfter(10_000)).toEqual([{ id: 'a', updatedAt: 10_009 }]);
});
