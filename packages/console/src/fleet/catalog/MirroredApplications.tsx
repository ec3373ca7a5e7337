import { useQuery } from '@tanstack/react-query';
import { Boxes, Rocket, SearchX } from 'lucide-react';
import { Link } from 'wouter';
import { CatalogCard } from '../../shared/catalog/CatalogCard.tsx';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SearchField } from '../../shared/ui/controls/Field.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { fleet } from '../api.ts';

const PAGE_SIZE = 48;

/** The applications that the fleet has copied from the hub. */
export function MirroredApplications() {
  const { values, set, page, isFiltered } = useFilters('q', 'tags');
  const { data, error, refetch } = useQuery(
    fleet.read('listMirroredApplications', { query: { ...values, page, limit: PAGE_SIZE, view: 'summary' } }),
  );
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
            {t('{count, plural, one {# application} other {# applications}}', { count: data.pagination.total })}
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
            action={<Button onClick={() => set({ q: '', tags: '' })}>{t('Clear the filters')}</Button>}
          />
        ) : (
          <Empty icon={Boxes} title={t('The catalog has no applications')}>
            {t(
              'An application consists of several containers, such as a program and its database. A hub of an earlier version has none.',
            )}
          </Empty>
        ))}
      {data && (
        <>
          <ul className="grid">
            {data.applications.map((application) => (
              <li key={application.id}>
                <CatalogCard
                  object={application}
                  href={href('/catalog/applications/:slug', { slug: application.slug })}
                >
                  <Link
                    href={href('/deploy/applications/:slug', { slug: application.slug })}
                    className="button small"
                    aria-label={t('Deploy {name}', { name: application.name })}
                  >
                    <Rocket size={14} aria-hidden />
                    {t('Deploy')}
                  </Link>
                </CatalogCard>
              </li>
            ))}
          </ul>
          <Pager pagination={data.pagination} onPage={(next) => set({ page: next })} />
        </>
      )}
    </>
  );
}
