import type { Application } from '@svc/contract';
import { Boxes, SearchX } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import type { useFilters } from '../routing/search.ts';
import { t } from '../texts/texts.ts';
import { Button } from '../ui/controls/Button.tsx';
import { SearchField } from '../ui/controls/Field.tsx';
import { Empty, ErrorView, Loading } from '../ui/feedback/states.tsx';
import { Pager } from '../ui/lists/Table.tsx';
import { countOfApplications } from './application-count.ts';
import { CatalogCard } from './CatalogCard.tsx';

/** The number of applications on a page. */
export const APPLICATIONS_PER_PAGE = 48;

/** The applications of a catalog as cards, with their filters. */
export function ApplicationGrid<T extends Application>({
  query: { data, error, refetch },
  filters: { values, set, isFiltered },
  hrefOf,
  emptyTitle,
  emptyText,
  actions,
}: {
  readonly query: {
    readonly data:
      | { readonly applications: readonly T[]; readonly pagination: ComponentProps<typeof Pager>['pagination'] }
      | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
  readonly filters: Pick<ReturnType<typeof useFilters<'q' | 'tags'>>, 'values' | 'set' | 'isFiltered'>;
  readonly hrefOf: (application: T) => string;
  readonly emptyTitle: string;
  readonly emptyText: string;
  readonly actions?: (application: T) => ReactNode;
}) {
  const hasError = error !== null && error !== undefined;
  return (
    <>
      <div className="filters">
        <SearchField label={t('Search applications')} value={values.q} onChange={(q) => set({ q })} />
        {values.tags && (
          <button type="button" className="chip" aria-pressed onClick={() => set({ tags: '' })}>
            {t('Tag {tag}', { tag: values.tags })} ×
          </button>
        )}
        {data && (
          <span className="total" role="status">
            {countOfApplications(data.pagination.total)}
          </span>
        )}
      </div>
      {hasError && <ErrorView error={error} retry={refetch} />}
      {!data && !hasError && <Loading text={t('Loading the applications…')} />}
      {data?.applications.length === 0 &&
        (isFiltered ? (
          <Empty
            icon={SearchX}
            title={t('No application matches')}
            action={<Button onClick={() => set({ q: '', tags: '' })}>{t('Clear the filters')}</Button>}
          />
        ) : (
          <Empty icon={Boxes} title={emptyTitle}>
            {emptyText}
          </Empty>
        ))}
      {data && (
        <>
          <ul className="grid">
            {data.applications.map((application) => (
              <li key={application.id}>
                <CatalogCard object={application} href={hrefOf(application)}>
                  {actions?.(application)}
                </CatalogCard>
              </li>
            ))}
          </ul>
          <Pager pagination={data.pagination} onPage={(page) => set({ page })} />
        </>
      )}
    </>
  );
}
