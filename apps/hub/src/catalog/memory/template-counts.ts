import { MAX_COUNTED_VALUES, type TemplateCounts } from '@svc/contract/hub';
import type { EntryFilters } from '../filters.ts';
import type { Entry } from './entries.ts';
import { entryFiltersOf, filterNames } from './entry-filters.ts';

/**
 * For each filter, its values with the number of templates that match the value and all other
 * filters.
 */
export function countByFilter(visible: Iterable<Entry>, query: EntryFilters): TemplateCounts {
  const filters = entryFiltersOf(query).map((filter) => ({ ...filter, counts: new Map<string, number>() }));
  for (const entry of visible) {
    const rejecting = filters.filter(({ admits }) => !admits(entry));
    for (const { counts, valueIn, admits } of filters) {
      const matchesOthers = rejecting.length === 0 || (rejecting.length === 1 && !admits(entry));
      if (matchesOthers) counts.set(valueIn(entry), (counts.get(valueIn(entry)) ?? 0) + 1);
    }
  }
  const byName = new Map(filters.map(({ name, counts }) => [name, mostFrequent(counts)]));
  // filterNames has each filter once; Object.fromEntries loses their names.
  return Object.fromEntries(filterNames.map((name) => [name, byName.get(name) ?? []])) as TemplateCounts;
}

const mostFrequent = (counts: ReadonlyMap<string, number>) =>
  [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
    .slice(0, MAX_COUNTED_VALUES);
