import type { ReactNode } from 'react';
import { t } from '../texts/texts.ts';
import { SearchField } from '../ui/controls/Field.tsx';

interface Values {
  readonly q: string;
  readonly tags: string;
}

/** The filters of a list of templates. */
export const CatalogFilters = ({
  values,
  set,
  total,
  actions,
  children,
}: {
  readonly values: Values;
  readonly set: (changed: Partial<Values>) => void;
  readonly total: number | undefined;
  /** Beside the search. */
  readonly actions?: ReactNode;
  /** The filters whose values are visible. */
  readonly children: ReactNode;
}) => (
  <>
    <div className="filters">
      <SearchField label={t('Search templates')} value={values.q} onChange={(q) => set({ q })} />
      {actions}
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
    <div className="facets">{children}</div>
  </>
);
