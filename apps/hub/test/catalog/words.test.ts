import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { anonymous, aTemplate } = world;
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const LIST = '/api/v1/catalog/templates';
const MANAGED = '/api/v1/admin/templates';
const slugsOf = ({ body }: { body: { templates: { slug: string }[] } }) => body.templates.map(({ slug }) => slug);
const find = async (q: string, api = anonymous, rest = '') =>
  slugsOf(await api.get(`${LIST}?q=${encodeURIComponent(q)}${rest}`));

const owner = await world.anOrganization();
const other = await world.anOrganization();
await aTemplate({ slug: 'quartz-db', name: 'Quartz', description: 'Keeps données', tags: ['ledger'] });
await aTemplate({ slug: 'viewer', name: 'Viewer', description: 'Shows the données of Quartz', is_featured: true });
await aTemplate({ slug: 'runner', name: 'Runner', image_name: 'jobs/quartzite', image_tag: '3.1' });
await aTemplate({ slug: 'secret', name: 'Quartz', is_public: false, owner_org_id: owner.id });

test.each([
  ['a word of the name before those of images and descriptions', 'quartz', ['quartz-db', 'runner', 'viewer']],
  ['words in any order', 'quartz shows', ['viewer']],
  ['words without case and accents', 'DONNEES Quartz', ['quartz-db', 'viewer']],
  ['a slug', 'quartz-db', ['quartz-db']],
  ['a tag', 'ledger', ['quartz-db']],
  ['an image with its tag', 'jobs/quartzite:3.1', ['runner']],
  ['nothing if a word is missing', 'quartz missing', []],
])('q finds %s', async (_, q, expected) => {
  expect(await find(q)).toEqual(expected);
  expect(slugsOf(await admin.get(`${MANAGED}?q=${encodeURIComponent(q)}`)).filter((slug) => slug !== 'secret')).toEqual(
    expected,
  );
});

test('q without a word other than blanks finds all templates, in the order of lists', async () => {
  expect(await find('  ')).toEqual(slugsOf(await anonymous.get(LIST)));
  expect(slugsOf(await admin.get(`${MANAGED}?q=%20`))).toEqual(slugsOf(await admin.get(MANAGED)));
});

test('q is combined with the other filters', async () => {
  expect(await find('quartz', anonymous, '&featured=true')).toEqual(['viewer']);
  expect(await find('quartz', anonymous, '&tags=ledger')).toEqual(['quartz-db']);
  expect(await find('quartz', anonymous, '&search=SHOWS')).toEqual(['viewer']);
  expect(await find('quartz', anonymous, '&category=missing')).toEqual([]);
  expect(slugsOf(await admin.get(`${MANAGED}?q=quartz&search=shows`))).toEqual(['viewer']);
  expect(slugsOf(await admin.get(`${MANAGED}?q=quartz&org_id=${owner.id}`))).toEqual(['secret']);
  expect(slugsOf(await admin.get(`${MANAGED}?q=quartz&as=${other.id}`))).not.toContain('secret');
});

test('the total of q counts the templates that the caller sees, and pages continue the same order', async () => {
  const page = (api: typeof anonymous, number: number, list = LIST) =>
    api.get(`${list}?q=quartz&limit=2&page=${number}`);
  expect((await page(anonymous, 1)).body.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 });
  expect([...slugsOf(await page(anonymous, 1)), ...slugsOf(await page(anonymous, 2))]).toEqual(await find('quartz'));
  expect((await page(world.as(owner), 1)).body.pagination.total).toBe(4);
  expect((await page(world.as(other), 1)).body.pagination.total).toBe(3);
  expect((await page(admin, 1, MANAGED)).body.pagination.total).toBe(4);
  expect(slugsOf(await page(admin, 9, MANAGED))).toEqual([]);
});

test('the next request with q finds a change', async () => {
  const { id } = await aTemplate({ slug: 'basalt', name: 'Basalt', description: 'Granite' });
  expect(await find('granite')).toEqual(['basalt']);
  const before = await anonymous.get(`${LIST}?q=basalt`);
  await writeCatalog(world.database, ({ template }) =>
    template.update({ where: { id }, data: { description: 'Marble' } }),
  );
  expect(await find('granite')).toEqual([]);
  expect(await find('marble')).toEqual(['basalt']);
  const after = await anonymous.get(`${LIST}?q=basalt`);
  expect(after.headers.etag).not.toBe(before.headers.etag);
  await writeCatalog(world.database, ({ template }) => template.delete({ where: { id } }));
  expect(await find('marble')).toEqual([]);
});

test('an invisible template does not change the response to q', async () => {
  const read = async () => {
    const { text, headers } = await anonymous.get(`${LIST}?q=quartz`);
    return { text, etag: headers.etag };
  };
  const before = await read();
  for (const n of [1, 2, 3]) {
    await aTemplate({ slug: `hidden-${n}`, name: 'Quartz quartz', description: 'données', is_public: false });
  }
  expect(await read()).toEqual(before);
});

test('surrounding blanks of q are ignored, and it has at most 16 words', async () => {
  expect(await find('  quartz shows ')).toEqual(['viewer']);
  const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ');
  expect((await anonymous.get(`${LIST}?q=${words(16)}`)).status).toBe(200);
  const { status, body } = await anonymous.get(`${LIST}?q=${words(17)}`);
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: [{ path: 'q', message: 'must have at most 16 different words' }],
  });
});

describe('search', () => {
  test.each([
    ['a final sigma', 'Οδός', 'ΟΔΌΣ'],
    ['a dotted capital I', 'İzmir', 'izmir'],
    ['a sharp s', 'Maßstab', 'MASSSTAB'],
  ])('folds %s, also in a text that an earlier version stored', async (what, name, term) => {
    const slug = what.replaceAll(' ', '-');
    await aTemplate({ slug, name, search_text: name.toLowerCase() });
    for (const list of [LIST, MANAGED]) {
      expect(slugsOf(await admin.get(`${list}?search=${encodeURIComponent(term)}`))).toEqual([slug]);
      expect(slugsOf(await admin.get(`${list}?search=${encodeURIComponent(name)}`))).toEqual([slug]);
    }
  });

  test('ignores surrounding blanks, and is a literal substring otherwise', async () => {
    const search = async (term: string) => slugsOf(await anonymous.get(`${LIST}?search=${encodeURIComponent(term)}`));
    expect(await search('  keeps données ')).toEqual(['quartz-db']);
    expect(await search('données keeps')).toEqual([]);
    expect(await search('donnees')).toEqual([]);
    expect(slugsOf(await admin.get(`${MANAGED}?search=%20keeps%20`))).toEqual(['quartz-db']);
  });
});
