import { expect } from '@jest/globals';
import type { Api } from '@svc/testing';
import type { Fixture } from './fixture.ts';

const TEMPLATES = '/api/v1/catalog/templates';

/** The ways to read templates from the catalog. */
export type Query = 'list' | 'search' | 'tags' | 'category' | 'featured' | 'slug' | 'changelog' | 'updates';

/** The slugs of a fixture that a caller finds with a query, sorted. */
export const queries: Readonly<Record<Query, (api: Api, fixture: Fixture) => Promise<string[]>>> = {
  list: (api, fixture) => find(api, fixture, ''),
  search: (api, fixture) => find(api, fixture, `search=${fixture.label}`),
  tags: (api, fixture) => find(api, fixture, `tags=${fixture.label},absent`),
  category: async (api, fixture) => {
    const { open, private: closed } = fixture.categories;
    const found = [...(await find(api, fixture, `category=${open.slug}`))];
    return [...found, ...(await find(api, fixture, `category=${closed.slug}`))].sort();
  },
  featured: (api, fixture) => find(api, fixture, 'featured=true'),
  slug: (api, fixture) => findBySlug(api, fixture, ''),
  changelog: (api, fixture) => findBySlug(api, fixture, '/changelog'),
  updates: async (api, { rows }) => {
    const { body } = await api.get(`${TEMPLATES}/updates?since=1970-01-01T00:00:00Z`);
    const removed = new Set(body.removed.map(({ id }: { id: string }) => id));
    const slugs = body.templates.map(({ slug }: { slug: string }) => slug);
    expect(body.templates.filter(({ id }: { id: string }) => removed.has(id))).toEqual([]);
    return rows
      .map(({ slug }) => slug)
      .filter((slug) => slugs.includes(slug))
      .sort();
  },
};

async function findBySlug(api: Api, { rows }: Fixture, path: string): Promise<string[]> {
  const found = [];
  for (const { slug } of rows) {
    const { status } = await api.get(`${TEMPLATES}/${slug}${path}`);
    if (status === 200) found.push(slug);
    else expect(status).toBe(404);
  }
  return found.sort();
}

async function find(api: Api, { rows }: Fixture, query: string): Promise<string[]> {
  const { body } = await api.get(`${TEMPLATES}?limit=100&${query}`);
  const slugs: string[] = body.templates.map(({ slug }: { slug: string }) => slug);
  expect(body.pagination.total).toBe(slugs.length);
  return rows
    .map(({ slug }) => slug)
    .filter((slug) => slugs.includes(slug))
    .sort();
}

/** The total that a caller receives with a page of one row. */
export const totalOf = async (api: Api, query: string): Promise<number> =>
  (await api.get(`${TEMPLATES}?limit=1&${query}`)).body.pagination.total;

/** The counts of the categories of a fixture. Undefined for a category that is not listed. */
export async function countsOf(api: Api, { categories }: Fixture) {
  const { body } = await api.get('/api/v1/catalog/categories');
  const countOf = (wanted: string): number | undefined =>
    body.categories.find(({ slug }: { slug: string }) => slug === wanted)?.template_count;
  return { open: countOf(categories.open.slug), private: countOf(categories.private.slug) };
}

/** The changes for a caller since a time: the ids of sent and of removed templates. */
export async function updatesSince(api: Api, since: string) {
  const { body } = await api.get(`${TEMPLATES}/updates?since=${since}`);
  return {
    templates: body.templates.map(({ id }: { id: string }) => id) as string[],
    removed: body.removed.map(({ id }: { id: string }) => id) as string[],
    checkedAt: body.checked_at as string,
  };
}
