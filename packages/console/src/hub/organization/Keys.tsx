import { useMutation, useQuery } from '@tanstack/react-query';
import { Ban, CirclePlus, KeyRound, Pencil, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine, ShownOnceDialog } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { type ApiKey, hub, useBlocked, useUser } from '../api.ts';
import { keyLook } from '../looks.ts';

const PAGE_SIZE = 50;

type Open = { readonly kind: 'new' } | { readonly kind: 'rename' | 'reissue' | 'revoke'; readonly apiKey: ApiKey };

export default function Keys() {
  const { set, page } = useFilters();
  const user = useUser();
  const query = useQuery(hub.read('listApiKeys', { query: { page, limit: PAGE_SIZE } }));
  const [open, setOpen] = useState<Open>();
  const blocked = useBlocked();
  const close = () => setOpen(undefined);
  const noOrganization = user && !user.organization ? t('Create or join an organization first.') : undefined;
  const noChange = noOrganization ?? blocked('createApiKey');
  const create = (
    <Button
      tone="primary"
      icon={CirclePlus}
      blocked={noChange}
      aria-haspopup="dialog"
      onClick={() => setOpen({ kind: 'new' })}
    >
      {t('New key')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('API keys')}
        about={t('With a key, a fleet copies the templates that your organization can see')}
        actions={create}
      />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# key} other {# keys}}', { count })}
        loading={t('Loading the keys…')}
        noMatch={t('No key matches')}
        isFiltered={false}
        onClear={() => undefined}
        onPage={(next) => set({ page: next })}
        icon={KeyRound}
        emptyTitle={t('There is no key yet')}
        emptyText={noOrganization ?? t('Create a key for each fleet, so that you can revoke it alone.')}
        emptyAction={noOrganization ? <ButtonLink href="/organization">{t('Organization')}</ButtonLink> : create}
      >
        <Table
          label={t('API keys')}
          columns={[
            { label: t('Name') },
            { label: t('State') },
            { label: t('Last used') },
            { label: t('Expires') },
            { label: t('Created') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.apiKeys.map((apiKey) => {
            const isRevoked = apiKey.status === 'revoked' ? t('The key is revoked.') : undefined;
            return (
              <tr key={apiKey.id}>
                <th scope="row">
                  {apiKey.name}
                  <span className="muted small mono truncate">{apiKey.key_prefix}…</span>
                </th>
                <td>
                  <Status {...keyLook(apiKey)} />
                </td>
                <td className="muted">{apiKey.last_used_at ? <Time at={apiKey.last_used_at} /> : t('never')}</td>
                <td className="muted">
                  {apiKey.expires_at ? <Time at={apiKey.expires_at} isUpcoming /> : t('does not expire')}
                </td>
                <td className="muted">
                  <Time at={apiKey.created_at} />
                </td>
                <td className="end">
                  <Menu
                    label={t('Actions for {name}', { name: apiKey.name })}
                    actions={[
                      {
                        label: t('Rename…'),
                        icon: Pencil,
                        onSelect: () => setOpen({ kind: 'rename', apiKey }),
                        opensDialog: true,
                        blocked: noChange ?? isRevoked,
                      },
                      {
                        label: t('Reissue…'),
                        icon: RotateCw,
                        onSelect: () => setOpen({ kind: 'reissue', apiKey }),
                        opensDialog: true,
                        blocked: noChange ?? isRevoked,
                      },
                      {
                        label: t('Revoke…'),
                        icon: Ban,
                        isDangerous: true,
                        onSelect: () => setOpen({ kind: 'revoke', apiKey }),
                        opensDialog: true,
                        blocked: noChange ?? isRevoked,
                      },
                    ]}
                  />
                </td>
              </tr>
            );
          })}
        </Table>
      </ListStates>
      {open?.kind === 'new' && <NewKeyDialog onClose={close} />}
      {open?.kind === 'rename' && <RenameDialog apiKey={open.apiKey} onClose={close} />}
      {open?.kind === 'reissue' && <ReissueDialog apiKey={open.apiKey} onClose={close} />}
      {open?.kind === 'revoke' && <RevokeDialog apiKey={open.apiKey} onClose={close} />}
    </>
  );
}

function NewKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({ name: '', days: '' });
  const { name, days } = form.values;
  const create = useMutation({ ...hub.change('createApiKey'), gcTime: 0 });
  const errorAt = form.errorsOf(create.error);
  if (create.data) return <KeyDialog name={create.data.apiKey.name} value={create.data.apiKey.key} onClose={onClose} />;
  return (
    <FormDialog
      title={t('New API key')}
      action={t('Create the key')}
      pending={create.isPending}
      error={create.error}
      shown={['name', 'expires_in_days']}
      onClose={onClose}
      onSubmit={() => create.mutate({ body: { name, expires_in_days: days === '' ? null : Number(days) } })}
    >
      <TextField
        {...form.bind('name')}
        label={t('Name')}
        hint={t('The fleet that uses it.')}
        required
        error={errorAt('name')}
      />
      <TextField
        {...form.bind('days')}
        label={t('Days until it expires')}
        type="number"
        hint={t('Empty: it does not expire.')}
        error={errorAt('expires_in_days')}
      />
    </FormDialog>
  );
}

/** Shows a key once, with the environment of a fleet. */
function KeyDialog({
  name,
  value,
  onClose,
}: {
  readonly name: string;
  readonly value: string;
  readonly onClose: () => void;
}) {
  const environment = `HUB_URL=${location.origin}\nHUB_API_KEY=${value}`;
  return (
    <ShownOnceDialog
      title={t('Copy the key {name} now', { name })}
      about={t('The hub stores only a digest. If you lose the key, reissue it.')}
      onClose={onClose}
    >
      <CopyLine label={t('Key')} text={value} action={t('Copy key')} />
      <CopyLine label={t('Environment of the fleet')} text={environment} action={t('Copy environment')} />
    </ShownOnceDialog>
  );
}

interface KeyDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

function RenameDialog({ apiKey: { id, name }, onClose }: KeyDialogProps) {
  const form = useForm({ name });
  const rename = useMutation({
    ...hub.change('renameApiKey'),
    onSuccess: () => {
      confirmChange(t('The key is renamed'));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('Rename {name}', { name })}
      action={t('Rename')}
      pending={rename.isPending}
      error={rename.error}
      shown={['name']}
      onClose={onClose}
      onSubmit={() => rename.mutate({ params: { id }, body: form.values })}
    >
      <TextField {...form.bind('name')} label={t('Name')} required error={form.errorsOf(rename.error)('name')} />
    </FormDialog>
  );
}

function ReissueDialog({ apiKey: { id, name }, onClose }: KeyDialogProps) {
  const reissue = useMutation({ ...hub.change('reissueApiKey'), gcTime: 0 });
  if (reissue.data) return <KeyDialog name={name} value={reissue.data.apiKey.key} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={t('Reissue {name}?', { name })}
      action={t('Reissue')}
      pending={reissue.isPending}
      error={reissue.error}
      onClose={onClose}
      onConfirm={() => reissue.mutate({ body: { id } })}
    >
      <p>
        {t(
          'The old key becomes invalid immediately. The fleet keeps its catalog, but cannot sync until it has the new key.',
        )}
      </p>
    </ConfirmDialog>
  );
}

function RevokeDialog({ apiKey: { id, name }, onClose }: KeyDialogProps) {
  const revoke = useMutation({
    ...hub.change('revokeApiKey'),
    onSuccess: () => {
      confirmChange(t('Key {name} is revoked', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Revoke {name}?', { name })}
      action={t('Revoke')}
      pending={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onConfirm={() => revoke.mutate({ body: { id } })}
    >
      <p>{t('A fleet with this key can no longer sync. What it runs continues. This cannot be undone.')}</p>
    </ConfirmDialog>
  );
}
