import { useMutation, useQuery } from '@tanstack/react-query';
import { Boxes, CirclePlus, Combine, CopyPlus, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedApplication } from '../api.ts';
import { countOfApplications } from '../catalog/Applications.tsx';
import { MANAGED_PAGE_SIZE, ManagedList } from '../templates/ManagedList.tsx';

/** All applications, for administrators. */
export default function ManagedApplications() {
  const { values, set, page, isFiltered, clear } = useFilters('q');
  const query = useQuery(
    hub.read('listAllApplications', { query: { q: values.q, page, limit: MANAGED_PAGE_SIZE, view: 'summary' } }),
  );
  const [deleted, setDeleted] = useState<ManagedApplication>();
  const [, navigate] = useLocation();
  const create = (
    <ButtonLink tone="primary" icon={CirclePlus} href="/admin/applications/new">
      {t('New application')}
    </ButtonLink>
  );
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
        search={{ value: values.q, onChange: (q) => set({ q }) }}
        icon={Boxes}
        emptyTitle={t('There is no application yet')}
        emptyText={t('Create or import one here, or import the files of a folder with the command import of the hub.')}
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
      {deleted && <DeleteDialog application={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  );
}

function DeleteDialog({
  application: { id, name, slug, resource_version },
  onClose,
}: {
  readonly application: ManagedApplication;
  readonly onClose: () => void;
}) {
  const remove = useMutation({
    ...hub.change('deleteApplication', 'catalog'),
    onSuccess: () => {
      confirmChange(t('Application {name} is deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete {name}?', { name })}
      action={t('Delete')}
      name={slug}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ query: { id }, body: {}, ifMatch: resource_version })}
    >
      <p>
        {t(
          'It disappears from the catalog of each fleet with its next sync. What fleets run continues. It cannot be restored.',
        )}
      </p>
    </ConfirmDialog>
  );
}
