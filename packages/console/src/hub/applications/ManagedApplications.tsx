import { useQuery } from '@tanstack/react-query';
import { Boxes, CirclePlus, Combine, CopyPlus, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { countOfApplications } from '../../shared/catalog/application-count.ts';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedApplication } from '../api.ts';
import { DeleteDialog } from '../history/DeleteDialog.tsx';
import { DeletedObjects, PresentOrDeleted } from '../history/DeletedObjects.tsx';
import { MANAGED_PAGE_SIZE, ManagedList } from '../templates/ManagedList.tsx';

/** All applications, for administrators. */
export default function ManagedApplications() {
  const { values, set, page, isFiltered, clear } = useFilters('q', 'show');
  const { q, show } = values;
  const query = useQuery({
    ...hub.read('listAllApplications', { query: { q, page, limit: MANAGED_PAGE_SIZE, view: 'summary' } }),
    enabled: show !== 'deleted',
  });
  const [deleted, setDeleted] = useState<ManagedApplication>();
  const [, navigate] = useLocation();
  const create = (
    <ButtonLink tone="primary" icon={CirclePlus} href="/admin/applications/new">
      {t('New application')}
    </ButtonLink>
  );
  const showFilter = <PresentOrDeleted value={show} onChange={(next) => set({ show: next, q: '' })} />;
  return (
    <>
      <PageHeader
        title={t('Applications')}
        about={t('All applications, including private ones')}
        actions={
          <>
            <ButtonLink icon={Combine} href="/admin/convert">
              {t('Convert a Compose file')}
            </ButtonLink>
            {create}
          </>
        }
      />
      {show === 'deleted' ? (
        <DeletedObjects kind="application" filters={showFilter} />
      ) : (
        <ManagedList
          label={t('Applications')}
          query={query}
          pagination={query.data?.pagination}
          count={countOfApplications}
          loading={t('Loading the applications…')}
          noMatch={t('No application matches')}
          isFiltered={isFiltered}
          onClear={clear}
          onPage={(next) => set({ page: next })}
          search={{ value: q, onChange: (next) => set({ q: next }) }}
          filters={showFilter}
          icon={Boxes}
          emptyTitle={t('There is no application yet')}
          emptyText={t(
            'Create or import one here, or import the files of a folder with the command import of the hub.',
          )}
          emptyAction={create}
          rows={query.data?.applications}
          hrefOf={({ id }) => href('/admin/applications/:id', { id })}
          actionsOf={(application) => [
            {
              label: t('Edit'),
              icon: Pencil,
              onSelect: () => navigate(href('/admin/applications/:id', { id: application.id })),
            },
            {
              label: t('Duplicate'),
              icon: CopyPlus,
              onSelect: () => navigate(href('/admin/applications/new', undefined, { from: application.id })),
            },
            {
              label: t('Delete…'),
              icon: Trash2,
              isDangerous: true,
              onSelect: () => setDeleted(application),
              opensDialog: true,
            },
          ]}
        />
      )}
      {deleted && <DeleteDialog kind="application" of={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  );
}
