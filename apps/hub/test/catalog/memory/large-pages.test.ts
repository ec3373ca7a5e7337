// Pages of templates that are large.
import { createTurnQueue } from '@svc/http';
import type { Document, ReadDocuments, Version } from '../../../src/catalog/memory/documents.ts';
import { documentsOfPage } from '../../../src/catalog/memory/page-documents.ts';
import { startWorld } from '../../world.ts';

const KIBIBYTE = 1024;

const versionOf = (id: string): Version => ({ id, updatedAt: 0, shownAt: 0 });
const documentOf = (id: string): Document => ({ parts: [Buffer.from(id), Buffer.alloc(0)], etag: id, downloads: 0 });

/** Documents with these sizes, of which `cached` are in memory. */
function documents(sizes: Readonly<Record<string, number>>, cached: readonly string[] = []) {
  const read: string[][] = [];
  const source: ReadDocuments = {
    cached: ({ id }) => (cached.includes(id) ? documentOf(id) : undefined),
    sizesOf: async (ids) => new Map(ids.map((id) => [id, sizes[id] ?? 0])),
    of: async (versions) => {
      read.push(versions.map(({ id }) => id));
      return versions.map(({ id }) => documentOf(id));
    },
  };
  return { source, read, versions: Object.keys(sizes).map(versionOf) };
}

test('a large page reads what is not in memory in parts of at most 512 KiB, or of one template', async () => {
  const sizes = { a: 900, b: 300, c: 5000, d: 200, e: 100 };
  const inBytes = Object.fromEntries(Object.entries(sizes).map(([id, size]) => [id, size * KIBIBYTE]));
  const { source, read, versions } = documents(inBytes, ['c']);
  const weights: number[] = [];
  const shown = await documentsOfPage(source, versions, {
    inTurn: (work, bytes) => {
      weights.push(bytes);
      return work();
    },
  });
  expect(read).toEqual([['a'], ['b', 'd'], ['e']]);
  expect(weights).toEqual([1500 * KIBIBYTE]);
  expect(shown?.map(({ etag }) => etag)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a page beyond what a caller can receive is refused before it is read', async () => {
  const { source, read, versions } = documents({ a: 10 * KIBIBYTE, b: 20 * KIBIBYTE }, ['a']);
  const refuse = (bytes: number) => {
    throw new Error(`${bytes}`);
  };
  const refused = documentsOfPage(source, versions, { inTurn: (work) => work(), refuse });
  await expect(refused).rejects.toThrow(`${20 * KIBIBYTE + 1}`);
  expect(read).toEqual([]);
});

test('large pages of one caller wait behind smaller ones of others, and small ones do not wait', async () => {
  const queue = createTurnQueue({ what: 'pages', running: 1, waitingPerCaller: 8, waitMs: 600_000 });
  const finished: string[] = [];
  const request = async (caller: string, name: string, size: number) => {
    const { source, versions } = documents({ [name]: size * KIBIBYTE });
    await documentsOfPage(source, versions, { inTurn: (work, bytes) => queue.run(caller, work, bytes) });
    finished.push(name);
  };
  await Promise.all([
    ...['a', 'b', 'c'].map((name) => request('greedy', name, 20_000)),
    ...['x', 'y'].map((name) => request('modest', name, 1000)),
    request('another', 'small', 10),
  ]);
  expect(finished).toEqual(['small', 'a', 'x', 'y', 'b', 'c']);
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
