import { offsetOf, paginationOf } from '@svc/contract';
import { etagOfState, type Rendered, renderedReply } from '@svc/http';
import { LRUCache } from 'lru-cache';
import type { Reader } from '../../database/reader.ts';
import type { Viewer } from '../../principal.ts';
import type { Revision } from '../../revision.ts';
import { type Filters, hasContentFilters, idsOfPage, type Paging } from '../filters.ts';
import { type CatalogIndex, type IndexedView, OUTDATED } from './catalog-index.ts';
import { type CacheUse, type Document, type Documents, elementsOf } from './documents.ts';
import { type Entry, type Group, versionOf } from './entries.ts';
import { createMatches, isTooOld, type Matches } from './matches.ts';

type Query = Filters & Paging & { readonly view?: 'full' | 'summary' };

/** The templates of a page, and their number on all pages. */
interface Selection {
  readonly entries: readonly Entry[];
  readonly total: number;
  /** When they were selected, by `performance.now()`. */
  readonly selectedAt: number;
}

interface Page extends Selection {
  readonly rendered: Rendered;
  /** The sum of the downloads that the page shows. */
  readonly downloads: number;
  /** The stamp of the last change of the view when the page was read, in milliseconds. */
  readonly changedAt: number;
  /** When the numbers of downloads were read, by `performance.now()`. */
  readonly countedAt: number;
}

/** The maximum size of all pages. */
const MAX_BYTES = 48 * 1024 * 1024;
/** The memory of an entry of the cache beside its body. */
const OVERHEAD = 2000;
/** Together with the time until downloads are stored, a number in a page is less than a second late. */
const MAX_COUNT_AGE_MS = 400;

export interface TemplateLists {
  readonly use: CacheUse;
  /** A page of templates. Viewers with the same view share it until a template that they see changes. */
  page(request: { readonly viewer: Viewer; readonly revision: Revision }, query: Query): Promise<Rendered>;
}

interface Sources {
  readonly reader: Reader;
  readonly index: CatalogIndex;
  readonly documents: Documents;
}

export function createTemplateLists({ reader, index, documents }: Sources): TemplateLists {
  const pages = new LRUCache<string, Page>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ rendered }) => rendered.body.length + OVERHEAD,
  });
  let [hits, misses] = [0, 0];
  const building = new Map<string, Promise<Page | typeof OUTDATED>>();
  const select = createSelect(reader, createMatches(reader));

  const build = async (indexed: IndexedView, viewer: Viewer, query: Query, cached: Page | undefined) => {
    const changedAt = indexed.view.stamps().changedAt;
    const isSelected = cached?.changedAt === changedAt && !isTooOld(query, cached.selectedAt);
    const selection = isSelected ? cached : await select(indexed, viewer, query);
    if (selection === OUTDATED) return OUTDATED;
    const shown = await documents.of(selection.entries.map(versionOf));
    if (!shown) return OUTDATED;
    const downloads = shown.reduce((sum, document) => sum + document.downloads, 0);
    const isSame = selection === cached && cached.downloads === downloads;
    const rendered = isSame ? cached.rendered : render(shown, query, selection.total);
    const { entries, total, selectedAt } = selection;
    return { entries, total, selectedAt, rendered, downloads, changedAt, countedAt: performance.now() };
  };
  const buildOnce = async (
    indexed: IndexedView,
    viewer: Viewer,
    query: Query,
    { key, cached }: { readonly key: string; readonly cached: Page | undefined },
  ) => {
    const buildKey = `${key} ${indexed.view.stamps().changedAt}`;
    const shared = building.get(buildKey) ?? build(indexed, viewer, query, cached);
    building.set(buildKey, shared);
    const page = await shared.finally(() => building.delete(buildKey));
    if (page === OUTDATED) return OUTDATED;
    pages.set(key, page);
    return page.rendered;
  };
  return {
    use: () => ({ hits, misses, entries: pages.size, bytes: pages.calculatedSize }),
    page: ({ viewer, revision }, query) =>
      index.read({ viewer, revision }, (indexed) => {
        const key = `${indexed.view.number} ${JSON.stringify(query)}`;
        const cached = pages.get(key);
        const changedAt = indexed.view.stamps().changedAt;
        const isKnown = cached?.changedAt === changedAt && performance.now() - cached.countedAt < MAX_COUNT_AGE_MS;
        if (isKnown) hits += 1;
        else misses += 1;
        return isKnown ? cached.rendered : buildOnce(indexed, viewer, query, { key, cached });
      }),
  };
}

/** Selects the templates of a page in memory, except for filters that match very many templates. */
const createSelect =
  (reader: Reader, matches: Matches) =>
  async (indexed: IndexedView, viewer: Viewer, query: Query): Promise<Selection | typeof OUTDATED> => {
    if (!hasContentFilters(query)) return { ...pageOfAll(indexed, query), selectedAt: performance.now() };
    const matching = await matches.of(indexed, query);
    if (matching === OUTDATED) return OUTDATED;
    const { entries, selectedAt } = matching;
    return entries
      ? { ...pageOfMatches(indexed, query, entries), selectedAt }
      : readPage(reader, indexed, viewer, query);
  };

/** Without filters of their contents, the number of templates is that of their groups. */
function pageOfAll({ entries, view }: IndexedView, query: Query) {
  const groups = view.groups.filter((group) => isIn(query, group));
  const total = groups.reduce((sum, { size }) => sum + size, 0);
  const [start, size] = [offsetOf(query), Math.min(query.limit, total - offsetOf(query))];
  const page: Entry[] = [];
  let skipped = 0;
  for (let at = 0; at < entries.ordered.length && page.length < size; at++) {
    const entry = entries.ordered[at];
    if (!entry || !view.sees(entry) || !isIn(query, entry.group)) continue;
    if (skipped < start) skipped += 1;
    else page.push(entry);
  }
  return { entries: page, total };
}

function pageOfMatches({ view }: IndexedView, query: Query, matching: readonly Entry[]) {
  const visible = matching.filter((entry) => view.sees(entry) && isIn(query, entry.group));
  return { entries: visible.slice(offsetOf(query), offsetOf(query) + query.limit), total: visible.length };
}

const isIn = ({ category }: Query, group: Group): boolean => category === undefined || group.category.slug === category;

async function readPage(
  reader: Reader,
  { entries, state }: IndexedView,
  viewer: Viewer,
  query: Query,
): Promise<Selection | typeof OUTDATED> {
  const selectedAt = performance.now();
  const rows = await reader.read<{ commit: string; total: number; id: string | null }>(idsOfPage(viewer, query));
  if (rows[0]?.commit !== state.commit.commit) return OUTDATED;
  const found = rows.flatMap(({ id }) => (id === null ? [] : [entries.byId(id)]));
  const known = found.filter((entry) => entry !== undefined);
  return known.length === found.length ? { entries: known, total: rows[0].total, selectedAt } : OUTDATED;
}

const START = Buffer.from('{"templates":[');

/** The entity tag does not cover the numbers of downloads. */
function render(documents: readonly Document[], query: Query, total: number): Rendered {
  const pagination = JSON.stringify(paginationOf(query, total));
  const end = Buffer.from(`],"pagination":${pagination}}`);
  const isSummary = query.view === 'summary';
  const etag = etagOfState(
    pagination,
    documents.map((document) => document.etag),
    ...(isSummary ? ['summary'] : []),
  );
  return renderedReply(Buffer.concat([START, ...elementsOf(documents, isSummary ? 'summary' : 'parts'), end]), etag);
}
