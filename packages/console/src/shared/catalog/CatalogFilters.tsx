import { t } from '../texts/texts.ts';
import { FilterSelect, SearchField } from '../ui/controls/Field.tsx';
import { formatCount } from '../ui/display/format.ts';

/** The maximum number of categories that are visible side by side. */
const MAX_CHIPS = 12;

interface Category {
  readonly slug: string;
  readonly name: string;
  readonly template_count: number;
}

interface Values {
  readonly q: string;
  readonly category: string;
  readonly tags: string;
}

/** The filters of a list of templates. */
export const CatalogFilters = ({
  values,
  set,
  categories,
  total,
}: {
  readonly values: Values;
  readonly set: (changed: Partial<Values>) => void;
  readonly categories: readonly Category[];
  readonly total: number | undefined;
}) => (
  <div className="filters">
    <SearchField label={t('Search templates')} value={values.q} onChange={(q) => set({ q })} />
    <CategoryFilter category={values.category} set={set} categories={categories} />
    {values.tags && (
      <button type="button" className="chip" aria-pressed onClick={() => set({ tags: '' })}>
        {t('Tag {tag}', { tag: values.tags })} ×
      </button>
    )}
    {total !== undefined && (
      <span className="total" role="status">
        {t('{count, plural, one {# template} other {# templates}}', { count: total })}
      </span>
    )}
  </div>
);

/** Categories with the number of their templates: side by side, or as a list if there are many. */
function CategoryFilter({
  category,
  set,
  categories,
}: {
  readonly category: string;
  readonly set: (changed: { readonly category: string }) => void;
  readonly categories: readonly Category[];
}) {
  const options = [
    { value: '', label: t('All categories') },
    ...categories.map(({ slug, name, template_count }) => ({
      value: slug,
      label: t('{name} ({count})', { name, count: formatCount(template_count) }),
    })),
  ];
  if (categories.length > MAX_CHIPS) {
    return (
      <FilterSelect
        label={t('Category')}
        value={category}
        onChange={(value) => set({ category: value })}
        options={options}
      />
    );
  }
  return (
    <fieldset className="chips" aria-label={t('Category')}>
      {options.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          className="chip"
          aria-pressed={category === value}
          onClick={() => set({ category: value })}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
