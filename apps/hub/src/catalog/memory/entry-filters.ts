import type { EntryFilters } from '../filters.ts';
import type { Entry } from './entries.ts';

/** What each filter compares with its values. */
const valueIn: Readonly<Record<keyof EntryFilters, (entry: Entry) => string>> = {
  category: ({ group }) => group.category.slug,
  kind: ({ kind }) => kind,
  tier: ({ minTier }) => minTier,
  gpu: ({ hasGpu }) => String(hasGpu),
};

// Object.keys returns string[].
export const filterNames = Object.keys(valueIn) as (keyof EntryFilters)[];

interface EntryFilter {
  readonly name: keyof EntryFilters;
  readonly valueIn: (entry: Entry) => string;
  readonly admits: (entry: Entry) => boolean;
}

/** All filters. One without values admits all templates. */
export const entryFiltersOf = (query: EntryFilters): readonly EntryFilter[] =>
  filterNames.map((name) => {
    const given = query[name];
    const values = new Set(typeof given === 'boolean' ? [String(given)] : (given ?? []));
    return {
      name,
      valueIn: valueIn[name],
      admits: values.size === 0 ? () => true : (entry) => values.has(valueIn[name](entry)),
    };
  });

/** Whether a template matches the filters. */
export function entryMatcher(query: EntryFilters): (entry: Entry) => boolean {
  const filters = entryFiltersOf(query);
  return (entry) => filters.every(({ admits }) => admits(entry));
}

/** Whether all templates of a group match the filters, or none does. */
export const isOfGroups = ({ kind = [], tier = [], gpu }: EntryFilters): boolean =>
  kind.length === 0 && tier.length === 0 && gpu === undefined;
