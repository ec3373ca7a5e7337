import { byDepth } from '@svc/testing';
import { registerStoredTags } from '../../src/catalog/tags.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { anonymous, as, aTemplate, aCategory, aGrant, aUser, database } = world;
afterAll(() => world.stop());

const LIST = '/api/v1/catalog/templates';
const slugs = (answer: { body: { templates: { slug: string }[] } }) => answer.body.templates.map(({ slug }) => slug);

describe('visibility of templates', () => {
  const fixture = (async () => {
    const owner = await world.anOrganization();
    const stranger = await world.anOrganization();
    const granted = await world.anOrganization();
    const open = await aCategory({ slug: 'seen-open' });
    const closed = await aCategory({ slug: 'seen-closed', is_private: true });
    await aGrant(granted, closed);
    for (const [category, category_id] of [
      ['open', open.id],
      ['closed', closed.id],
    ] as const) {
      for (const is_public of [true, false]) {
        for (const [ownership, owner_org_id] of [
          ['unowned', null],
          ['owned', owner.id],
        ] as const) {
          const slug = `seen-${category}-${is_public ? 'public' : 'hidden'}-${ownership}`;
          await aTemplate({ slug, category_id, is_public, owner_org_id });
        }
      }
    }
    const admin = await world.aUser('admin');
    const callers = {
      anonymous,
      user: await world.aUser('user'),
      stranger: as(stranger),
      granted: as(granted),
      owner: as(owner),
      admin,
    };
    return { callers };
  })();

  const all = [
    'open-public-unowned',
    'open-public-owned',
    'open-hidden-unowned',
    'open-hidden-owned',
    'closed-public-unowned',
    'closed-public-owned',
    'closed-hidden-unowned',
    'closed-hidden-owned',
  ];
  const publicTemplates = ['open-public-unowned', 'open-public-owned'];
  const table = {
    anonymous: publicTemplates,
    user: publicTemplates,
    stranger: publicTemplates,
    granted: [...publicTemplates, 'closed-public-unowned', 'closed-public-owned', 'closed-hidden-unowned'],
    owner: [...publicTemplates, 'open-hidden-owned', 'closed-public-owned', 'closed-hidden-owned'],
    admin: all,
  };

  test.each(Object.entries(table))(
    'caller %s sees exactly the expected templates in list, slug, total, categories and updates',
    async (caller, expected) => {
      const api = (await fixture).callers[caller as keyof typeof table];
      const visible = expected.map((slug) => `seen-${slug}`).sort();

      const list = await api.get(`${LIST}?search=seen-&limit=100`);
      expect(slugs(list).sort()).toEqual(visible);
      expect(list.body.pagination.total).toBe(visible.length);

      for (const slug of all.map((name) => `seen-${name}`)) {
        expect((await api.get(`${LIST}/${slug}`)).status).toBe(visible.includes(slug) ? 200 : 404);
      }
      const updates = await api.get(`${LIST}/updates?since=1970-01-01T00:00:00Z`);
      expect(
        slugs(updates)
          .filter((slug) => slug.startsWith('seen-'))
          .sort(),
      ).toEqual(visible);

      const categories = await api.get('/api/v1/catalog/categories');
      for (const category of ['open', 'closed']) {
        const listed = categories.body.categories.find(({ slug }: { slug: string }) => slug === `seen-${category}`);
        const inside = visible.filter((slug) => slug.startsWith(`seen-${category}`));
        expect(slugs(await api.get(`${LIST}?category=seen-${category}`)).sort()).toEqual(inside);
        if (listed) expect(listed.template_count).toBe(inside.length);
        expect(listed !== undefined).toBe(category === 'open' || caller === 'granted' || caller === 'admin');
      }
    },
  );

  test('answers alike for an invisible and for an unknown template', async () => {
    const { callers } = await fixture;
    const hidden = await callers.stranger.get(`${LIST}/seen-closed-hidden-owned`, { 'X-Request-Id': 'same' });
    const absent = await callers.stranger.get(`${LIST}/unknown`, { 'X-Request-Id': 'same' });
    expect(hidden.text).toBe(absent.text);
    expect(hidden.status).toBe(404);
  });

  test('answers alike for an invisible and for an unknown category', async () => {
    const { callers } = await fixture;
    const closed = await callers.stranger.get(`${LIST}?category=seen-closed`);
    const absent = await callers.stranger.get(`${LIST}?category=unknown`);
    expect(closed.text).toBe(absent.text);
    expect(closed.body).toEqual({ templates: [], pagination: { page: 1, limit: 50, total: 0, totalPages: 0 } });
  });
});

describe('filters', () => {
  const category = aCategory({ slug: 'filters' });
  const made = category.then(async ({ id: category_id }) => {
    await aTemplate({ slug: 'filter-a', name: 'Éclair 100%', description: 'sweet', category_id, tags: ['gpu', 'new'] });
    await aTemplate({
      slug: 'filter-b',
      name: 'eclipse',
      description: 'Says ÉCLAIR inside',
      category_id,
      tags: ['cpu'],
      is_featured: true,
    });
    await aTemplate({ slug: 'filter-c', name: 'under_score', description: 'back\\slash', category_id, tags: [] });
    await aTemplate({ slug: 'filter-d', name: 'underXscore', description: '', category_id, tags: ['new'] });
  });
  const find = async (query: string) => {
    await made;
    return slugs(await anonymous.get(`${LIST}?category=filters&${query}`));
  };

  test.each([
    ['search=%C3%A9clair', ['filter-b', 'filter-a']],
    ['search=SWEET', ['filter-a']],
    ['search=100%25', ['filter-a']],
    ['search=%25', ['filter-a']],
    ['search=r_s', ['filter-c']],
    ['search=back%5Cslash', ['filter-c']],
    ['search=absent', []],
    ['featured=true', ['filter-b']],
    ['featured=false', ['filter-b', 'filter-c', 'filter-d', 'filter-a']],
    ['tags=gpu', ['filter-a']],
    ['tags=cpu,%20new', ['filter-b', 'filter-d', 'filter-a']],
    ['tags=absent', []],
    ['tags=new&search=under', ['filter-d']],
  ])('the query %s finds %j', async (query, expected) => {
    expect((await find(query)).sort()).toEqual([...expected].sort());
  });

  test('sorts templates by folded name', async () => {
    expect(await find('')).toEqual(['filter-b', 'filter-c', 'filter-d', 'filter-a']);
  });

  test.each([
    ['page=0', 'page'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['page=1&page=2', 'page'],
    ['featured=yes', 'featured'],
    ['serach=x', 'serach'],
  ])('rejects the query %s with an error for the parameter %s', async (query, parameter) => {
    const answer = await anonymous.get(`${LIST}?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].path).toBe(parameter);
  });
});

describe('the filter by tags', () => {
  const find = async (tags: string) => slugs(await anonymous.get(`${LIST}?tags=${encodeURIComponent(tags)}`));

  test.each([
    ['GPU-Ready', 'gpu-READY'],
    ['Ähnlich', 'äHNLICH'],
    ['ＡＢＣ', 'abc'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
  ])('finds a template with the tag %s by %s', async (stored, asked) => {
    const admin = await aUser('admin');
    const { id: category_id } = await aCategory();
    const { body } = await admin.post('/api/v1/admin/templates', {
      name: `Tagged ${stored}`,
      slug: `tagged-${stored.length}-${asked.length}-${stored.codePointAt(0)}`,
      category_id,
      tags: [stored],
    });
    expect(body.template.tags).toEqual([stored]);
    for (const tag of [stored, asked]) expect(await find(tag)).toEqual([body.template.slug]);
    await admin.put('/api/v1/admin/templates', { id: body.template.id, tags: [`${stored}2`] });
    expect(await find(asked)).toEqual([]);
    expect(await find(`${asked}2`)).toEqual([body.template.slug]);
  });

  test('finds a tag that a previous version of the hub wrote, after it is registered', async () => {
    const { slug } = await aTemplate({ tags: ['From Before'] });
    expect(await find('From Before')).toEqual([slug]);
    expect(await registerStoredTags(database)).toBeGreaterThan(0);
    expect(await find('from BEFORE')).toEqual([slug]);
    expect(await registerStoredTags(database)).toBe(0);
  });
});

describe('paging', () => {
  const made = aCategory({ slug: 'paging' }).then(async ({ id: category_id }) => {
    for (const letter of ['a', 'b', 'c']) await aTemplate({ slug: `paging-${letter}`, category_id });
  });

  test.each([
    ['page=1&limit=2', ['paging-a', 'paging-b']],
    ['page=2&limit=2', ['paging-c']],
    ['page=3&limit=2', []],
  ])('the query %s returns the rows of its page and the total of all pages', async (query, expected) => {
    await made;
    const answer = await anonymous.get(`${LIST}?category=paging&${query}`);
    expect(slugs(answer)).toEqual(expected);
    expect(answer.body.pagination).toMatchObject({ limit: 2, total: 3, totalPages: 2 });
  });
});

describe('downloads', () => {
  test('counts a GET with an API key, but no anonymous request and no HEAD, and keeps updated_at', async () => {
    const organization = await world.anOrganization();
    const { slug, updated_at } = await aTemplate();
    expect((await as(organization).get(`${LIST}/${slug}`)).body.download_count).toBe(1);
    await as(organization).send({ method: 'HEAD', path: `${LIST}/${slug}` });
    await anonymous.get(`${LIST}/${slug}`);
    const last = await as(organization).get(`${LIST}/${slug}`);
    expect(last.body).toMatchObject({ download_count: 2, updated_at: updated_at.toISOString() });
  });

  test('counts each of many concurrent requests', async () => {
    const fetches = byDepth({ short: 50, full: 200, long: 200 });
    const organization = await world.anOrganization();
    const { slug } = await aTemplate();
    await Promise.all(Array.from({ length: fetches }, () => as(organization).get(`${LIST}/${slug}`)));
    expect((await anonymous.get(`${LIST}/${slug}`)).body.download_count).toBe(fetches);
  });
});

describe('view=summary', () => {
  const templates = (body: { templates: { slug: string; documentation: string }[] }, slug: string) =>
    body.templates.find((template) => template.slug === slug);

  test('has no documentation, and all other members', async () => {
    const documentation = '# How to use it';
    const { slug } = await world.aTemplate({ documentation, description: 'for the summary' });
    const path = '/api/v1/catalog/templates?search=for+the+summary';
    const full = await world.anonymous.get(path);
    const summary = await world.anonymous.get(`${path}&view=summary`);
    expect(templates(full.body, slug)).toMatchObject({ documentation });
    expect(templates(summary.body, slug)).toEqual({ ...templates(full.body, slug), documentation: '' });
    expect(summary.headers.etag).not.toBe(full.headers.etag);
    expect((await world.anonymous.get(`${path}&view=full`)).body).toEqual(full.body);
  });

  test('also applies to the list for administrators', async () => {
    const { slug } = await world.aTemplate({ documentation: '# Text', description: 'for the administrators' });
    const admin = await world.aUser('admin');
    for (const paging of ['', '&limit=10']) {
      const path = `/api/v1/admin/templates?search=for+the+administrators${paging}`;
      expect(templates((await admin.get(path)).body, slug)).toMatchObject({ documentation: '# Text' });
      expect(templates((await admin.get(`${path}&view=summary`)).body, slug)).toMatchObject({ documentation: '' });
    }
  });

  test('must be a known view', async () => {
    const { status, body } = await world.anonymous.get('/api/v1/catalog/templates?view=short');
    expect({ status, errors: body.errors }).toEqual({
      status: 400,
      errors: [{ path: 'view', message: 'must be full or summary' }],
    });
  });
});
