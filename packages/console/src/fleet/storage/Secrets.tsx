import { useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlus, Lock, RotateCw, ShieldCheck, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/controls/Field.tsx';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, type Secret, useBlocked } from '../api.ts';
import NewSecretDialog from './NewSecretDialog.tsx';
import { SecretScopeDialog } from './SecretScope.tsx';

type Open = { readonly kind: 'new' } | { readonly kind: 'replace' | 'scope' | 'delete'; readonly secret: Secret };

const purposeWords: Readonly<Record<Secret['purposes'][number], string>> = {
  variables: t('variables'),
  registry: t('its registry'),
  private_key: t('private key into variables'),
};

export default function Secrets() {
  const { values, set, page, isFiltered, clear } = useFilters('search', 'kind');
  const query = useQuery(fleet.read('listSecrets', { query: { ...values, page, sort: 'name' } }));
  const [open, setOpen] = useState<Open>();
  const blocked = useBlocked();
  const close = () => setOpen(undefined);
  const create = (
    <Button
      tone="primary"
      icon={CirclePlus}
      blocked={blocked('createSecret')}
      aria-haspopup="dialog"
      onClick={() => setOpen({ kind: 'new' })}
    >
      {t('New secret')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('Secrets')}
        about={t('Values for workloads. They are encrypted, and never shown.')}
        actions={create}
      />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# secret} other {# secrets}}', { count })}
        loading={t('Loading the secrets…')}
        noMatch={t('No secret matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <>
            <SearchField label={t('Search by name')} value={values.search} onChange={(search) => set({ search })} />
            <FilterSelect
              label={t('Kind')}
              value={values.kind}
              onChange={(kind) => set({ kind })}
              options={[
                { value: '', label: t('All kinds') },
                { value: 'opaque', label: t('Values for variables') },
                { value: 'registry', label: t('Image registries') },
                { value: 'tls', label: t('TLS certificates') },
              ]}
            />
          </>
        }
        icon={Lock}
        emptyTitle={t('There is no secret yet')}
        emptyText={t(
          'Secrets hold passwords and keys for variables, credentials of image registries, and TLS certificates.',
        )}
        emptyAction={create}
      >
        <Table
          label={t('Secrets')}
          columns={[
            { label: t('Name') },
            { label: t('Kind') },
            { label: t('May go to') },
            { label: t('Keys') },
            { label: t('Used by') },
            { label: t('Values set') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.secrets.map((secret) => (
            <tr key={secret.id}>
              <th scope="row">{secret.name}</th>
              <td>
                {secret.kind}{' '}
                {secret.server && <span className="muted small">{t('for {server}', { server: secret.server })}</span>}
              </td>
              <td className="small">
                {secret.purposes.map((purpose) => purposeWords[purpose]).join(', ')}
                {secret.workloads && (
                  <span className="muted">
                    {' '}
                    {secret.workloads.length === 0
                      ? t('of no workload')
                      : t('only of {workloads}', { workloads: secret.workloads.join(', ') })}
                  </span>
                )}
              </td>
              <td className="mono small">{secret.keys.join(', ')}</td>
              <td>
                <span className="row">
                  {secret.used_by.length === 0 && <span className="muted">{t('nothing')}</span>}
                  {secret.used_by.slice(0, 5).map(({ kind, id, name }) => (
                    <Link
                      key={id}
                      href={kind === 'deployment' ? href('/deployments/:id', { id }) : href('/workloads/:id', { id })}
                    >
                      {name}
                    </Link>
                  ))}
                  {secret.used_by.length > 5 && (
                    <span className="muted small">
                      {t('and {count} more', { count: formatCount(secret.used_by.length - 5) })}
                    </span>
                  )}
                </span>
              </td>
              <td className="muted">
                <Time at={secret.last_rotated_at} />
              </td>
              <td className="end">
                <Menu
                  label={t('Actions for {name}', { name: secret.name })}
                  actions={[
                    {
                      label: t('Replace the values…'),
                      icon: RotateCw,
                      onSelect: () => setOpen({ kind: 'replace', secret }),
                      opensDialog: true,
                      blocked: blocked('updateSecret'),
                    },
                    {
                      label: t('Change who may use it…'),
                      icon: ShieldCheck,
                      onSelect: () => setOpen({ kind: 'scope', secret }),
                      opensDialog: true,
                      blocked: blocked('updateSecret'),
                    },
                    {
                      label: t('Delete…'),
                      icon: Trash2,
                      isDangerous: true,
                      onSelect: () => setOpen({ kind: 'delete', secret }),
                      opensDialog: true,
                      blocked:
                        blocked('deleteSecret') ??
                        (secret.used_by.length > 0 ? t('Something uses the secret.') : undefined),
                    },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {open?.kind === 'new' && <NewSecretDialog onClose={close} />}
      {open?.kind === 'replace' && <NewSecretDialog secret={open.secret} onClose={close} />}
      {open?.kind === 'scope' && <SecretScopeDialog secret={open.secret} onClose={close} />}
      {open?.kind === 'delete' && <DeleteSecretDialog secret={open.secret} onClose={close} />}
    </>
  );
}

function DeleteSecretDialog({
  secret: { id, name, version },
  onClose,
}: {
  readonly secret: Secret;
  readonly onClose: () => void;
}) {
  const remove = useMutation({
    ...fleet.change('deleteSecret'),
    onSuccess: () => {
      confirmChange(t('Secret {name} is deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete {name}?', { name })}
      action={t('Delete')}
      name={name}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id }, ifMatch: version })}
    >
      <p>{t('Its values are lost. This cannot be undone.')}</p>
    </ConfirmDialog>
  );
}
