import { useMutation, useQuery } from '@tanstack/react-query';
import { Ban, CircleCheck, CirclePlus, KeyRound, MailPlus, Pencil, Trash2, Users as UsersIcon } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../../shared/routing/search.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog, Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine, ShownOnceDialog } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { type FleetUser, fleet, useBlocked, useCaller } from '../api.ts';
import { roleFilters, roleLabel, roles } from './roles.ts';

type Role = NonNullable<FleetUser['role']>;
type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit' | 'password' | 'invite' | 'block' | 'delete'; readonly user: FleetUser };

const sorts = ['name', '-name', 'email', '-email', 'last_sign_in_at', '-last_sign_in_at'] as const;

export default function Users() {
  const { values, set, page, clear } = useFilters('role', 'source', 'sort');
  const sort = sorts.find((one) => one === values.sort) ?? 'name';
  const query = useQuery(fleet.read('listUsers', { query: { ...values, page, sort } }));
  const [open, setOpen] = useState<Open>();
  const blocked = useBlocked();
  const caller = useCaller();
  const close = () => setOpen(undefined);
  const create = (
    <Button
      tone="primary"
      icon={CirclePlus}
      blocked={blocked('createUser')}
      aria-haspopup="dialog"
      onClick={() => setOpen({ kind: 'new' })}
    >
      {t('New user')}
    </Button>
  );
  return (
    <>
      <PageHeader title={t('Users')} about={t('People who can sign in to this fleet')} actions={create} />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# user} other {# users}}', { count })}
        loading={t('Loading the users…')}
        noMatch={t('No user matches')}
        isFiltered={values.role !== '' || values.source !== ''}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <>
            <FilterSelect
              label={t('Role')}
              value={values.role}
              onChange={(role) => set({ role })}
              options={roleFilters}
            />
            <FilterSelect
              label={t('Source')}
              value={values.source}
              onChange={(source) => set({ source })}
              options={[
                { value: '', label: t('All sources') },
                { value: 'local', label: t('Local') },
                { value: 'oidc', label: t('Identity provider') },
              ]}
            />
          </>
        }
        icon={UsersIcon}
        emptyTitle={t('There is no user yet')}
        emptyText={t(
          'Create a permanent account for yourself. Users of the identity provider appear here after their first sign-in.',
        )}
        emptyAction={create}
      >
        <Table
          label={t('Users')}
          sorting={{ value: sort, onChange: (next) => set({ sort: next }) }}
          columns={[
            { label: t('Name'), sort: 'name' },
            { label: t('E-mail'), sort: 'email' },
            { label: t('Role') },
            { label: t('Source') },
            { label: t('Last sign-in'), sort: 'last_sign_in_at' },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.users.map((user) => (
            <tr key={user.id}>
              <th scope="row">
                <bdi>{user.name}</bdi> {user.id === caller.id && <span className="tag">{t('you')}</span>}{' '}
                {user.blocked_at !== null && <span className="tag">{t('blocked')}</span>}
              </th>
              <td>{user.email ?? <span className="muted">{t('none')}</span>}</td>
              <td>{user.role ? roleLabel(user.role) : <span className="muted">{t('none')}</span>}</td>
              <td className="muted">{user.source === 'local' ? t('local') : t('identity provider')}</td>
              <td className="muted">{user.last_sign_in_at ? <Time at={user.last_sign_in_at} /> : t('never')}</td>
              <td className="end">
                <Menu
                  label={t('Actions for {name}', { name: user.name })}
                  actions={[
                    {
                      label: t('Change the role…'),
                      icon: Pencil,
                      onSelect: () => setOpen({ kind: 'edit', user }),
                      opensDialog: true,
                      blocked:
                        blocked('updateUser') ??
                        (user.source === 'oidc' ? t('The identity provider manages the role.') : undefined),
                    },
                    {
                      label: t('Invite…'),
                      icon: MailPlus,
                      onSelect: () => setOpen({ kind: 'invite', user }),
                      opensDialog: true,
                      blocked:
                        blocked('inviteUser') ??
                        (user.source === 'oidc' ? t('The user signs in at the identity provider.') : undefined),
                    },
                    {
                      label: t('Set a password…'),
                      icon: KeyRound,
                      onSelect: () => setOpen({ kind: 'password', user }),
                      opensDialog: true,
                      blocked:
                        blocked('updateUser') ??
                        (user.source === 'oidc' ? t('The user signs in at the identity provider.') : undefined),
                    },
                    {
                      label: user.blocked_at === null ? t('Block…') : t('Unblock…'),
                      icon: user.blocked_at === null ? Ban : CircleCheck,
                      onSelect: () => setOpen({ kind: 'block', user }),
                      opensDialog: true,
                      blocked: blocked('updateUser'),
                    },
                    {
                      label: t('Remove…'),
                      icon: Trash2,
                      isDangerous: true,
                      onSelect: () => setOpen({ kind: 'delete', user }),
                      opensDialog: true,
                      blocked: blocked('deleteUser'),
                    },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {open?.kind === 'new' && (
        <NewUserDialog onClose={close} onCreated={(user) => setOpen({ kind: 'invite', user })} />
      )}
      {open?.kind === 'invite' && <InviteDialog user={open.user} onClose={close} />}
      {open?.kind === 'edit' && <RoleDialog user={open.user} onClose={close} />}
      {open?.kind === 'password' && <PasswordDialog user={open.user} onClose={close} />}
      {open?.kind === 'block' && <BlockDialog user={open.user} onClose={close} />}
      {open?.kind === 'delete' && <DeleteUserDialog user={open.user} onClose={close} />}
    </>
  );
}

function NewUserDialog({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (user: FleetUser) => void;
}) {
  const form = useForm({ email: '', name: '', role: 'viewer' as Role }); // widens the literal
  const { email, name, role } = form.values;
  const create = useMutation({ ...fleet.change('createUser'), onSuccess: ({ user }) => onCreated(user) });
  const errorAt = form.errorsOf(create.error);
  return (
    <FormDialog
      title={t('New user')}
      action={t('Create and invite')}
      pending={create.isPending}
      error={create.error}
      shown={['email', 'name', 'role']}
      onClose={onClose}
      onSubmit={() => create.mutate({ body: { email, role, ...(name === '' ? {} : { name }) } })}
    >
      <p>{t('You receive a link with which the user chooses a password.')}</p>
      <TextField {...form.bind('email')} label={t('E-mail')} type="email" required error={errorAt('email')} />
      <TextField {...form.bind('name')} label={t('Name')} error={errorAt('name')} />
      <SelectField {...form.bind('role')} label={t('Role')} options={roles} error={errorAt('role')} />
    </FormDialog>
  );
}

interface UserDialogProps {
  readonly user: FleetUser;
  readonly onClose: () => void;
}

function InviteDialog({ user: { id, name }, onClose }: UserDialogProps) {
  const invite = useMutation({ ...fleet.change('inviteUser'), gcTime: 0 });
  if (!invite.data) {
    return (
      <Dialog title={t('Invite {name}', { name })} onClose={onClose}>
        <p>{t('The link can be used once. An earlier link of the user becomes invalid.')}</p>
        <FormError error={invite.error} shown={[]} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('Later')}</Button>
          <Button tone="primary" pending={invite.isPending} onClick={() => invite.mutate({ params: { id } })}>
            {t('Create the link')}
          </Button>
        </div>
      </Dialog>
    );
  }
  const { code, expires_at } = invite.data.invitation;
  const link = `${location.origin}/invitation#${code}`;
  return (
    <ShownOnceDialog
      title={t('Send this link to {name}', { name })}
      about={rich('It expires {time}.', { time: <Time at={expires_at} isUpcoming /> })}
      onClose={onClose}
    >
      <CopyLine text={link} action={t('Copy link')} />
    </ShownOnceDialog>
  );
}

function RoleDialog({ user: { id, name, role }, onClose }: UserDialogProps) {
  const form = useForm({ role: role ?? ('viewer' as Role) }); // widens the literal
  const update = useMutation({
    ...fleet.change('updateUser'),
    onSuccess: () => {
      confirmChange(t('The role of {name} is changed', { name }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('Role of {name}', { name })}
      action={t('Save')}
      pending={update.isPending}
      error={update.error}
      shown={['role']}
      onClose={onClose}
      onSubmit={() => update.mutate({ params: { id }, body: form.values })}
    >
      <SelectField
        {...form.bind('role')}
        label={t('Role')}
        options={roles}
        error={form.errorsOf(update.error)('role')}
      />
    </FormDialog>
  );
}

function PasswordDialog({ user: { id, name }, onClose }: UserDialogProps) {
  const form = useForm({ password: '' });
  const update = useMutation({
    ...fleet.change('updateUser'),
    onSuccess: () => {
      confirmChange(t('The password of {name} is set', { name }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('Set a password for {name}', { name })}
      action={t('Set the password')}
      pending={update.isPending}
      error={update.error}
      shown={['password']}
      onClose={onClose}
      onSubmit={() => update.mutate({ params: { id }, body: form.values })}
    >
      <p>{t('The sessions of the user end.')}</p>
      <TextField
        {...form.bind('password')}
        label={t('New password')}
        type="password"
        autoComplete="new-password"
        required
        error={form.errorsOf(update.error)('password')}
      />
    </FormDialog>
  );
}

function BlockDialog({ user: { id, name, blocked_at }, onClose }: UserDialogProps) {
  const isBlocked = blocked_at !== null;
  const update = useMutation({
    ...fleet.change('updateUser', 'tokens'),
    onSuccess: () => {
      confirmChange(isBlocked ? t('{name} can sign in again', { name }) : t('{name} is blocked', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={isBlocked ? t('Unblock {name}?', { name }) : t('Block {name}?', { name })}
      action={isBlocked ? t('Unblock') : t('Block')}
      pending={update.isPending}
      error={update.error}
      onClose={onClose}
      onConfirm={() => update.mutate({ params: { id }, body: { blocked: !isBlocked } })}
    >
      <p>
        {isBlocked
          ? t('The user can sign in again. Revoked MCP tokens remain revoked.')
          : t(
              'The sessions of the user end, and the MCP tokens that the user created are revoked. The user cannot sign in.',
            )}
      </p>
    </ConfirmDialog>
  );
}

function DeleteUserDialog({ user: { id, name, source }, onClose }: UserDialogProps) {
  const remove = useMutation({
    ...fleet.change('deleteUser', 'tokens'),
    onSuccess: () => {
      confirmChange(t('User {name} is removed', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Remove {name}?', { name })}
      action={t('Remove')}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id } })}
    >
      <p>{t('The sessions of the user end, and the MCP tokens that the user created are revoked.')}</p>
      {source === 'oidc' && (
        <p>{t('The next sign-in at the identity provider restores the user. To keep the user out, block the user.')}</p>
      )}
    </ConfirmDialog>
  );
}
