import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';

/**
 * Filters that are part of the address, so that a link shows the same view. An empty value is
 * removed from the address. A change of a filter replaces the entry of the history, and resets the
 * page.
 */
export function useFilters<K extends string>(...names: readonly K[]) {
  const [search, setSearch] = useSearchParams();
  const text = search.toString();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` is a literal list, and `text` represents `search`
  const values = useMemo(
    // Each name has one value.
    () => Object.fromEntries(names.map((name) => [name, search.get(name) ?? ''])) as Record<K, string>,
    [text],
  );
  const set = useCallback(
    (changed: Readonly<Partial<Record<K | 'page', string | number>>>) =>
      setSearch(
        (current) => {
          const next = new URLSearchParams(current);
          if (!('page' in changed)) next.delete('page');
          for (const [name, value] of Object.entries(changed)) {
            if (value === '' || value === undefined) next.delete(name);
            else next.set(name, String(value));
          }
          return next;
        },
        { replace: true },
      ),
    [setSearch],
  );
  const page = Math.max(1, Number(search.get('page') ?? 1) || 1);
  // An order excludes no rows.
  const isFiltered = names.some((name) => name !== 'sort' && values[name] !== '');
  const clear = useCallback(() => setSearch(() => new URLSearchParams(), { replace: true }), [setSearch]);
  return { values, set, page, isFiltered, clear };
}

/**
 * The form that a page opens if its address has the parameter `edit`, so that a link leads to a
 * field. The parameter is the path of the field that receives the focus; empty for the first one.
 */
export function useEdit() {
  const [search, setSearch] = useSearchParams();
  const set = (path: string | undefined) =>
    setSearch(
      (current) => {
        const next = new URLSearchParams(current);
        if (path === undefined) next.delete('edit');
        else next.set('edit', path);
        return next;
      },
      { replace: true },
    );
  return {
    /** Undefined while the form is closed. */
    field: search.get('edit') ?? undefined,
    open: () => set(''),
    close: () => set(undefined),
  };
}
