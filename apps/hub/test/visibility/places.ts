import { expect } from '@jest/globals';
import type { Api } from '@svc/testing';
import type { Scene } from './scene.ts';

const TEMPLATES = '/api/v1/catalog/templates';

/** Where a template could show. */
export type Place = 'list' | 'search' | 'tags' | 'category' | 'featured' | 'slug' | 'updates';

/** The slugs of a scene that a caller finds in a place, in order. */
export const places: Readonly<Record<Place, (api: Api, scene: Scene) => Promise<string[]>>> = {
  list: (api, scene) => find(api, scene, ''),
  search: (api, scene) => find(api, scene, `search=${scene.mark}`),
  tags: (api, scene) => find(api, scene, `tags=${scene.mark},absent`),
  category: async (api, scene) => {
    const { open, private: closed } = scene.categories;
    const found = [...(await find(api, scene, `category=${open.slug}`))];
    return [...found, ...(await find(api, scene, `category=${closed.slug}`))].sort();
  },
  featured: (api, scene) => find(api, scene, 'featured=true'),
  slug: async (api, { things }) => {
    const found = [];
    for (const { slug } of things) {
      const { status } = await api.get(`${TEMPLATES}/${slug}`);
      if (status === 200) found.push(slug);
      else expect(status).toBe(404);
    }
    return found.sort();
  },
  updates: async (api, { things }) => {
    const { body } = await api.get(`${TEMPLATES}/updates?since=1970-01-01T00:00:00Z`);
    const removed = new Set(body.removed.map(({ id }: { id: string }) => id));
    const slugs = body.templates.map(({ slug }: { slug: string }) => slug);
    expect(body.templates.filter(({ id }: { id: string }) => removed.has(id))).toEqual([]);
    return things
      .map(({ slug }) => slug)
      .filter((slug) => slugs.includes(slug))
      .sort();
  },
};

async function find(api: Api, { things }: Scene, query: string): Promise<string[]> {
  const { body } = await api.get(`${TEMPLATES}?limit=100&${query}`);
  const slugs: string[] = body.templates.map(({ slug }: { slug: string }) => slug);
  expect(body.pagination.total).toBe(slugs.length);
  return things
    .map(({ slug }) => slug)
    .filter((slug) => slugs.includes(slug))
    .sort();
}

/** The total that a caller reads beside a page of one row. */
export const totalOf = async (api: Api, query: string): Promise<number> =>
  (await api.get(`${TEMPLATES}?limit=1&${query}`)).body.pagination.total;

/** What a caller reads of the scene's categories: their counts, undefined for one that is not listed. */
export async function countsOf(api: Api, { categories }: Scene) {
  const { body } = await api.get('/api/v1/catalog/categories');
  const countOf = (wanted: string): number | undefined =>
    body.categories.find(({ slug }: { slug: string }) => slug === wanted)?.template_count;
  return { open: countOf(categories.open.slug), private: countOf(categories.private.slug) };
}

/** What a caller hears of since a moment: slugs of templates and ids of removed ones. */
export async function updatesSince(api: Api, since: string) {
  const { body } = await api.get(`${TEMPLATES}/updates?since=${since}`);
  return {
    templates: body.templates.map(({ id }: { id: string }) => id) as string[],
    removed: body.removed.map(({ id }: { id: string }) => id) as string[],
    checkedAt: body.checked_at as string,
  };
}
