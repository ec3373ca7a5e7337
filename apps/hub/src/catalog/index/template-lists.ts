import { offsetOf, paginationOf } from '@svc/contract';
import { etagOfState, Rendered } from '@svc/http';
import { LRUCache } from 'lru-cache';
import type { Reader } from '../../database/reader.ts';
import type { Viewer } from '../../principal.ts';
import type { Revision } from '../../revision.ts';
import { type Filters, idsOfPage, type Paging } from '../filters.ts';
import { type CatalogIndex, type IndexedView, OUTDATED } from './catalog-index.ts';
import { type Document, type Documents, elementsOf } from './documents.ts';
import { type Entry, versionOf } from './entries.ts';

type Query = Filters & Paging;

/** The templates of a page, and their number on all pages. */
interface Selection {
  readonly entries: readonly Entry[];
  readonly total: number;
}

interface Page extends Selection {
  readonly rendered: Rendered;
  /** The sum of the downloads that the page shows. */
  readonly downloads: number;
  /** The stamp of the last change of the view when the page was read, in milliseconds. */
  readonly changedAt: number;
  /** When the templates were selected, by `performance.now()`. */
  readonly selectedAt: number;
  /** When the numbers of downloads were read, by `performance.now()`. */
  readonly countedAt: number;
}

/** The maximum size of all pages. */
const MAX_BYTES = 96 * 1024 * 1024;
/** The memory of an entry of the cache beside its body. */
const OVERHEAD = 2000;
/** Together with the time until downloads are stored, a number in a page is less than a second late. */
const MAX_COUNT_AGE_MS = 400;
/** An earlier release of the hub does not register the tags that it writes. They are found some time later, without a change. */
const MAX_TAG_AGE_MS = 10_000;

export interface TemplateLists {
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
  const building = new Map<string, Promise<Page | typeof OUTDATED>>();

  const build = async (indexed: IndexedView, viewer: Viewer, query: Query, cached: Page | undefined) => {
    const changedAt = indexed.view.stamps().changedAt;
    const isSelected = cached?.changedAt === changedAt && !hasOldTags(query, cached);
    const selection = isSelected ? cached : await select(reader, indexed, viewer, query);
    if (selection === OUTDATED) return OUTDATED;
    const shown = await documents.of(selection.entries.map(versionOf));
    if (!shown) return OUTDATED;
    const downloads = shown.reduce((sum, document) => sum + document.downloads, 0);
    const isSame = selection === cached && cached.downloads === downloads;
    const rendered = isSame ? cached.rendered : render(shown, query, selection.total);
    const { entries, total } = selection;
    const selectedAt = isSelected ? cached.selectedAt : performance.now();
    return { entries, total, rendered, downloads, changedAt, selectedAt, countedAt: performance.now() };
  };
  return {
    page: ({ viewer, revision }, query) =>
      index.read({ viewer, revision }, async (indexed) => {
        const { view } = indexed;
        const key = `${view.number} ${JSON.stringify(query)}`;
        const cached = pages.get(key);
        const changedAt = view.stamps().changedAt;
        if (cached?.changedAt === changedAt && performance.now() - cached.countedAt < MAX_COUNT_AGE_MS) {
          return cached.rendered;
        }
        const buildKey = `${key} ${changedAt}`;
        const shared = building.get(buildKey) ?? build(indexed, viewer, query, cached);
        building.set(buildKey, shared);
        const page = await shared.finally(() => building.delete(buildKey));
        if (page === OUTDATED) return OUTDATED;
        pages.set(key, page);
        return page.rendered;
      }),
  };
}

const hasOldTags = ({ tags = [] }: Query, { selectedAt }: Page): boolean =>
  tags.length > 0 && performance.now() - selectedAt > MAX_TAG_AGE_MS;

/** The index has all that lists without a filter of their contents need. The database evaluates the other filters. */
async function select(
  reader: Reader,
  { entries, view, state }: IndexedView,
  viewer: Viewer,
  query: Query,
): Promise<Selection | typeof OUTDATED> {
  const { category, search = '', featured, tags = [] } = query;
  if (search === '' && !featured && tags.length === 0) {
    const groups = view.groups.filter((group) => category === undefined || group.category.slug === category);
    const total = groups.reduce((sum, { size }) => sum + size, 0);
    const isIn = (entry: Entry) =>
      view.sees(entry) && (category === undefined || entry.group.category.slug === category);
    return { entries: pageOf(entries.ordered, isIn, { offset: offsetOf(query), limit: query.limit, total }), total };
  }
  const rows = await reader.read<{ commit: string; total: number; id: string | null }>(idsOfPage(viewer, query));
  if (rows[0]?.commit !== state.commit.commit) return OUTDATED;
  const found = rows.flatMap(({ id }) => (id === null ? [] : [entries.byId(id)]));
  const known = found.filter((entry) => entry !== undefined);
  return known.length === found.length ? { entries: known, total: rows[0].total } : OUTDATED;
}

interface Range {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
}

function pageOf(ordered: readonly Entry[], isIn: (entry: Entry) => boolean, { offset, limit, total }: Range): Entry[] {
  const page: Entry[] = [];
  const size = Math.min(limit, total - offset);
  let skipped = 0;
  for (let at = 0; at < ordered.length && page.length < size; at++) {
    const entry = ordered[at];
    if (!entry || !isIn(entry)) continue;
    if (skipped < offset) skipped += 1;
    else page.push(entry);
  }
  return page;
}

const START = Buffer.from('{"templates":[');

/** The entity tag does not cover the numbers of downloads. */
function render(documents: readonly Document[], query: Query, total: number): Rendered {
  const pagination = JSON.stringify(paginationOf(query, total));
  const end = Buffer.from(`],"pagination":${pagination}}`);
  const etag = etagOfState(
    pagination,
    documents.map((document) => document.etag),
  );
  return new Rendered(Buffer.concat([START, ...elementsOf(documents), end]), etag);
}
