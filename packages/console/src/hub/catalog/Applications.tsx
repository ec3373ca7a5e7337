import { useQuery } from '@tanstack/react-query';
import { Boxes, SearchX } from 'lucide-react';
import { CatalogCard } from '../../shared/catalog/CatalogCard.tsx';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SearchField } from '../../shared/ui/controls/Field.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub } from '../api.ts';

const PAGE_SIZE = 48;

/** The applications of the catalog as cards. */
export default function Applications() {
  const { values, set, page, isFiltered, clear } = useFilters('q', 'tags');
  const { data, error, refetch } = useQuery(
    hub.read('listApplications', { query: { ...values, page, limit: PAGE_SIZE, view: 'summary' } }),
  );
  return (
    <>
      <PageHeader title={t('Applications')} about={t('Several containers that are deployed together')} />
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
      {error && <ErrorView error={error} retry={refetch} />}
      {!data && !error && <Loading text={t('Loading the applications…')} />}
      {data?.applications.length === 0 &&
        (isFiltered ? (
          <Empty
            icon={SearchX}
            title={t('No application matches')}
            action={<Button onClick={clear}>{t('Clear the filters')}</Button>}
          />
        ) : (
          <Empty icon={Boxes} title={t('There is no application yet')}>
            {t('An administrator publishes applications. Private ones are visible after sign-in.')}
          </Empty>
        ))}
      {data && (
        <>
          <ul className="grid">
            {data.applications.map((application) => (
              <li key={application.id}>
                <CatalogCard object={application} href={href('/applications/:slug', { slug: application.slug })} />
              </li>
            ))}
          </ul>
          <Pager pagination={data.pagination} onPage={(next) => set({ page: next })} />
        </>
      )}
    </>
  );
}

export const countOfApplications = (count: number): string =>
  t('{count, plural, one {# application} other {# applications}}', { count });
