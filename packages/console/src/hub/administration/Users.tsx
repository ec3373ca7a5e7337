import { useMutation, useQuery } from '@tanstack/react-query';
import { Pencil, Users as UsersIcon } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField, FilterSelect, SearchField, SelectField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { type HubUser, hub, useUser } from '../api.ts';
import { orgRoles, roleLabel, roles } from '../roles.ts';

const PAGE_SIZE = 50;

export default function Users() {
  const { values, set, page, isFiltered, clear } = useFilters('search', 'role');
  const role = roles.find(({ value }) => value === values.role)?.value;
  const query = useQuery(
    hub.read('listUsers', { query: { search: values.search, page, limit: PAGE_SIZE, ...(role ? { role } : {}) } }),
  );
  const own = useUser();
  const [edited, setEdited] = useState<HubUser>();
  return (
    <>
      <PageHeader title={t('Users')} about={t('People who have signed in at the hub')} />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# user} other {# users}}', { count })}
        loading={t('Loading the users…')}
        noMatch={t('No user matches')}
        isFiltered={isFiltered}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <>
            <SearchField
              label={t('Search by name or e-mail')}
              value={values.search}
              onChange={(search) => set({ search })}
            />
            <FilterSelect
              label={t('Role')}
              value={values.role}
              onChange={(value) => set({ role: value })}
              options={[{ value: '', label: t('All roles') }, ...roles]}
            />
          </>
        }
        icon={UsersIcon}
        emptyTitle={t('Nobody has signed in yet')}
        emptyText={t('Users of the identity provider appear here after their first sign-in.')}
      >
        <Table
          label={t('Users')}
          columns={[
            { label: t('Name') },
            { label: t('E-mail') },
            { label: t('Role') },
            { label: t('Organization') },
            { label: t('First sign-in') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.users.map((user) => (
            <tr key={user.id}>
              <th scope="row">
                <bdi>{user.name}</bdi> {user.id === own?.id && <span className="tag">{t('you')}</span>}{' '}
                {user.blocked_at !== null && <span className="tag">{t('blocked')}</span>}
              </th>
              <td>
                {user.email ?? <span className="muted">{t('none')}</span>}
                {user.email && !user.email_verified && <span className="tag">{t('not verified')}</span>}
              </td>
              <td>{roleLabel(user.role)}</td>
              <td>
                {user.organization ? (
                  <>
                    <bdi>{user.organization.name}</bdi>{' '}
                    <span className="muted small">{roleLabel(user.org_role ?? '')}</span>
                  </>
                ) : (
                  <span className="muted">{t('none')}</span>
                )}
              </td>
              <td className="muted">
                <Time at={user.created_at} />
              </td>
              <td className="end">
                <Button
                  size="small"
                  tone="ghost"
                  icon={Pencil}
                  label={t('Edit {name}', { name: user.name })}
                  aria-haspopup="dialog"
                  onClick={() => setEdited(user)}
                />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {edited && <UserDialog user={edited} onClose={() => setEdited(undefined)} />}
    </>
  );
}

function UserDialog({
  user: { id, name, role, org_id, org_role, blocked_at, version },
  onClose,
}: {
  readonly user: HubUser;
  readonly onClose: () => void;
}) {
  const form = useForm({ role, org_id: org_id ?? '', org_role: org_role ?? ('member' as const) });
  const [isBlocked, setBlocked] = useState(blocked_at !== null);
  const organizations = useQuery(hub.read('listOrganizations'));
  const update = useMutation({
    ...hub.change('updateUser'),
    onSuccess: () => {
      confirmChange(t('{name} is changed', { name }));
      onClose();
    },
  });
  const errorAt = form.errorsOf(update.error);
  const { values } = form;
  return (
    <FormDialog
      title={t('Edit {name}', { name })}
      action={t('Save')}
      pending={update.isPending}
      error={update.error}
      shown={['role', 'org_id', 'org_role']}
      onClose={onClose}
      onSubmit={() => {
        const membership =
          values.org_id === '' ? { org_id: null } : { org_id: values.org_id, org_role: values.org_role };
        update.mutate({
          query: { id },
          body: { role: values.role, blocked: isBlocked, ...membership },
          ifMatch: version,
        });
      }}
    >
      <SelectField
        {...form.bind('role')}
        label={t('Role at the hub')}
        hint={t('Only a superadmin can grant or remove the role superadmin.')}
        options={roles}
        error={errorAt('role')}
      />
      <SelectField
        {...form.bind('org_id')}
        label={t('Organization')}
        options={[
          { value: '', label: t('None') },
          ...(organizations.data?.organizations ?? []).map((one) => ({ value: one.id, label: one.name })),
        ]}
        error={errorAt('org_id')}
      />
      {values.org_id !== '' && (
        <SelectField
          {...form.bind('org_role')}
          label={t('Role in the organization')}
          options={orgRoles}
          error={errorAt('org_role')}
        />
      )}
      <CheckField
        checked={isBlocked}
        onChange={setBlocked}
        label={t('Blocked')}
        hint={t(
          'The user cannot sign in. The sessions end, and the API keys and service tokens that the user created are revoked.',
        )}
      />
    </FormDialog>
  );
}
