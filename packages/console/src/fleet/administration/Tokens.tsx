import { useMutation, useQuery } from '@tanstack/react-query';
import { Ban, CirclePlus, KeyRound, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../../shared/routing/search.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine, ShownOnceDialog } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { EndingCredentials } from '../../shared/ui/lists/EndingCredentials.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, type Token, useBlocked } from '../api.ts';
import { tokenLook } from '../looks.ts';
import { approvalOptions } from './approvals.ts';
import { roleFilters, roleLabel, roles } from './roles.ts';

type Open = { readonly kind: 'new' } | { readonly kind: 'reissue' | 'revoke'; readonly token: Token };

const sorts = ['name', '-name', 'expires_at', '-expires_at', 'last_used_at', '-last_used_at'] as const;

export default function Tokens() {
  const { values, set, page, clear } = useFilters('status', 'role', 'sort');
  const sort = sorts.find((one) => one === values.sort);
  const query = useQuery(
    fleet.read('listTokens', { query: { status: values.status, role: values.role, page, ...(sort ? { sort } : {}) } }),
  );
  const [open, setOpen] = useState<Open>();
  const blocked = useBlocked();
  const close = () => setOpen(undefined);
  const create = (
    <Button
      tone="primary"
      icon={CirclePlus}
      blocked={blocked('createToken')}
      aria-haspopup="dialog"
      onClick={() => setOpen({ kind: 'new' })}
    >
      {t('New token')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('MCP tokens')}
        about={t('Credentials for agents and programs. Their requests are in the audit log.')}
        actions={create}
      />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# token} other {# tokens}}', { count })}
        loading={t('Loading the tokens…')}
        noMatch={t('No token matches')}
        isFiltered={values.status !== '' || values.role !== ''}
        onClear={clear}
        onPage={(next) => set({ page: next })}
        filters={
          <>
            <FilterSelect
              label={t('State')}
              value={values.status}
              onChange={(status) => set({ status })}
              options={[
                { value: '', label: t('Any state') },
                { value: 'active', label: t('Active') },
                { value: 'expired', label: t('Expired') },
                { value: 'revoked', label: t('Revoked') },
              ]}
            />
            <FilterSelect
              label={t('Role')}
              value={values.role}
              onChange={(role) => set({ role })}
              options={roleFilters}
            />
          </>
        }
        icon={KeyRound}
        emptyTitle={t('There is no token yet')}
        emptyText={t('With a token, an agent or a program calls the API of this fleet with the permissions of a role.')}
        emptyAction={create}
      >
        <Table
          label={t('MCP tokens')}
          sorting={{ value: sort ?? '', onChange: (next) => set({ sort: next }) }}
          columns={[
            { label: t('Name'), sort: 'name' },
            { label: t('State') },
            { label: t('Role') },
            { label: t('Last used'), sort: 'last_used_at' },
            { label: t('Expires'), sort: 'expires_at' },
            { label: t('Created by') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.tokens.map((token) => (
            <tr key={token.id}>
              <th scope="row">
                {token.name}
                <span className="muted small mono truncate">{token.token_prefix}…</span>
              </th>
              <td>
                <Status {...tokenLook(token)} />
              </td>
              <td>{roleLabel(token.role)}</td>
              <td className="muted">{token.last_used_at ? <Time at={token.last_used_at} /> : t('never')}</td>
              <td className="muted">
                {token.expires_at ? <Time at={token.expires_at} isUpcoming /> : t('does not expire')}
              </td>
              <td className="muted">{token.created_by}</td>
              <td className="end">
                <Menu
                  label={t('Actions for {name}', { name: token.name })}
                  actions={[
                    {
                      label: t('Reissue…'),
                      icon: RotateCw,
                      onSelect: () => setOpen({ kind: 'reissue', token }),
                      opensDialog: true,
                      blocked:
                        blocked('reissueToken') ??
                        (token.status === 'revoked' ? t('The token is revoked.') : undefined),
                    },
                    {
                      label: t('Revoke…'),
                      icon: Ban,
                      isDangerous: true,
                      onSelect: () => setOpen({ kind: 'revoke', token }),
                      opensDialog: true,
                      blocked:
                        blocked('revokeToken') ?? (token.status === 'revoked' ? t('The token is revoked.') : undefined),
                    },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {open?.kind === 'new' && <NewTokenDialog onClose={close} />}
      {open?.kind === 'reissue' && <ReissueDialog token={open.token} onClose={close} />}
      {open?.kind === 'revoke' && <RevokeDialog token={open.token} onClose={close} />}
    </>
  );
}

function NewTokenDialog({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({
    name: '',
    role: 'operator' as Token['role'], // widens the literal
    days: '90',
    approval: 'none' as Token['approval'], // widens the literal
  });
  const { name, role, days, approval } = form.values;
  // The response is not in the cache of changes: closing the dialog removes the secret from memory.
  const create = useMutation({ ...fleet.change('createToken'), gcTime: 0 });
  const errorAt = form.errorsOf(create.error);
  if (create.data)
    return <SecretDialog name={create.data.token.name} secret={create.data.token.secret} onClose={onClose} />;
  return (
    <FormDialog
      title={t('New MCP token')}
      action={t('Create the token')}
      pending={create.isPending}
      error={create.error}
      shown={['name', 'role', 'expires_in_days', 'approval']}
      onClose={onClose}
      onSubmit={() =>
        create.mutate({ body: { name, role, expires_in_days: days === '' ? null : Number(days), approval } })
      }
    >
      <TextField
        {...form.bind('name')}
        label={t('Name')}
        hint={t('The agent or program that uses it. The audit log shows this name.')}
        required
        error={errorAt('name')}
      />
      <SelectField {...form.bind('role')} label={t('Role')} options={roles} error={errorAt('role')} />
      <TextField
        {...form.bind('days')}
        label={t('Days until it expires')}
        type="number"
        hint={t('1 to 365. Empty: it does not expire.')}
        error={errorAt('expires_in_days')}
      />
      <SelectField
        {...form.bind('approval')}
        label={t('Changes that a person must approve')}
        hint={t('The agent or program makes a plan of these changes, which waits on the page Plans.')}
        options={approvalOptions}
        error={errorAt('approval')}
      />
    </FormDialog>
  );
}

/** Shows the secret of a token once, with the lines that connect an agent and a program. */
function SecretDialog({
  name,
  secret,
  onClose,
}: {
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
}) {
  const { origin } = location;
  const headers = { Authorization: `Bearer ${secret}` };
  const configuration = JSON.stringify({ mcpServers: { fleet: { type: 'http', url: `${origin}/mcp`, headers } } });
  const command = `curl -s -H "Authorization: Bearer ${secret}" ${origin}/api/v1/deployments`;
  return (
    <ShownOnceDialog
      title={t('Copy the token {name} now', { name })}
      about={t('The fleet stores only a digest. If you lose the token, reissue it.')}
      onClose={onClose}
    >
      <CopyLine label={t('Token')} text={secret} action={t('Copy token')} />
      <CopyLine label={t('Connect an agent')} text={configuration} action={t('Copy configuration')}>
        {rich('Add this to the configuration of its MCP servers. The address is {address}.', {
          address: <code>{origin}/mcp</code>,
        })}
      </CopyLine>
      <CopyLine label={t('Connect a program')} text={command} action={t('Copy command')}>
        {rich('The API is described at {address}. A first request:', { address: <code>{origin}/openapi.json</code> })}
      </CopyLine>
    </ShownOnceDialog>
  );
}

interface TokenDialogProps {
  readonly token: Token;
  readonly onClose: () => void;
}

function ReissueDialog({ token: { id, name }, onClose }: TokenDialogProps) {
  const reissue = useMutation({ ...fleet.change('reissueToken'), gcTime: 0 });
  if (reissue.data) return <SecretDialog name={name} secret={reissue.data.token.secret} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={t('Reissue {name}?', { name })}
      action={t('Reissue')}
      pending={reissue.isPending}
      error={reissue.error}
      onClose={onClose}
      onConfirm={() => reissue.mutate({ params: { id } })}
    >
      <p>
        {t(
          'The old secret becomes invalid immediately, and programs that use it stop working. The lifetime starts again.',
        )}
      </p>
    </ConfirmDialog>
  );
}

function RevokeDialog({ token: { id, name }, onClose }: TokenDialogProps) {
  const { data } = useQuery(fleet.read('listDependents', { params: { id }, query: { limit: 10 } }));
  const count = data?.pagination.total ?? 0;
  const [keeps, setKeeps] = useState(false);
  const revoke = useMutation({
    ...fleet.change('revokeToken'),
    onSuccess: () => {
      confirmChange(t('Token {name} is revoked', { name }));
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
      onConfirm={() => revoke.mutate({ params: { id }, query: keeps ? { keep: 'dependents' } : {} })}
    >
      <p>{t('Programs that use the token stop working immediately. This cannot be undone.')}</p>
      {data && count > 0 && (
        <EndingCredentials
          about={t(
            '{count, plural, one {# token that was created with it is revoked as well:} other {# tokens that were created with it are revoked as well:}}',
            { count },
          )}
          credentials={data.tokens}
          keepLabel={t('Keep these tokens. They are then yours.')}
          keeps={keeps}
          onKeep={setKeeps}
        />
      )}
    </ConfirmDialog>
  );
}
