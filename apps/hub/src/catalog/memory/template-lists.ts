import { offsetOf, paginationOf } from '@svc/contract';
import type { TemplateCounts } from '@svc/contract/hub';
import type { Reader } from '@svc/database';
import {
  bytesOf,
  bytesOfRendered,
  etagOfState,
  type LargeReads,
  MAX_PART_BYTES,
  type Rendered,
  type RenderedParts,
  renderedInParts,
} from '@svc/http';
import { LRUCache } from 'lru-cache';
import type { Viewer } from '../../identity/principal.ts';
import {
  type ContentFilters,
  type Filters,
  hasContentFilters,
  hasWords,
  idsOfPage,
  type MatchingRow,
  matchingObjects,
  type Paging,
} from '../filters.ts';
import type { Kind } from '../kinds.ts';
import { type CatalogIndex, type IndexedView, OUTDATED, type ReadRequest } from './catalog-index.ts';
import { type CacheUse, type Document, type Documents, elementsOf } from './documents.ts';
import { type Entry, versionOf } from './entries.ts';
import { entryMatcher, isOfGroups } from './entry-filters.ts';
import type { Group } from './groups.ts';
import { createMatches, isTooOld, type Matches } from './matches.ts';
import { orders, type TemplateOrder } from './order.ts';
import { documentsInParts, sizesOfPage } from './page-documents.ts';
import { countByFilter } from './template-counts.ts';
import { createWordSearch, type WordSearch } from './words.ts';

type Query = Filters &
  Paging & {
    readonly view?: 'full' | 'summary';
    /** Default: by name, and with words, the best match first. */
    readonly sort?: TemplateOrder | undefined;
  };

/** The templates of a page, and their number on all pages. */
interface Selection {
  readonly entries: readonly Entry[];
  readonly total: number;
  /** When they were selected, by `performance.now()`. */
  readonly selectedAt: number;
  /** How often downloads had changed before. */
  readonly countChanges: number;
}

interface Page extends Selection {
  readonly rendered: Rendered | RenderedParts;
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
/**
 * Together with the time until downloads are stored, a number in a page is less than a second late.
 */
const MAX_COUNT_AGE_MS = 400;

interface ListRequest extends ReadRequest {
  readonly large: LargeReads;
}

export interface TemplateLists {
  readonly use: CacheUse;
  /**
   * A page of templates. Viewers with the same view share it until a template that they see
   * changes.
   */
  page(request: ListRequest, query: Query): Promise<Rendered | RenderedParts>;
  /** The same without waiting; undefined if the page is not in memory, or is large. */
  inMemory(request: ReadRequest, query: Query): Rendered | undefined;
  /**
   * Counts the templates that a viewer sees by the values of each filter; null if too many
   * templates match the filters of their contents.
   */
  count(request: ReadRequest, query: Filters): Promise<TemplateCounts | null>;
  /** All templates that a viewer finds by words, the best match first. */
  find(request: ReadRequest, query: ContentFilters & { readonly q: string }): Promise<readonly Entry[]>;
}

interface Sources {
  readonly reader: Reader;
  readonly index: CatalogIndex;
  readonly documents: Documents;
}

/** A page that is requested at a state of the index. */
interface PageRequest {
  readonly indexed: IndexedView;
  readonly viewer: Viewer;
  readonly query: Query;
  /** Identifies the query and the view. */
  readonly key: string;
  /** The page as it was read last. */
  readonly cached: Page | undefined;
}

export function createTemplateLists({ reader, index, documents }: Sources): TemplateLists {
  const { kind } = documents;
  const pages = new LRUCache<string, Page>({
    maxSize: MAX_BYTES * kind.cacheShare,
    sizeCalculation: ({ rendered }) => bytesOfRendered(rendered) + OVERHEAD,
  });
  const find = createFind(reader, kind, createWordSearch(reader, kind));
  const matching = createMatching(createMatches(reader, kind), find);
  const readPage = shareReads(createReadPage(documents, createSelect(reader, kind, matching)));
  const refresh = createRefresh(documents);
  let hits = 0;
  let misses = 0;

  /** The page as it was read last, if it still shows the state of the view. */
  const fresh = (key: string, { view }: IndexedView) => {
    const page = pages.get(key);
    const isFresh =
      page?.changedAt === view.stamps().changedAt && performance.now() - page.countedAt < MAX_COUNT_AGE_MS;
    return isFresh ? page.rendered : undefined;
  };
  /** Frequent requests have the same query object. */
  const texts = new WeakMap<Query, string>();
  const keyOf = ({ view }: IndexedView, query: Query) => {
    const text = texts.get(query) ?? JSON.stringify(query);
    texts.set(query, text);
    return `${view.number} ${text}`;
  };
  const keep = (key: string, page: Page | typeof OUTDATED) => {
    if (page === OUTDATED) return OUTDATED;
    pages.set(key, page);
    return page.rendered;
  };
  const read = async (request: PageRequest, { inTurn, refuse }: LargeReads) => {
    const { key, indexed } = request;
    const page = await readPage(request);
    if (page === OUTDATED || !('readInParts' in page)) return keep(key, page);
    const { bytes, readInParts } = page;
    refuse?.(bytes);
    return inTurn(async () => fresh(key, indexed) ?? keep(key, await readInParts()), bytes);
  };
  return {
    use: () => ({ hits, misses, entries: pages.size, bytes: pages.calculatedSize }),
    inMemory: (request, query) =>
      index.now(request, (indexed) => {
        const key = keyOf(indexed, query);
        const known = fresh(key, indexed);
        if (known) {
          if (!isSmall(known)) return undefined;
          hits += 1;
          return known;
        }
        const page = refresh({ indexed, query, cached: pages.get(key) });
        if (!page || !isSmall(page.rendered)) return undefined;
        misses += 1;
        pages.set(key, page);
        return page.rendered;
      }),
    page: ({ viewer, revision, large }, query) =>
      index.read({ viewer, revision }, (indexed) => {
        const key = keyOf(indexed, query);
        const known = fresh(key, indexed);
        if (!known) {
          misses += 1;
          return read({ indexed, viewer, query, key, cached: pages.get(key) }, large);
        }
        hits += 1;
        const bytes = bytesOfRendered(known);
        return bytes <= MAX_PART_BYTES ? known : large.inTurn(async () => known, bytes);
      }),
    find: ({ viewer, revision }, query) => index.read({ viewer, revision }, (indexed) => find(indexed, query)),
    count: (request, query) =>
      index.read(request, async (indexed) => {
        const found = await matching(indexed, query);
        if (found === OUTDATED) return OUTDATED;
        const visible = found.entries?.filter((entry) => indexed.view.sees(entry));
        return visible ? countByFilter(visible, query) : null;
      }),
  };
}

/** A page that is read when it is the turn of its caller. */
interface LargePage {
  readonly bytes: number;
  readonly readInParts: () => Promise<Page | typeof OUTDATED>;
}

type ReadPage = (request: PageRequest) => Promise<Page | LargePage | typeof OUTDATED>;

/** Concurrent requests for the same page at the same state of its view share a read. */
function shareReads(readPage: ReadPage): ReadPage {
  const reading = new Map<string, ReturnType<ReadPage>>();
  return (request) => {
    const key = `${request.key} ${request.indexed.view.stamps().changedAt}`;
    const shared = reading.get(key) ?? readPage(request).finally(() => reading.delete(key));
    reading.set(key, shared);
    return shared;
  };
}

const isSmall = (rendered: Rendered | RenderedParts): rendered is Rendered =>
  !('parts' in rendered) && bytesOfRendered(rendered) <= MAX_PART_BYTES;

type CachedRequest = Pick<PageRequest, 'indexed' | 'query' | 'cached'>;

/** The page as it was read last, if the same templates are selected now. */
function selectedPage({ indexed, query, cached }: CachedRequest): Page | undefined {
  const isSelected =
    cached?.changedAt === indexed.view.stamps().changedAt &&
    !isTooOld(query, cached.selectedAt) &&
    (query.sort !== '-download_count' || cached.countChanges === indexed.entries.countChanges());
  return isSelected ? cached : undefined;
}

/** The page of a selection whose documents were read. */
function pageOfDocuments(
  shown: readonly Document[],
  { entries, total, selectedAt, countChanges }: Selection,
  { kind, indexed, query, cached }: CachedRequest & { readonly kind: Kind },
): Page {
  const { changedAt } = indexed.view.stamps();
  const downloads = shown.reduce((sum, document) => sum + document.downloads, 0);
  const isSame = cached?.entries === entries && cached.downloads === downloads;
  const rendered = isSame ? cached.rendered : render(kind, shown, query, total);
  const countedAt = performance.now();
  return { entries, total, selectedAt, countChanges, rendered, downloads, changedAt, countedAt };
}

const sourceOf = (documents: Documents, { view }: Query) => (view === 'summary' ? documents.summaries : documents);

/** Reads the numbers of downloads of a page again, if its documents are in memory. */
const createRefresh =
  (documents: Documents) =>
  (request: CachedRequest): Page | undefined => {
    const selection = selectedPage(request);
    const shown = selection && sourceOf(documents, request.query).inMemory(selection.entries.map(versionOf));
    return shown && pageOfDocuments(shown, selection, { ...request, kind: documents.kind });
  };

/** Reads pages. If the view is unchanged, only the numbers of downloads are read again. */
function createReadPage(documents: Documents, select: Select): ReadPage {
  return async (request) => {
    const { indexed, viewer, query } = request;
    // The stamps of the view can change while the documents are read.
    const { changedAt } = indexed.view.stamps();
    const selection = selectedPage(request) ?? (await select(indexed, viewer, query));
    if (selection === OUTDATED) return OUTDATED;
    const source = sourceOf(documents, query);
    const versions = selection.entries.map(versionOf);
    const sizes = await sizesOfPage(source, versions);
    const pageOf = (shown: readonly Document[] | undefined): Page | typeof OUTDATED =>
      shown ? { ...pageOfDocuments(shown, selection, { ...request, kind: documents.kind }), changedAt } : OUTDATED;
    const bytes = bytesOf(sizes);
    if (bytes <= MAX_PART_BYTES) return pageOf(await source.of(versions));
    return { bytes, readInParts: async () => pageOf(await documentsInParts(source, sizes)) };
  };
}

type Select = (indexed: IndexedView, viewer: Viewer, query: Query) => Promise<Selection | typeof OUTDATED>;

/** The templates that match the filters of their contents. Not all of them are visible. */
interface MatchingTemplates {
  /** In the order of lists. Undefined if they are too many. */
  readonly entries: readonly Entry[] | undefined;
  /** When they were selected, by `performance.now()`. */
  readonly selectedAt: number;
}

type FindMatching = (indexed: IndexedView, query: Filters) => Promise<MatchingTemplates | typeof OUTDATED>;

const createMatching =
  (matches: Matches, find: ReturnType<typeof createFind>): FindMatching =>
  async (indexed, query) => {
    if (hasContentFilters(query) && !hasWords(query)) return matches.of(indexed, query);
    const selectedAt = performance.now();
    const entries = hasWords(query) ? await find(indexed, query) : indexed.entries.ordered;
    return entries === OUTDATED ? OUTDATED : { entries, selectedAt };
  };

/** Selects the templates of a page in memory, except for filters that match very many templates. */
const createSelect =
  (reader: Reader, kind: Kind, matching: FindMatching): Select =>
  async (indexed, viewer, query) => {
    const countChanges = indexed.entries.countChanges();
    if (!hasWords(query) && !hasContentFilters(query)) {
      return { ...pageOfAll(indexed, query), countChanges, selectedAt: performance.now() };
    }
    const found = await matching(indexed, query);
    if (found === OUTDATED) return OUTDATED;
    const { entries, selectedAt } = found;
    return entries
      ? { ...pageOfMatches(indexed, query, entries), countChanges, selectedAt }
      : selectInDatabase({ reader, kind }, indexed, viewer, query);
  };

/**
 * The templates that a viewer finds by words and by other filters, the best match first. Those that the viewer does not
 * see are left out first, so that they do not cause a statement.
 */
const createFind =
  (reader: Reader, kind: Kind, words: WordSearch) =>
  async (
    indexed: IndexedView,
    { q = '', ...filters }: ContentFilters & Pick<Filters, 'q'>,
  ): Promise<readonly Entry[] | typeof OUTDATED> => {
    const all = await words.of(indexed, q);
    if (all === OUTDATED) return OUTDATED;
    const found = all.filter((entry) => indexed.view.sees(entry));
    if (found.length === 0 || !hasContentFilters(filters)) return found;
    const among = found.map(({ id }) => id);
    const [row] = await reader.read<MatchingRow>(matchingObjects(kind, filters, { among, limit: among.length }));
    if (row?.commit !== indexed.state.commit.commit || !indexed.isCurrent()) return OUTDATED;
    const matching = new Set(row.ids.split(','));
    return found.filter(({ id }) => matching.has(id));
  };

/** Without filters of single templates, the number of templates is that of their groups. */
function pageOfAll({ entries, view }: IndexedView, query: Query) {
  const known = isOfGroups(query)
    ? view.groups.filter((group) => isIn(query, group)).reduce((sum, { size }) => sum + size, 0)
    : undefined;
  const start = offsetOf(query);
  const matches = entryMatcher(query);
  const page: Entry[] = [];
  let total = 0;
  for (const entry of entries.inOrder(query.sort ?? 'name')) {
    if (known !== undefined && page.length >= Math.min(query.limit, known - start)) break;
    if (!view.sees(entry) || !matches(entry)) continue;
    if (total >= start && page.length < query.limit) page.push(entry);
    total += 1;
  }
  return { entries: page, total: known ?? total };
}

const isIn = ({ category = [] }: Query, group: Group): boolean =>
  category.length === 0 || category.includes(group.category.slug);

function pageOfMatches({ view }: IndexedView, query: Query, matching: readonly Entry[]) {
  const matches = entryMatcher(query);
  const visible = matching.filter((entry) => view.sees(entry) && matches(entry));
  const inOrder = query.sort === undefined ? visible : visible.toSorted(orders[query.sort]);
  return { entries: inOrder.slice(offsetOf(query), offsetOf(query) + query.limit), total: visible.length };
}

async function selectInDatabase(
  { reader, kind }: { readonly reader: Reader; readonly kind: Kind },
  { entries, state }: IndexedView,
  viewer: Viewer,
  query: Query,
): Promise<Selection | typeof OUTDATED> {
  const selectedAt = performance.now();
  const countChanges = entries.countChanges();
  const rows = await reader.read<{ commit: string; total: number; id: string | null }>(idsOfPage(kind, viewer, query));
  if (rows[0]?.commit !== state.commit.commit) return OUTDATED;
  const found = rows.flatMap(({ id }) => (id === null ? [] : [entries.byId(id)]));
  const known = found.filter((entry) => entry !== undefined);
  return known.length === found.length ? { entries: known, total: rows[0].total, selectedAt, countChanges } : OUTDATED;
}

/** The entity tag does not cover the numbers of downloads. */
function render(
  { member }: Kind,
  documents: readonly Document[],
  query: Query,
  total: number,
): Rendered | RenderedParts {
  const start = Buffer.from(`{"${member}":[`);
  const pagination = JSON.stringify(paginationOf(query, total));
  const end = Buffer.from(`],"pagination":${pagination}}`);
  const etags = documents.map((document) => document.etag);
  const etag = query.view === 'summary' ? etagOfState(pagination, etags, 'summary') : etagOfState(pagination, etags);
  return renderedInParts([start, ...elementsOf(documents), end], etag);
}
