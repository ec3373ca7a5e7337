import { aTemplate } from '../a-template.ts';
import { startFakeHub } from '../fake-hub.ts';
import { startWorld } from '../world.ts';

const TEMPLATES = '/api/v1/catalog/templates';

const hub = await startFakeHub();
const world = await startWorld({ hub });
hub.publish(
  aTemplate({ name: 'Éclair', category_slug: 'sweets', tags: ['french', 'Cold'], description: 'of choux pastry' }),
  aTemplate({
    name: 'apple pie',
    category_slug: 'sweets',
    tags: ['warm'],
    is_featured: true,
    required_network_types: ['mesh', 'public'],
  }),
  aTemplate({
    name: 'Bread 100%',
    category_slug: 'bakery',
    tags: ['warm', 'daily'],
    required_network_types: ['mesh'],
  }),
  aTemplate({ name: 'rye_bread', slug: 'rye', category_slug: 'bakery', description: 'dark\\heavy' }),
  aTemplate({ name: 'Zwieback', category_slug: 'bakery', is_featured: true, documentation: 'needle' }),
);
await world.sync.run();
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

const list = async (query = '') => {
  const { status, body } = await world.asViewer.get(`${TEMPLATES}${query}`);
  expect(status).toBe(200);
  return body;
};
const names = async (query: string) => (await list(query)).templates.map(({ name }: { name: string }) => name);

test('the list contains all templates by folded name', async () => {
  expect(await names('')).toEqual(['apple pie', 'Bread 100%', 'rye_bread', 'Zwieback', 'Éclair']);
});

test.each([
  ['category', '?category=sweets', ['apple pie', 'Éclair']],
  ['an unknown category', '?category=drinks', []],
  ['featured', '?featured=true', ['apple pie', 'Zwieback']],
  ['featured=false, which has no effect', '?featured=false&category=sweets', ['apple pie', 'Éclair']],
  ['tag', '?tags=cold', ['Éclair']],
  ['any of several tags', '?tags=cold,%20daily,', ['Bread 100%', 'Éclair']],
  ['a tag in another case', '?tags=Warm,COLD', ['apple pie', 'Bread 100%', 'Éclair']],
  ['unknown tags', '?tags=lukewarm', []],
  ['a case-insensitive search in the name', '?search=BREAD', ['Bread 100%', 'rye_bread']],
  ['a search in the description', '?search=choux', ['Éclair']],
  ['a search for É with é', '?search=%C3%A9CLAIR', ['Éclair']],
  ['a search for é in decomposed form', '?search=e%CC%81clair', ['Éclair']],
  ['a literal search for %', '?search=%25', ['Bread 100%']],
  ['a literal search for _', '?search=_', ['rye_bread']],
  ['a literal search for a backslash', '?search=k%5Ch', ['rye_bread']],
  ['a search, which excludes the documentation', '?search=needle', []],
  ['a search, which does not match across name and description', '?search=%C3%A9clairof', []],
  ['a search without surrounding blanks', '?search=%20BREAD%20', ['Bread 100%', 'rye_bread']],
  ['words in any order and without accents', '?q=choux%20eclair', ['Éclair']],
  ['words of slugs and tags, the best match first', '?q=rye', ['rye_bread']],
  ['a word of the name before a word of an image', '?q=bread', ['Bread 100%', 'rye_bread']],
  ['words and other filters', '?q=bread&tags=warm', ['Bread 100%']],
  ['words of the documentation, which are not searched', '?q=needle', []],
  ['words that are blank, which have no effect', '?q=%20&category=sweets', ['apple pie', 'Éclair']],
  ['several at once', '?search=bread&tags=warm&category=bakery&featured=false', ['Bread 100%']],
])('the list of templates can be filtered by %s', async (_, query, expected) => {
  expect(await names(query)).toEqual(expected);
});

test('consecutive pages of templates contain all of them, and each page has the total', async () => {
  expect(await list('?limit=2&page=1')).toMatchObject({
    templates: [{ name: 'apple pie' }, { name: 'Bread 100%' }],
    pagination: { page: 1, limit: 2, total: 5, totalPages: 3 },
  });
  expect(await names('?limit=2&page=2')).toEqual(['rye_bread', 'Zwieback']);
  expect(await names('?limit=2&page=3')).toEqual(['Éclair']);
});

test('a page of templates past the end is empty, with the correct total', async () => {
  expect(await list('?limit=2&page=4')).toEqual({
    templates: [],
    pagination: { page: 4, limit: 2, total: 5, totalPages: 3 },
  });
});

test('a list of templates without matches has no pages', async () => {
  expect((await list('?search=nothing')).pagination).toEqual({ page: 1, limit: 50, total: 0, totalPages: 0 });
});

test.each([
  ['limit=101', 'limit'],
  ['page=0', 'page'],
  ['limit=ten', 'limit'],
  ['page=1&page=2', 'page'],
  ['featured=yes', 'featured'],
  ['order=name', 'order'],
  ['search=%00', 'search'],
  ['search=%ff', 'UTF-8'],
])('a list of templates with %s is a 400 that names the problem', async (query, named) => {
  const { status, body } = await world.asViewer.get(`${TEMPLATES}?${query}`);
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_failed' });
  expect(body.detail).toContain(named);
});

test('a template can be read by its slug', async () => {
  const { status, body } = await world.asViewer.get(`${TEMPLATES}/rye`);
  expect({ status, name: body.name }).toEqual({ status: 200, name: 'rye_bread' });
});

test.each(['nothing', 'RYE', '%25', 'rye%00', 'a%2Fb', '%F0%9F%8D%9E'])(
  'a request for the unknown slug %s is answered 404',
  async (slug) => {
    expect(await world.asViewer.get(`${TEMPLATES}/${slug}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  },
);

test('after two templates swapped their slugs, each is returned for its new one', async () => {
  const left = aTemplate({ slug: 'left', name: 'Left' });
  const right = aTemplate({ slug: 'right', name: 'Right' });
  hub.publish(left, right);
  await world.sync.run();
  hub.publish({ ...left, slug: 'right' }, { ...right, slug: 'left' });
  await world.sync.run();
  expect((await world.asViewer.get(`${TEMPLATES}/right`)).body.name).toBe('Left');
  expect((await world.asViewer.get(`${TEMPLATES}/left`)).body.name).toBe('Right');
  hub.withdraw(left);
  hub.withdraw(right);
  await world.sync.run();
});

test('if two templates have the same slug, the one that was written last is returned', async () => {
  const older = aTemplate({ slug: 'twice', name: 'Older', updated_at: '2026-03-01T00:00:00.000Z' });
  const newer = aTemplate({ slug: 'twice', name: 'Newer', updated_at: '2026-03-02T00:00:00.000Z' });
  hub.publish(newer, older);
  await world.sync.run();
  expect((await world.asViewer.get(`${TEMPLATES}/twice`)).body.name).toBe('Newer');
  hub.withdraw(older);
  hub.withdraw(newer);
  await world.sync.run();
});

test('view=summary has no documentation, and all other members', async () => {
  const template = aTemplate({ slug: 'documented', name: 'Documented', documentation: '# Text' });
  hub.publish(template);
  await world.sync.run();
  const read = async (query: string) =>
    (await world.asViewer.get(`${TEMPLATES}?search=Documented${query}`)).body.templates;
  const [full] = await read('');
  expect(full).toMatchObject({ slug: 'documented', documentation: '# Text' });
  expect(await read('&view=summary')).toEqual([{ ...full, documentation: '' }]);
  hub.withdraw(template);
  await world.sync.run();
});

test('a list of templates may be cached only by its caller', async () => {
  const { headers } = await world.asViewer.get(TEMPLATES);
  expect(headers).toMatchObject({
    'cache-control': 'private, no-cache',
    vary: 'Accept-Encoding, Authorization, Cookie, Origin',
  });
});

test('a list without documentation reads stored summaries, of which the size is known', async () => {
  const rows = await world.database.client.$queryRaw<{ slug: string; same: boolean; sizes: boolean }[]>`
    SELECT slug, summary = document || '{"documentation": ""}'::jsonb AS same,
      document_bytes = octet_length(document::text) AND summary_bytes = octet_length(summary::text) AS sizes
    FROM catalog_templates`;
  expect(rows).toHaveLength(5);
  expect(rows.filter(({ same, sizes }) => !same || !sizes)).toEqual([]);
  const { templates } = await list('?view=summary&search=zwieback');
  expect(templates).toMatchObject([{ name: 'Zwieback', documentation: '' }]);
});

test('a search by words ranks the templates of all pages, and finds what a sync changed', async () => {
  const source = await startFakeHub();
  const other = await startWorld({ hub: source });
  const found = async (query: string) => {
    const { body } = await other.asViewer.get(`${TEMPLATES}?${query}`);
    return { names: body.templates.map(({ name }: { name: string }) => name), total: body.pagination.total };
  };
  const described = aTemplate({ name: 'Anvil', description: 'Forges horseshoes' });
  source.publish(described, aTemplate({ name: 'Horseshoe' }), aTemplate({ name: 'Box', image_name: 'x/horseshoes' }));
  await other.sync.run();
  expect(await found('q=horseshoe&limit=2')).toEqual({ names: ['Horseshoe', 'Box'], total: 3 });
  expect(await found('q=horseshoe&limit=2&page=2')).toEqual({ names: ['Anvil'], total: 3 });
  source.publish({ ...described, description: 'Forges swords', updated_at: '2026-01-03T00:00:00.000Z' });
  await other.sync.run();
  expect(await found('q=horseshoe')).toEqual({ names: ['Horseshoe', 'Box'], total: 2 });
  expect(await found('q=swords')).toEqual({ names: ['Anvil'], total: 1 });
  await other.stop();
  await source.stop();
});

test.each(['ΟΔΌΣ', 'izmir', 'MASSSTAB'])('a search folds letters fully, also in a stored text: %s', async (term) => {
  const names: Record<string, string> = { ΟΔΌΣ: 'Οδός', izmir: 'İzmir', MASSSTAB: 'Maßstab' };
  const template = aTemplate({ name: names[term] ?? '' });
  hub.publish(template);
  await world.sync.run();
  await world.database.client.$executeRaw`
    UPDATE catalog_templates SET search_text = ${template.name.toLowerCase()} WHERE id = ${template.id}::uuid`;
  expect((await list(`?search=${encodeURIComponent(term)}`)).pagination.total).toBe(1);
  hub.withdraw(template);
  await world.sync.run();
});

test('the required network types are listed with the number of templates, the most frequent one first', async () => {
  const { status, body } = await world.asViewer.get('/api/v1/catalog/network-types');
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      template_count: 5,
      network_types: [
        { name: 'public', template_count: 4 },
        { name: 'mesh', template_count: 2 },
      ],
    },
  });
});
