import { useMutation, useQuery } from '@tanstack/react-query';
import { Ban, CirclePlay, Eye, Pencil, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { tierLabel } from '../../shared/catalog/tiers.ts';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { FilterSelect, SearchField, SelectField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type Organization } from '../api.ts';
import { organizationLook } from '../looks.ts';

const PAGE_SIZE = 50;
type Open = { readonly kind: 'tier' | 'status'; readonly organization: Organization };

const statuses = ['active', 'suspended'] as const;
const tiers = ['free', 'pro', 'enterprise'] as const;

export default function Organizations() {
  const { values, set, page, isFiltered, clear } = useFilters('search', 'status');
  const status = statuses.find((one) => one === values.status);
  const query = useQuery(
    hub.read('listOrganizations', {
      query: { search: values.search, page, limit: PAGE_SIZE, ...(status ? { status } : {}) },
    }),
  );
  const [open, setOpen] = useState<Open>();
  const [, navigate] = useLocation();
  const close = () => setOpen(undefined);
  return (
    <>
      <PageHeader title={t('Organizations')} about={t('Their tier decides which templates their fleets may deploy')} />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# organization} other {# organizations}}', { count })}
        loading={t('Loading the organizations…')}
        noMatch={t('No organization matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <>
            <SearchField
              label={t('Search by name or slug')}
              value={values.search}
              onChange={(search) => set({ search })}
            />
            <FilterSelect
              label={t('State')}
              value={values.status}
              onChange={(value) => set({ status: value })}
              options={[
                { value: '', label: t('Any state') },
                { value: 'active', label: t('Active') },
                { value: 'suspended', label: t('Suspended') },
              ]}
            />
          </>
        }
        icon={UsersRound}
        emptyTitle={t('There is no organization yet')}
        emptyText={t('Users create organizations after they have signed in.')}
      >
        <Table
          label={t('Organizations')}
          columns={[
            { label: t('Name') },
            { label: t('State') },
            { label: t('Tier') },
            { label: t('Members'), isEnd: true },
            { label: t('API keys'), isEnd: true },
            { label: t('Created') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.organizations.map((organization) => (
            <tr key={organization.id}>
              <th scope="row">
                {organization.name}
                <span className="muted small mono truncate">{organization.slug}</span>
              </th>
              <td>
                <Status {...organizationLook(organization)} />
              </td>
              <td>{tierLabel(organization.tier)}</td>
              <td className="end numeric">{formatCount(organization.member_count)}</td>
              <td className="end numeric">{formatCount(organization.api_key_count)}</td>
              <td className="muted">
                <Time at={organization.created_at} />
              </td>
              <td className="end">
                <Menu
                  label={t('Actions for {name}', { name: organization.name })}
                  actions={[
                    {
                      label: t('What it sees'),
                      icon: Eye,
                      onSelect: () =>
                        navigate(href('/admin/access', undefined, { tab: 'view', org: organization.slug })),
                    },
                    {
                      label: t('Change the tier…'),
                      icon: Pencil,
                      onSelect: () => setOpen({ kind: 'tier', organization }),
                      opensDialog: true,
                    },
                    organization.status === 'active'
                      ? {
                          label: t('Suspend…'),
                          icon: Ban,
                          isDangerous: true,
                          onSelect: () => setOpen({ kind: 'status', organization }),
                          opensDialog: true,
                        }
                      : {
                          label: t('Activate…'),
                          icon: CirclePlay,
                          onSelect: () => setOpen({ kind: 'status', organization }),
                          opensDialog: true,
                        },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {open?.kind === 'tier' && <TierDialog organization={open.organization} onClose={close} />}
      {open?.kind === 'status' && <StatusDialog organization={open.organization} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly organization: Organization;
  readonly onClose: () => void;
}

function TierDialog({ organization: { id, name, tier, version }, onClose }: DialogProps) {
  const form = useForm({ tier: tiers.find((one) => one === tier) ?? 'free' });
  const update = useMutation({
    ...hub.change('updateOrganization', 'catalog'),
    onSuccess: () => {
      confirmChange(t('The tier of {name} is changed', { name }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('Tier of {name}', { name })}
      action={t('Save')}
      pending={update.isPending}
      error={update.error}
      shown={['tier']}
      onClose={onClose}
      onSubmit={() => update.mutate({ query: { id }, body: form.values, ifMatch: version })}
    >
      <SelectField
        {...form.bind('tier')}
        label={t('Tier')}
        hint={t('Its fleets receive the new tier with their next sync. Running deployments do not change.')}
        options={tiers.map((one) => ({ value: one, label: tierLabel(one) }))}
        error={form.errorsOf(update.error)('tier')}
      />
    </FormDialog>
  );
}

function StatusDialog({ organization: { id, name, slug, status, version }, onClose }: DialogProps) {
  const suspends = status === 'active';
  const update = useMutation({
    ...hub.change('updateOrganization', 'catalog'),
    onSuccess: () => {
      confirmChange(suspends ? t('{name} is suspended', { name }) : t('{name} is active', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={suspends ? t('Suspend {name}?', { name }) : t('Activate {name}?', { name })}
      action={suspends ? t('Suspend') : t('Activate')}
      {...(suspends ? { name: slug } : {})}
      pending={update.isPending}
      error={update.error}
      onClose={onClose}
      onConfirm={() =>
        update.mutate({ query: { id }, body: { status: suspends ? 'suspended' : 'active' }, ifMatch: version })
      }
    >
      <p>
        {suspends
          ? t('Its API keys stop working and its members have read access only. What its fleets run continues.')
          : t('Its API keys work again, and its members can make changes.')}
      </p>
    </ConfirmDialog>
  );
}
