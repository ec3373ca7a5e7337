import { type Api, eventually } from '@svc/testing';
import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const LIST = '/api/v1/catalog/templates';
const owner = await world.anOrganization();
const granted = await world.anOrganization();
const open = await world.aCategory({ slug: 'open' });
const other = await world.aCategory({ slug: 'other' });
const closed = await world.aCategory({ slug: 'closed', is_private: true });
await world.aGrant(granted, closed);
/** Each template has a name, a number of downloads and a time of creation that give another order. */
const made = [
  { slug: 'a', category_id: open.id, kind: 'service', min_tier: 'free', gpu_count: 0, downloads: 1, day: 3 },
  { slug: 'b', category_id: open.id, kind: 'job', min_tier: 'pro', gpu_count: 2, downloads: 3, day: 1 },
  { slug: 'c', category_id: other.id, kind: 'job', min_tier: 'free', gpu_count: 1, downloads: 0, day: 2 },
  {
    slug: 'd',
    category_id: closed.id,
    kind: 'secret-kind',
    min_tier: 'enterprise',
    gpu_count: 1,
    downloads: 9,
    day: 4,
  },
  {
    slug: 'e',
    category_id: open.id,
    kind: 'hidden-kind',
    is_public: false,
    owner_org_id: owner.id,
    downloads: 8,
    day: 5,
  },
] as const;
for (const { downloads, day: _, ...template } of made.toSorted((one, other) => one.day - other.day)) {
  const name = `Template ${template.slug}`;
  const { id } = await world.aTemplate({ ...template, name, tags: ['shared'] });
  await world.database.client.templateDownload.create({ data: { template_id: id, count: downloads } });
}
const callers: Readonly<Record<string, Api>> = {
  anonymous: world.anonymous,
  granted: world.as(granted),
  owner: world.as(owner),
  admin: await world.aUser('admin'),
};

const listed = async (caller: Api, query: string): Promise<string[]> => {
  const { body } = await caller.get(`${LIST}?limit=100&${query}`);
  expect(body.pagination.total).toBe(body.templates.length);
  return body.templates.map(({ slug }: { slug: string }) => slug);
};

test.each([
  ['sort=name', 'abcde'],
  ['sort=-created_at', 'edacb'],
  ['sort=-download_count', 'debac'],
  ['sort=-created_at&tags=shared', 'edacb'],
  ['sort=-download_count&q=template', 'debac'],
  ['sort=-download_count&category=open,other&gpu=true', 'bc'],
  ['kind=job,service&tier=free', 'ac'],
  ['gpu=false', 'ae'],
  ['category=open,closed&q=template', 'abde'],
  ['kind=absent', ''],
])('an administrator finds the templates of %s in this order', async (query, expected) => {
  expect((await listed(callers.admin ?? world.anonymous, query)).join('')).toBe(expected);
});

test('pages of an order continue each other', async () => {
  const page = async (number: number) =>
    (await world.anonymous.get(`${LIST}?sort=-download_count&limit=2&page=${number}`)).body;
  const [first, second] = [await page(1), await page(2)];
  expect([first, second].map(({ templates }) => templates.map(({ slug }: { slug: string }) => slug))).toEqual([
    ['b', 'a'],
    ['c'],
  ]);
  expect(first.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 });
});

test('downloads move a template in the order by downloads', async () => {
  for (let count = 0; count < 2; count++) await world.as(owner).get(`${LIST}/c`);
  await world.usage.flush();
  // A page is kept for a moment.
  const order = async () => (await listed(world.anonymous, 'sort=-download_count')).join('');
  await eventually('the template is in its new place', order, { until: (shown) => shown === 'bca' });
});

test.each(Object.keys(callers))(
  'each number that %s receives is that of the templates that the filter shows to this caller',
  async (name) => {
    const caller = callers[name] ?? world.anonymous;
    for (const query of ['', 'kind=job', 'category=open&gpu=true', 'q=template&tier=free', 'tags=shared', 'search=b']) {
      const { counts } = (await caller.get(`/api/v1/catalog/counts?${query}`)).body;
      const given = new URLSearchParams(query);
      for (const [filter, values] of Object.entries(counts)) {
        // The contract states this shape.
        for (const { value, count } of values as { value: string; count: number }[]) {
          const narrowed = new URLSearchParams(given);
          narrowed.set(filter, value);
          const found = await listed(caller, String(narrowed));
          expect({ query, filter, value, count: found.length }).toEqual({ query, filter, value, count });
        }
      }
    }
  },
);

test('no value of a template that the caller cannot see is counted', async () => {
  const valuesFor = async (name: string) => JSON.stringify((await callers[name]?.get('/api/v1/catalog/counts'))?.body);
  for (const hidden of ['secret-kind', 'hidden-kind', 'closed', 'enterprise']) {
    expect(await valuesFor('anonymous')).not.toContain(hidden);
    expect(await valuesFor('admin')).toContain(hidden);
  }
  expect(await valuesFor('granted')).toContain('secret-kind');
  expect(await valuesFor('granted')).not.toContain('hidden-kind');
  expect(await valuesFor('owner')).toContain('hidden-kind');
  expect(await valuesFor('owner')).not.toContain('secret-kind');
});

test.each(['sort=downloads', 'tier=gold', 'gpu=yes', 'kind=a%20b'])('%s is rejected', async (query) => {
  const { status, body } = await world.anonymous.get(`${LIST}?${query}`);
  expect(status).toBe(400);
  expect(query).toContain(body.errors[0].path);
});
