import { useMutation, useQuery } from '@tanstack/react-query';
import { Boxes, CirclePlus, FileInput, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { TemplateStatus } from '../../shared/catalog/TemplateAdvice.tsx';
import { tierLabel } from '../../shared/catalog/tiers.ts';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SearchField } from '../../shared/ui/controls/Field.tsx';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedApplication, useBlocked } from '../api.ts';
import { countOfApplications } from '../catalog/Applications.tsx';
import { visibilityLook } from '../looks.ts';
import { ApplicationFileDialog } from './ApplicationFileDialog.tsx';

const PAGE_SIZE = 50;

/** What a dialog of the page is about. */
type Open =
  | { readonly dialog: 'file'; readonly application: ManagedApplication | undefined }
  | { readonly dialog: 'delete'; readonly application: ManagedApplication };

/** All applications, for administrators. */
export default function ManagedApplications() {
  const { values, set, page, isFiltered, clear } = useFilters('q');
  const query = useQuery(
    hub.read('listAllApplications', { query: { q: values.q, page, limit: PAGE_SIZE, view: 'summary' } }),
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
      <PageHeader title={t('Applications')} about={t('All applications, including private ones')} actions={create} />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={countOfApplications}
        loading={t('Loading the applications…')}
        noMatch={t('No application matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <SearchField label={t('Search by name or description')} value={values.q} onChange={(q) => set({ q })} />
        }
        icon={Boxes}
        emptyTitle={t('There is no application yet')}
        emptyText={t('Publish one from its file, or import the files of a folder with the command import of the hub.')}
        emptyAction={create}
      >
        <Table
          label={t('Applications')}
          columns={[
            { label: t('Name') },
            { label: t('Category') },
            { label: t('Visibility') },
            { label: t('Tier') },
            { label: t('Downloads'), isEnd: true },
            { label: t('Changed') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.applications.map((application) => (
            <tr key={application.id}>
              <th scope="row">
                <Link href={href('/applications/:slug', { slug: application.slug })} className="cell-link">
                  {application.name}
                </Link>
                <span className="muted small mono truncate">
                  <bdi>{application.slug}</bdi> {application.version}
                </span>
              </th>
              <td>{application.category_name}</td>
              <td>
                <Status {...visibilityLook(!application.is_public)} />
                <TemplateStatus status={application.status} />
              </td>
              <td className="muted">{tierLabel(application.min_tier)}</td>
              <td className="end numeric">{formatCount(application.download_count)}</td>
              <td className="muted">
                <Time at={application.updated_at} />
              </td>
              <td className="end">
                <Menu
                  label={t('Actions for {name}', { name: application.name })}
                  actions={[
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
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
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
