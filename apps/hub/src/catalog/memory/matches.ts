import type { Reader } from '@svc/database';
import { LRUCache } from 'lru-cache';
import { type ContentFilters, type MatchingRow, matchingObjects } from '../filters.ts';
import type { Kind } from '../kinds.ts';
import { type IndexedView, OUTDATED } from './catalog-index.ts';
import type { Entries, Entry } from './entries.ts';
import { insertInOrder } from './order.ts';

/** The templates that match filters, whoever sees them. */
export interface Matching {
  /** In the order of lists. Undefined if they are too many. */
  readonly entries: readonly Entry[] | undefined;
  /** When all of them were selected, by `performance.now()`. */
  readonly selectedAt: number;
}

export interface Matches {
  /**
   * The templates that match filters of their contents; OUTDATED if the index or the database has a
   * later state.
   */
  of(indexed: IndexedView, filters: ContentFilters): Promise<Matching | typeof OUTDATED>;
}

interface Known extends Matching {
  readonly of: Entries;
  /** The stamp of the state at which they match, in milliseconds. */
  readonly at: number;
}

/**
 * More templates are selected by the database for each page, because the ids of all of them would
 * take long to read.
 */
const MAX_MATCHES = 10_000;
/** The number of templates of all filters together. */
const MAX_ENTRIES = 1_000_000;
/** The size of an entry of the cache beside its templates, in templates. */
const OVERHEAD = 100;
/** After more changes, all templates are selected again. */
const MAX_CHANGES = 500;
/** For this time, filters that match too many templates are assumed to match too many. */
const MAX_RECOUNT_AGE_MS = 10_000;
/**
 * Delete after 0.2: this time and `isTooOld`. Version 0.1.0 does not register the tags that it
 * writes, so they are found some time later, without a change.
 */
const MAX_TAG_AGE_MS = 10_000;

/**
 * Whether templates that were selected at a time are selected again, although none of them changed.
 */
export const isTooOld = ({ tags = [] }: ContentFilters, selectedAt: number): boolean =>
  tags.length > 0 && performance.now() - selectedAt > MAX_TAG_AGE_MS;

/**
 * Remembers which templates match filters. All viewers share them, because the index knows which of
 * them a viewer sees. After changes, the database evaluates the filters for the changed templates
 * only.
 */
export function createMatches(reader: Reader, kind: Kind, max = MAX_MATCHES): Matches {
  const known = new LRUCache<string, Known>({
    maxSize: MAX_ENTRIES,
    sizeCalculation: ({ entries = [] }) => entries.length + OVERHEAD,
  });
  const selecting = new Map<string, Promise<Known | typeof OUTDATED>>();

  /**
   * The templates that match at the state of the index, among those with some ids; undefined if
   * they are more than the maximum. Those that changed meanwhile are omitted.
   */
  const match = async ({ entries, state }: IndexedView, filters: ContentFilters, among?: readonly string[]) => {
    const [row] = await reader.read<MatchingRow>(matchingObjects(kind, filters, { among, limit: max + 1 }));
    if (row?.commit !== state.commit.commit) return OUTDATED;
    const ids = row.ids === '' ? [] : row.ids.split(',');
    if (ids.length > max) return undefined;
    const found = ids.map((id) => entries.byId(id));
    return found.filter((entry) => entry !== undefined).filter(({ updatedAt }) => updatedAt <= state.at.getTime());
  };
  const select = async (indexed: IndexedView, filters: ContentFilters): Promise<Known | typeof OUTDATED> => {
    const entries = await match(indexed, filters);
    if (entries === OUTDATED) return OUTDATED;
    return { entries, of: indexed.entries, at: indexed.state.at.getTime(), selectedAt: performance.now() };
  };
  /** Applies the changes of the index since then; undefined if they are not known, or many. */
  const update = async (indexed: IndexedView, filters: ContentFilters, before: Known) => {
    const { entries, state } = indexed;
    if (before.of !== entries || isTooOld(filters, before.selectedAt)) return undefined;
    const at = state.at.getTime();
    if (!before.entries)
      return performance.now() - before.selectedAt < MAX_RECOUNT_AGE_MS ? { ...before, at } : undefined;
    const changed = entries.changedAfter(before.at);
    if (!changed || changed.length > MAX_CHANGES) return undefined;
    const ids = changed.map(({ id }) => id);
    const matching = ids.length > 0 ? await match(indexed, filters, ids) : [];
    if (matching === OUTDATED) return OUTDATED;
    const updated = before.entries.filter((entry) => entries.byId(entry.id) === entry);
    for (const entry of matching ?? []) insertInOrder(updated, entry);
    return { ...before, entries: updated, at };
  };
  const read = async (indexed: IndexedView, filters: ContentFilters, before: Known | undefined) =>
    (before && (await update(indexed, filters, before))) ?? select(indexed, filters);

  return {
    async of(indexed, filters) {
      const { search, featured, tags } = filters;
      const key = JSON.stringify([search, featured, tags]);
      const { at, commit } = indexed.state;
      const before = known.get(key);
      if (before?.of === indexed.entries && before.at === at.getTime() && !isTooOld(filters, before.selectedAt))
        return before;
      const stateKey = `${key} ${commit.commit}`;
      const shared = selecting.get(stateKey) ?? read(indexed, filters, before);
      selecting.set(stateKey, shared);
      const found = await shared.finally(() => selecting.delete(stateKey));
      if (found === OUTDATED) return OUTDATED;
      known.set(key, found);
      return indexed.isCurrent() ? found : OUTDATED; // the next call applies the changes since then
    },
  };
}
