import { useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlus, HardDrive, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField, SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { formatBytes, parseQuantity } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, useBlocked, type Volume } from '../api.ts';
import { volumeLook } from '../looks.ts';

const reclaims = [
  { value: 'retain', label: t('Retain when the deployment is deleted') },
  { value: 'delete', label: t('Delete with the deployment') },
] as const;

const accessModes = [
  { value: 'ReadWriteOnce', label: t('One deployment (ReadWriteOnce)') },
  { value: 'ReadWriteMany', label: t('Several deployments (ReadWriteMany)') },
  { value: 'ReadOnlyMany', label: t('Several deployments, read-only (ReadOnlyMany)') },
] as const;

type Open = { readonly kind: 'new' } | { readonly kind: 'edit' | 'delete'; readonly volume: Volume };

export default function Storage() {
  const { values, set, page, isFiltered, clear } = useFilters('search', 'phase', 'deployment_id');
  const query = useQuery(fleet.read('listStorage', { query: { ...values, page, sort: 'name' } }));
  const [open, setOpen] = useState<Open>();
  const blocked = useBlocked();
  const close = () => setOpen(undefined);
  const create = (
    <Button
      tone="primary"
      icon={CirclePlus}
      blocked={blocked('createStorage')}
      aria-haspopup="dialog"
      onClick={() => setOpen({ kind: 'new' })}
    >
      {t('New volume')}
    </Button>
  );
  return (
    <>
      <PageHeader title={t('Storage')} about={t('Volumes of deployments')} actions={create} />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# volume} other {# volumes}}', { count })}
        loading={t('Loading the volumes…')}
        noMatch={t('No volume matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <>
            <SearchField label={t('Search by name')} value={values.search} onChange={(search) => set({ search })} />
            <FilterSelect
              label={t('State')}
              value={values.phase}
              onChange={(phase) => set({ phase })}
              options={[
                { value: '', label: t('Any state') },
                { value: 'bound', label: t('Bound') },
                { value: 'pending', label: t('Pending') },
                { value: 'lost', label: t('Lost') },
              ]}
            />
          </>
        }
        icon={HardDrive}
        emptyTitle={t('There is no volume yet')}
        emptyText={t(
          'A deployment creates its volumes. Create one here to share it, or to decide its reclaim policy first.',
        )}
        emptyAction={create}
      >
        <Table
          label={t('Volumes')}
          columns={[
            { label: t('Name') },
            { label: t('State') },
            { label: t('Size'), isEnd: true },
            { label: t('Used by') },
            { label: t('Reclaim') },
            { label: t('Created') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.storage.map((volume) => (
            <tr key={volume.id}>
              <th scope="row">
                {volume.name}
                <span className="muted small truncate">{volume.access_mode}</span>
              </th>
              <td>
                <Status {...volumeLook(volume)} />
              </td>
              <td className="end numeric">{formatBytes(parseQuantity(volume.size))}</td>
              <td>
                <span className="row">
                  {volume.attached_to.length === 0 && <span className="muted">{t('nothing')}</span>}
                  {volume.attached_to.map(({ deployment_id, name }) => (
                    <Link key={deployment_id} href={href('/deployments/:id', { id: deployment_id })}>
                      {name}
                    </Link>
                  ))}
                </span>
              </td>
              <td className="muted">{volume.reclaim}</td>
              <td className="muted">
                <Time at={volume.created_at} />
              </td>
              <td className="end">
                <Menu
                  label={t('Actions for {name}', { name: volume.name })}
                  actions={[
                    {
                      label: t('Edit…'),
                      icon: Pencil,
                      onSelect: () => setOpen({ kind: 'edit', volume }),
                      opensDialog: true,
                      blocked: blocked('updateStorage'),
                    },
                    {
                      label: t('Delete…'),
                      icon: Trash2,
                      isDangerous: true,
                      onSelect: () => setOpen({ kind: 'delete', volume }),
                      opensDialog: true,
                      blocked:
                        volume.attached_to.length > 0 ? t('A deployment uses the volume.') : blocked('deleteStorage'),
                    },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {open?.kind === 'new' && <NewVolumeDialog onClose={close} />}
      {open?.kind === 'edit' && <EditVolumeDialog volume={open.volume} onClose={close} />}
      {open?.kind === 'delete' && <DeleteVolumeDialog volume={open.volume} onClose={close} />}
    </>
  );
}

function NewVolumeDialog({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({
    name: '',
    size: '10Gi',
    access_mode: 'ReadWriteOnce' as Volume['access_mode'], // widens the literal
    reclaim: 'retain' as Volume['reclaim'], // widens the literal
  });
  const create = useMutation({
    ...fleet.change('createStorage'),
    onSuccess: ({ storage }) => {
      confirmChange(t('Volume {name} is created', { name: storage.name }));
      onClose();
    },
  });
  const errorAt = form.errorsOf(create.error);
  return (
    <FormDialog
      title={t('New volume')}
      action={t('Create the volume')}
      pending={create.isPending}
      error={create.error}
      shown={['name', 'size', 'access_mode', 'reclaim']}
      onClose={onClose}
      onSubmit={() => create.mutate({ body: form.values })}
    >
      <TextField
        {...form.bind('name')}
        label={t('Name')}
        hint={t('Lower-case letters, digits and inner hyphens.')}
        required
        mono
        error={errorAt('name')}
      />
      <TextField
        {...form.bind('size')}
        label={t('Size')}
        hint={t('Such as 10Gi. Docker and Podman do not enforce it.')}
        mono
        error={errorAt('size')}
      />
      <SelectField
        {...form.bind('access_mode')}
        label={t('Access')}
        options={accessModes}
        error={errorAt('access_mode')}
      />
      <SelectField {...form.bind('reclaim')} label={t('Data')} options={reclaims} error={errorAt('reclaim')} />
    </FormDialog>
  );
}

interface VolumeDialogProps {
  readonly volume: Volume;
  readonly onClose: () => void;
}

function EditVolumeDialog({ volume: { id, name, version, size, reclaim }, onClose }: VolumeDialogProps) {
  const form = useForm({ size, reclaim });
  const update = useMutation({
    ...fleet.change('updateStorage'),
    onSuccess: () => {
      confirmChange(t('Volume {name} is changed', { name }));
      onClose();
    },
  });
  const errorAt = form.errorsOf(update.error);
  return (
    <FormDialog
      title={t('Edit {name}', { name })}
      action={t('Save')}
      pending={update.isPending}
      error={update.error}
      shown={['size', 'reclaim']}
      onClose={onClose}
      onSubmit={() => update.mutate({ params: { id }, ifMatch: version, body: form.values })}
    >
      <TextField
        {...form.bind('size')}
        label={t('Size')}
        hint={t('A volume can only become larger.')}
        mono
        error={errorAt('size')}
      />
      <SelectField {...form.bind('reclaim')} label={t('Data')} options={reclaims} error={errorAt('reclaim')} />
    </FormDialog>
  );
}

function DeleteVolumeDialog({ volume: { id, name, version, size }, onClose }: VolumeDialogProps) {
  const remove = useMutation({
    ...fleet.change('deleteStorage'),
    onSuccess: () => {
      confirmChange(t('Volume {name} is being deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete {name}?', { name })}
      action={t('Delete {name} and its data', { name })}
      name={name}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id }, ifMatch: version })}
    >
      <p>{t('The volume of {size} and all its data are lost. This cannot be undone.', { size })}</p>
    </ConfirmDialog>
  );
}
