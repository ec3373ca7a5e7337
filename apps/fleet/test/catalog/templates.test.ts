import { aTemplate } from '../a-template.ts';
import { startFakeHub } from '../fake-hub.ts';
import { startWorld } from '../world.ts';

const TEMPLATES = '/api/v1/catalog/templates';

const hub = await startFakeHub();
const world = await startWorld({ hub });
hub.publish(
  aTemplate({ name: 'Éclair', category_slug: 'sweets', tags: ['french', 'cold'], description: 'of choux pastry' }),
  aTemplate({ name: 'apple pie', category_slug: 'sweets', tags: ['warm'], is_featured: true }),
  aTemplate({ name: 'Bread 100%', category_slug: 'bakery', tags: ['warm', 'daily'] }),
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

test('all templates are listed by folded name', async () => {
  expect(await names('')).toEqual(['apple pie', 'Bread 100%', 'rye_bread', 'Zwieback', 'Éclair']);
});

test.each([
  ['category', '?category=sweets', ['apple pie', 'Éclair']],
  ['category that is not there', '?category=drinks', []],
  ['featured', '?featured=true', ['apple pie', 'Zwieback']],
  ['featured=false, which filters nothing out', '?featured=false&category=sweets', ['apple pie', 'Éclair']],
  ['tag', '?tags=cold', ['Éclair']],
  ['any of several tags', '?tags=cold,%20daily,', ['Bread 100%', 'Éclair']],
  ['tags, none of which is there', '?tags=Warm', []],
  ['search in the name, in any case', '?search=BREAD', ['Bread 100%', 'rye_bread']],
  ['search in the description', '?search=choux', ['Éclair']],
  ['search for É by é', '?search=%C3%A9CLAIR', ['Éclair']],
  ['search for é written as two characters', '?search=e%CC%81clair', ['Éclair']],
  ['search for %, literally', '?search=%25', ['Bread 100%']],
  ['search for _, literally', '?search=_', ['rye_bread']],
  ['search for a backslash, literally', '?search=k%5Ch', ['rye_bread']],
  ['search, not in the documentation', '?search=needle', []],
  ['search, not across name and description', '?search=%C3%A9clairof', []],
  ['several at once', '?search=bread&tags=warm&category=bakery&featured=false', ['Bread 100%']],
])('filter by %s', async (_, query, expected) => {
  expect(await names(query)).toEqual(expected);
});

test('pages follow one another, and each knows the total', async () => {
  expect(await list('?limit=2&page=1')).toMatchObject({
    templates: [{ name: 'apple pie' }, { name: 'Bread 100%' }],
    pagination: { page: 1, limit: 2, total: 5, totalPages: 3 },
  });
  expect(await names('?limit=2&page=2')).toEqual(['rye_bread', 'Zwieback']);
  expect(await names('?limit=2&page=3')).toEqual(['Éclair']);
});

test('a page past the end is empty, with the true total', async () => {
  expect(await list('?limit=2&page=4')).toEqual({
    templates: [],
    pagination: { page: 4, limit: 2, total: 5, totalPages: 3 },
  });
});

test('a filter that finds nothing has no pages', async () => {
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
])('%s is a 400 that names what is wrong', async (query, named) => {
  const { status, body } = await world.asViewer.get(`${TEMPLATES}?${query}`);
  expect([status, body.code]).toEqual([400, 'validation_failed']);
  expect(body.detail).toContain(named);
});

test('a template is found by its slug', async () => {
  const { status, body } = await world.asViewer.get(`${TEMPLATES}/rye`);
  expect([status, body.name]).toEqual([200, 'rye_bread']);
});

test.each(['nothing', 'RYE', '%25', 'rye%00', 'a%2Fb', '%F0%9F%8D%9E'])(
  'there is no template with the slug %s',
  async (slug) => {
    expect(await world.asViewer.get(`${TEMPLATES}/${slug}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  },
);

test('after two templates swapped their slugs each answers to its new one', async () => {
  const [left, right] = [aTemplate({ slug: 'left', name: 'Left' }), aTemplate({ slug: 'right', name: 'Right' })];
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

test('where two have one slug, the one that was written last answers', async () => {
  const older = aTemplate({ slug: 'twice', name: 'Older', updated_at: '2026-03-01T00:00:00.000Z' });
  const newer = aTemplate({ slug: 'twice', name: 'Newer', updated_at: '2026-03-02T00:00:00.000Z' });
  hub.publish(newer, older);
  await world.sync.run();
  expect((await world.asViewer.get(`${TEMPLATES}/twice`)).body.name).toBe('Newer');
  hub.withdraw(older);
  hub.withdraw(newer);
  await world.sync.run();
});

test('a list is for the caller’s own cache', async () => {
  const { headers } = await world.asViewer.get(TEMPLATES);
  expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Authorization, Origin' });
});
