// Pages of templates that are large.
import { bytesOfRendered, type LargeReads } from '@svc/http';
import type { Document, ReadDocuments, Version } from '../../../src/catalog/memory/documents.ts';
import { documentsInParts, sizesOfPage } from '../../../src/catalog/memory/page-documents.ts';
import { createRevisionCheck } from '../../../src/revision/revision.ts';
import { startWorld } from '../../world.ts';

const KIBIBYTE = 1024;

const versionOf = (id: string): Version => ({ id, updatedAt: 0, shownAt: 0 });
const documentOf = (id: string): Document => ({ parts: [Buffer.from(id), Buffer.alloc(0)], etag: id, downloads: 0 });

/** Documents with these sizes in KiB, of which `cached` are in memory. */
function documents(sizes: Readonly<Record<string, number>>, cached: readonly string[]) {
  const read: string[][] = [];
  const asked: string[][] = [];
  const source: ReadDocuments = {
    cached: ({ id }) => (cached.includes(id) ? documentOf(id) : undefined),
    sizesOf: async (ids) => {
      asked.push([...ids]);
      return new Map(ids.map((id) => [id, (sizes[id] ?? 0) * KIBIBYTE]));
    },
    of: async (versions) => {
      read.push(versions.map(({ id }) => id));
      return versions.map(({ id }) => documentOf(id));
    },
  };
  return { source, read, asked, versions: Object.keys(sizes).map(versionOf) };
}

test('a large page is read in parts of at most 512 KiB, or of one template', async () => {
  const sizes = { a: 900, b: 300, d: 200, e: 100 };
  const { source, read, versions } = documents(sizes, []);
  const found = await documentsInParts(source, await sizesOfPage(source, versions));
  expect(read).toEqual([['a'], ['b', 'd'], ['e']]);
  expect(found?.map(({ etag }) => etag)).toEqual(['a', 'b', 'd', 'e']);
});

test('the sizes of documents in memory are not read', async () => {
  const { source, versions, asked } = documents({ a: 900, b: 300 }, ['b']);
  const sizes = await sizesOfPage(source, versions);
  expect(sizes.map(({ bytes }) => bytes)).toEqual([900 * KIBIBYTE, 1]);
  expect(asked).toEqual([['a']]);
});

test('each request for a large page waits for its turn, with its bytes as the weight, and small pages do not wait', async () => {
  const world = await startWorld();
  try {
    for (let count = 0; count < 4; count++) {
      await world.aTemplate({ slug: `t-${count}`, documentation: `${count}`.repeat(200_000) });
    }
    const viewer = { kind: 'anonymous' } as const;
    const revision = await createRevisionCheck(world.database.revisionReader).latest();
    const weights: number[] = [];
    const large: LargeReads = {
      inTurn: (work, bytes) => {
        weights.push(bytes);
        return work();
      },
    };
    const request = (limit: number) => world.catalog.lists.page({ viewer, revision, large }, { page: 1, limit });
    const [first, second] = await Promise.all([request(4), request(4)]);
    const bytes = bytesOfRendered(first);
    await request(4);
    await request(1);
    expect(first).toEqual(second);
    expect(weights).toHaveLength(3);
    for (const weight of weights) expect(Math.abs(weight - bytes)).toBeLessThan(10_000);
    const refuse = (size: number) => {
      throw new Error(`${size} bytes`);
    };
    const page = { page: 1, limit: 3 };
    const refused = world.catalog.lists.page({ viewer, revision, large: { ...large, refuse } }, page);
    await expect(refused).rejects.toThrow(/^6\d{5} bytes$/);
    expect(weights).toHaveLength(3);
  } finally {
    await world.stop();
  }
});

test('a large page has the templates of small pages', async () => {
  const world = await startWorld();
  try {
    for (let count = 0; count < 4; count++) await world.aTemplate({ documentation: `${count}`.repeat(200_000) });
    world.catalog.documents.clear();
    const { body } = await world.anonymous.get('/api/v1/catalog/templates');
    const pages = [];
    for (let page = 1; page <= 4; page++) {
      pages.push((await world.anonymous.get(`/api/v1/catalog/templates?limit=1&page=${page}`)).body);
    }
    expect(body.templates).toEqual(pages.flatMap(({ templates }) => templates));
    expect(body.templates).toHaveLength(4);
  } finally {
    await world.stop();
  }
});
