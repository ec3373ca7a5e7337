import { useQuery } from '@tanstack/react-query';
import { FilterChips } from '../../shared/catalog/FilterChips.tsx';
import { tierLabel } from '../../shared/catalog/tiers.ts';
import { t } from '../../shared/texts/texts.ts';
import { wordsOfCode } from '../../shared/ui/display/format.ts';
import { hub } from '../api.ts';

type Filter = 'category' | 'kind' | 'tier' | 'gpu';

interface Filters extends Readonly<Partial<Record<Exclude<Filter, 'gpu'> | 'q' | 'tags', string>>> {
  readonly gpu?: boolean;
}

const valuesOf = (given: string | boolean = '') =>
  String(given)
    .split(',')
    .filter((value) => value !== '');

/** The filters of the catalog with the numbers of templates that the caller would find. */
export function CountedFilters({
  filters,
  set,
}: {
  readonly filters: Filters;
  readonly set: (changed: Readonly<Partial<Record<Filter, string>>>) => void;
}) {
  const categories = useQuery(hub.read('listCategories')).data?.categories ?? [];
  const counts = useQuery(hub.read('countTemplates', { query: filters })).data?.counts;
  /** The values with templates, and the chosen ones. */
  const counted = (name: Filter, labelOf: (value: string) => string) => {
    const found = counts?.[name] ?? [];
    const missing = valuesOf(filters[name]).filter((value) => !found.some((one) => one.value === value));
    const count = counts ? 0 : undefined;
    return [...found, ...missing.map((value) => ({ value, count }))].map((one) => ({
      ...one,
      label: labelOf(one.value),
    }));
  };
  const order = new Map(categories.map(({ slug }, index) => [slug, index]));
  const nameOf = (slug: string) => categories.find((one) => one.slug === slug)?.name ?? slug;
  const inOrder = counted('category', nameOf).sort(
    (one, other) => (order.get(one.value) ?? categories.length) - (order.get(other.value) ?? categories.length),
  );
  const chips = (name: Filter, label: string, values: typeof inOrder, isSingle = false) => {
    const chosen = valuesOf(filters[name]);
    // One value that all templates have distinguishes nothing.
    if (values.length < 2 && chosen.length === 0) return null;
    return (
      <FilterChips
        label={label}
        values={values}
        chosen={chosen}
        onChange={(all) => set({ [name]: isSingle ? (all.at(-1) ?? '') : all.join(',') })}
      />
    );
  };
  return (
    <>
      {chips('category', t('Category'), inOrder)}
      {chips('kind', t('Kind'), counted('kind', wordsOfCode))}
      {chips('tier', t('Tier'), counted('tier', tierLabel))}
      {chips(
        'gpu',
        t('GPUs'),
        counted('gpu', (value) => (value === 'true' ? t('With GPUs') : t('Without GPUs'))),
        true,
      )}
    </>
  );
}
