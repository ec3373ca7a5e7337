import type { Reader } from '@svc/database';
import { templates } from '../../../src/catalog/kinds.ts';
import { createCatalogIndex } from '../../../src/catalog/memory/catalog-index.ts';
import { readCatalog } from '../../../src/catalog/memory/changes.ts';
import { createDocuments } from '../../../src/catalog/memory/documents.ts';
import { createRevisionCheck } from '../../../src/revision/revision.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
afterAll(() => world.stop());
const { reader } = world.database;

const category = await world.aCategory();
// Names that are equal, or that the collation of the database would sort in another way.
for (const name of ['b', 'a', 'a', 'a', 'É', 'Z', '\u{10000}', '\u{e000}']) {
  await world.aTemplate({ name, sort_name: name, category_id: category.id });
}

test('the catalog that is read in parts of any size is the same', async () => {
  const whole = await readCatalog(reader, templates);
  expect(whole.templates.map(({ sortName }) => sortName)).toEqual([
    'Z',
    'a',
    'a',
    'a',
    'b',
    'É',
    '\u{e000}',
    '\u{10000}',
  ]);
  for (const size of [1, 2, 4, 8, 9]) expect(await readCatalog(reader, templates, size)).toEqual(whole);
});

test('the parts of the catalog are those of one snapshot', async () => {
  const { state, templates: before } = await readCatalog(reader, templates);
  const changing: typeof reader = {
    ...reader,
    inSnapshot: (work) =>
      reader.inSnapshot(async (snapshot) => {
        let statements = 0;
        const read: Reader['read'] = async (statement) => {
          statements += 1;
          if (statements === 3) await world.aTemplate({ name: 'c', sort_name: 'c', category_id: category.id });
          return snapshot.read(statement);
        };
        return work({ read });
      }),
  };
  const read = await readCatalog(changing, templates, 2);
  expect(read.templates).toEqual(before);
  expect(read.state).toEqual(state);
});

test('downloads that are stored while the catalog is read decide the order of lists', async () => {
  const counted = await world.aTemplate({ category_id: category.id });
  const stored: { count: () => void } = { count: () => undefined };
  const slow: typeof reader = {
    ...reader,
    inSnapshot: async (work) => {
      const result = await reader.inSnapshot(work);
      stored.count();
      return result;
    },
  };
  const index = createCatalogIndex(slow, createDocuments(reader, templates));
  stored.count = () => index.setDownloads([{ id: counted.id, count: 5 }]);
  const request = {
    viewer: { kind: 'administrator' } as const,
    revision: await createRevisionCheck(world.database.revisionReader).latest(),
  };
  const first = await index.read(request, ({ entries }) => entries.inOrder('-download_count')[0]);
  expect(first).toMatchObject({ id: counted.id, downloads: 5 });
});
