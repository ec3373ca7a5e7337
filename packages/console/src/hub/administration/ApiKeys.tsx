import { useMutation, useQuery } from '@tanstack/react-query';
import { Ban, KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/controls/Field.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedApiKey } from '../api.ts';
import { keyLook } from '../looks.ts';

const PAGE_SIZE = 50;
const statuses = ['active', 'expired', 'revoked'] as const;

export default function ApiKeys() {
  const { values, set, page, isFiltered, clear } = useFilters('search', 'status');
  const status = statuses.find((one) => one === values.status);
  const query = useQuery(
    hub.read('listAllApiKeys', {
      query: { search: values.search, page, limit: PAGE_SIZE, ...(status ? { status } : {}) },
    }),
  );
  const [revoked, setRevoked] = useState<ManagedApiKey>();
  return (
    <>
      <PageHeader title={t('All API keys')} about={t('Keys of all organizations')} />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# key} other {# keys}}', { count })}
        loading={t('Loading the keys…')}
        noMatch={t('No key matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <>
            <SearchField
              label={t('Search by name or prefix')}
              value={values.search}
              onChange={(search) => set({ search })}
            />
            <FilterSelect
              label={t('State')}
              value={values.status}
              onChange={(value) => set({ status: value })}
              options={[
                { value: '', label: t('Any state') },
                ...statuses.map((one) => ({ value: one, label: keyLook({ status: one }).label })),
              ]}
            />
          </>
        }
        icon={KeyRound}
        emptyTitle={t('There is no key yet')}
        emptyText={t('Organizations create keys for their fleets.')}
      >
        <Table
          label={t('API keys')}
          columns={[
            { label: t('Name') },
            { label: t('Organization') },
            { label: t('State') },
            { label: t('Last used') },
            { label: t('Expires') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.apiKeys.map((apiKey) => (
            <tr key={apiKey.id}>
              <th scope="row">
                {apiKey.name}
                <span className="muted small mono truncate">{apiKey.key_prefix}…</span>
              </th>
              <td>{apiKey.org_slug}</td>
              <td>
                <Status {...keyLook(apiKey)} />
              </td>
              <td className="muted">{apiKey.last_used_at ? <Time at={apiKey.last_used_at} /> : t('never')}</td>
              <td className="muted">
                {apiKey.expires_at ? <Time at={apiKey.expires_at} isUpcoming /> : t('does not expire')}
              </td>
              <td className="end">
                <Button
                  size="small"
                  tone="danger"
                  icon={Ban}
                  blocked={apiKey.status === 'revoked' ? t('The key is revoked.') : undefined}
                  aria-haspopup="dialog"
                  onClick={() => setRevoked(apiKey)}
                >
                  {t('Revoke')}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {revoked && <RevokeDialog apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function RevokeDialog({
  apiKey: { id, name, org_slug, version },
  onClose,
}: {
  readonly apiKey: ManagedApiKey;
  readonly onClose: () => void;
}) {
  const revoke = useMutation({
    ...hub.change('revokeAnyApiKey', 'account'),
    onSuccess: () => {
      confirmChange(t('Key {name} is revoked', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Revoke {name} of {org_slug}?', { name, org_slug })}
      action={t('Revoke')}
      pending={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onConfirm={() => revoke.mutate({ query: { id }, body: {}, ifMatch: version })}
    >
      <p>{t('A fleet with this key can no longer sync. What it runs continues. This cannot be undone.')}</p>
    </ConfirmDialog>
  );
}
