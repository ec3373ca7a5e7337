import type { Reader } from '@svc/database';
import { byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { templates } from '../../../src/catalog/kinds.ts';
import { createCatalogIndex } from '../../../src/catalog/memory/catalog-index.ts';
import { createDocuments } from '../../../src/catalog/memory/documents.ts';
import { createMatches, type Matching } from '../../../src/catalog/memory/matches.ts';
import { writeCatalog } from '../../../src/database/catalog-write.ts';
import { createRevisionCheck } from '../../../src/revision/revision.ts';
import { anInstance, startWorld } from '../../world.ts';

const HISTORIES = byDepth({ short: 5, full: 20, long: 500 });
const LIST = '/api/v1/catalog/templates';
const world = await startWorld();
afterAll(() => world.stop());
const { reader } = world.database;
const administrator = { kind: 'administrator' } as const;

/**
 * The matches of a new index. Its statements that evaluate filters are counted, and wait for
 * `ready`.
 */
function someMatches({ max, ready = () => Promise.resolve() }: { max?: number; ready?: () => Promise<void> } = {}) {
  let statements = 0;
  const counted: Reader = {
    async read(statement) {
      statements += 1;
      const rows = await reader.read<never>(statement);
      await ready();
      return rows;
    },
  };
  const index = createCatalogIndex(reader, createDocuments(reader, templates));
  const revisions = createRevisionCheck(reader);
  const matches = createMatches(counted, templates, max);
  return {
    of: async (search: string): Promise<string[] | undefined> => {
      const request = { viewer: administrator, revision: await revisions.latest() };
      const matching: Matching = await index.read(request, (indexed) => matches.of(indexed, { search }));
      return matching.entries?.map(({ slug }) => slug);
    },
    statements: () => statements,
  };
}
const edit = (id: string, description: string) =>
  writeCatalog(world.database, ({ template }) =>
    template.update({ where: { id }, data: { description, search_text: description } }),
  );

test('after changes, the filters are evaluated for the changed templates only', async () => {
  const first = await world.aTemplate({ slug: 'quartz-1', search_text: 'quartz' });
  const second = await world.aTemplate({ slug: 'quartz-2', search_text: 'quartz' });
  const matches = someMatches();
  expect(await matches.of('quartz')).toEqual([first.slug, second.slug]);
  expect(await matches.of('quartz')).toHaveLength(2);
  expect(matches.statements()).toBe(1);
  await edit(first.id, 'other');
  expect(await matches.of('quartz')).toEqual([second.slug]);
  await edit(first.id, 'quartz');
  expect(await matches.of('quartz')).toEqual([first.slug, second.slug]);
  expect(matches.statements()).toBe(3);
  await writeCatalog(world.database, ({ template }) => template.delete({ where: { id: first.id } }));
  expect(await matches.of('quartz')).toEqual([second.slug]);
  expect(matches.statements()).toBe(3);
});

test('templates that change while a slow statement evaluates the filters are evaluated again', async () => {
  const changing = await world.aTemplate({ slug: 'opal-1', search_text: 'opal' });
  let change = async () => {
    change = async () => undefined;
    await edit(changing.id, 'other');
    await matches.of('unknown'); // the index reads the change
  };
  const matches = someMatches({ ready: () => change() });
  expect(await matches.of('opal')).toEqual([]);
});

test('more templates than the maximum are not read, and their pages come from the database', async () => {
  for (const number of [1, 2, 3]) await world.aTemplate({ slug: `agate-${number}`, search_text: 'agate' });
  expect(await someMatches({ max: 3 }).of('agate')).toHaveLength(3);
  const matches = someMatches({ max: 2 });
  expect(await matches.of('agate')).toBeUndefined();
  await world.aTemplate({ search_text: 'agate' });
  expect(await matches.of('agate')).toBeUndefined();
  expect(matches.statements()).toBe(1);
});

const organization = await world.anOrganization();
const categories = [await world.aCategory(), await world.aCategory(), await world.aCategory({ is_private: true })];
const word = fc.constantFrom('amber', 'beryl', 'amber beryl', 'jade');
const change = fc.record({
  number: fc.nat({ max: 5 }),
  data: fc.record({
    search_text: word,
    sort_name: fc.constantFrom('a', 'b', 'c'),
    tags: fc.subarray(['One', 'two']),
    is_featured: fc.boolean(),
    is_public: fc.boolean(),
    category_id: fc.constantFrom(...categories.map(({ id }) => id)),
  }),
  isDeleted: fc.boolean(),
});
const filters = [
  'search=amber',
  'search=e&tags=ONE',
  'tags=two,one',
  'featured=true',
  `featured=true&category=${categories[0]?.slug}`,
];

test('a replica that applied the changes lists the same templates as a new one', async () => {
  const replica = anInstance(world.databaseUrl, world.issuer);
  const authorizations = [undefined, `Bearer ${organization.key}`, await world.anAuthorization('admin')];
  const listsOf = (instance: typeof replica) =>
    Promise.all(
      authorizations.flatMap((authorization) =>
        filters.map(async (filter) => {
          const { body } = await instance.api(authorization).get(`${LIST}?limit=3&${filter}`);
          return { ids: body.templates.map(({ id }: { id: string }) => id), pagination: body.pagination };
        }),
      ),
    );
  const apply = async ({ number, data, isDeleted }: { number: number; data: object; isDeleted: boolean }) => {
    const slug = `stone-${number}`;
    const existing = await world.database.client.template.findUnique({ where: { slug } });
    if (!existing) await world.aTemplate({ ...data, slug });
    else
      await writeCatalog(world.database, async ({ template }) => {
        if (isDeleted) await template.delete({ where: { slug } });
        else await template.update({ where: { slug }, data });
      });
  };
  const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
    for (const each of changes) await apply(each);
    const fresh = anInstance(world.databaseUrl, world.issuer);
    const expected = await listsOf(fresh).finally(() => fresh.stop());
    expect(await listsOf(replica)).toEqual(expected);
  });
  try {
    await fc.assert(property, seeded({ numRuns: HISTORIES }));
  } finally {
    await replica.stop();
  }
});
