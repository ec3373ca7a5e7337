import { useQuery } from '@tanstack/react-query';
import { APPLICATIONS_PER_PAGE, ApplicationGrid } from '../../shared/catalog/ApplicationGrid.tsx';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub } from '../api.ts';

/** The applications of the catalog as cards. */
export default function Applications() {
  const filters = useFilters('q', 'tags');
  const { values, page } = filters;
  const query = useQuery(
    hub.read('listApplications', { query: { ...values, page, limit: APPLICATIONS_PER_PAGE, view: 'summary' } }),
  );
  return (
    <>
      <PageHeader title={t('Applications')} about={t('Several containers that are deployed together')} />
      <ApplicationGrid
        query={query}
        filters={filters}
        hrefOf={({ slug }) => href('/applications/:slug', { slug })}
        emptyTitle={t('There is no application yet')}
        emptyText={t('An administrator publishes applications. Private ones are visible after sign-in.')}
      />
    </>
  );
}
