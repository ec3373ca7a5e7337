import { useMutation, useQuery } from '@tanstack/react-query';
import { Boxes, CirclePlus, Combine, FileInput, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedApplication, useBlocked } from '../api.ts';
import { countOfApplications } from '../catalog/Applications.tsx';
import { MANAGED_PAGE_SIZE, ManagedList } from '../templates/ManagedList.tsx';
import { ApplicationFileDialog } from './ApplicationFileDialog.tsx';

/** What a dialog of the page is about. */
type Open =
  | { readonly dialog: 'file'; readonly application: ManagedApplication | undefined }
  | { readonly dialog: 'delete'; readonly application: ManagedApplication };

/** All applications, for administrators. */
export default function ManagedApplications() {
  const { values, set, page, isFiltered, clear } = useFilters('q');
  const query = useQuery(
    hub.read('listAllApplications', { query: { q: values.q, page, limit: MANAGED_PAGE_SIZE, view: 'summary' } }),
  );
  const [open, setOpen] = useState<Open>();
  const blocked = useBlocked();
  const create = (
    <Button
      tone="primary"
      icon={CirclePlus}
      aria-haspopup="dialog"
      blocked={blocked('createApplication')}
      onClick={() => setOpen({ dialog: 'file', application: undefined })}
    >
      {t('New application')}
    </Button>
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
        emptyText={t('Publish one from its file, or import the files of a folder with the command import of the hub.')}
        emptyAction={create}
        rows={query.data?.applications}
        hrefOf={({ slug }) => href('/applications/:slug', { slug })}
        actionsOf={(application) => [
          {
            label: t('Replace the content…'),
            icon: FileInput,
            onSelect: () => setOpen({ dialog: 'file', application }),
            opensDialog: true,
          },
          {
            label: t('Delete…'),
            icon: Trash2,
            isDangerous: true,
            onSelect: () => setOpen({ dialog: 'delete', application }),
            opensDialog: true,
          },
        ]}
      />
      {open?.dialog === 'file' && (
        <ApplicationFileDialog application={open.application} onClose={() => setOpen(undefined)} />
      )}
      {open?.dialog === 'delete' && <DeleteDialog application={open.application} onClose={() => setOpen(undefined)} />}
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
