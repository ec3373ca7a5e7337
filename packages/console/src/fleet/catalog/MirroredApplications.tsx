import { useQuery } from '@tanstack/react-query';
import { Rocket } from 'lucide-react';
import { Link } from 'wouter';
import { APPLICATIONS_PER_PAGE, ApplicationGrid } from '../../shared/catalog/ApplicationGrid.tsx';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { fleet } from '../api.ts';

/** The applications that the fleet has copied from the hub. */
export function MirroredApplications() {
  const filters = useFilters('q', 'tags');
  const { values, page } = filters;
  const query = useQuery(
    fleet.read('listMirroredApplications', {
      query: { ...values, page, limit: APPLICATIONS_PER_PAGE, view: 'summary' },
    }),
  );
  return (
    <ApplicationGrid
      query={query}
      filters={filters}
      hrefOf={({ slug }) => href('/catalog/applications/:slug', { slug })}
      emptyTitle={t('The catalog has no applications')}
      emptyText={t(
        'An application consists of several containers, such as a program and its database. A hub of an earlier version has none.',
      )}
      actions={({ slug, name }) => (
        <Link
          href={href('/deploy/applications/:slug', { slug })}
          className="button small"
          aria-label={t('Deploy {name}', { name })}
        >
          <Rocket size={14} aria-hidden />
          {t('Deploy')}
        </Link>
      )}
    />
  );
}
