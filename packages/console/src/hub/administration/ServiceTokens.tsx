import { useMutation, useQuery } from '@tanstack/react-query';
import { Ban, CirclePlus, KeySquare } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField, FieldError, FilterSelect, SearchField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine, ShownOnceDialog } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ServiceToken } from '../api.ts';
import { keyLook } from '../looks.ts';

const PAGE_SIZE = 50;
const statuses = ['active', 'expired', 'revoked'] as const;

type Open = { readonly kind: 'new' } | { readonly kind: 'revoke'; readonly token: ServiceToken };

export default function ServiceTokens() {
  const { values, set, page, isFiltered, clear } = useFilters('search', 'status');
  const status = statuses.find((one) => one === values.status);
  const query = useQuery(
    hub.read('listServiceTokens', {
      query: { search: values.search, page, limit: PAGE_SIZE, ...(status ? { status } : {}) },
    }),
  );
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const create = (
    <Button tone="primary" icon={CirclePlus} aria-haspopup="dialog" onClick={() => setOpen({ kind: 'new' })}>
      {t('New token')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('Service tokens')}
        about={t('With a service token, a program publishes the templates of some categories. It ends with its owner.')}
        actions={create}
      />
      <ListStates
        query={query}
        pagination={query.data?.pagination}
        count={(count) => t('{count, plural, one {# token} other {# tokens}}', { count })}
        loading={t('Loading the tokens…')}
        noMatch={t('No token matches')}
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
        icon={KeySquare}
        emptyTitle={t('There is no token yet')}
        emptyText={t('Create a token for each pipeline, so that you can revoke it alone.')}
        emptyAction={create}
      >
        <Table
          label={t('Service tokens')}
          columns={[
            { label: t('Name') },
            { label: t('State') },
            { label: t('Permissions') },
            { label: t('Categories') },
            { label: t('Owner') },
            { label: t('Last used') },
            { label: t('Expires') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {query.data?.serviceTokens.map((token) => (
            <tr key={token.id}>
              <th scope="row">
                {token.name}
                <span className="muted small mono truncate">{token.token_prefix}…</span>
              </th>
              <td>
                <Status {...keyLook(token)} />
              </td>
              <td>{token.scopes.map(scopeLabel).join(', ')}</td>
              <td className="mono small">{token.categories.map(({ slug }) => slug).join(', ')}</td>
              <td className="muted">{token.owner.email ?? token.owner.name}</td>
              <td className="muted">{token.last_used_at ? <Time at={token.last_used_at} /> : t('never')}</td>
              <td className="muted">
                <Time at={token.expires_at} isUpcoming />
              </td>
              <td className="end">
                <Button
                  size="small"
                  tone="danger"
                  icon={Ban}
                  blocked={token.status === 'revoked' ? t('The token is revoked.') : undefined}
                  aria-haspopup="dialog"
                  onClick={() => setOpen({ kind: 'revoke', token })}
                >
                  {t('Revoke')}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      </ListStates>
      {open?.kind === 'new' && <NewTokenDialog onClose={close} />}
      {open?.kind === 'revoke' && <RevokeDialog token={open.token} onClose={close} />}
    </>
  );
}

const scopes = [
  { value: 'import', label: t('Import'), hint: t('Create and change templates from files.') },
  { value: 'prune', label: t('Prune'), hint: t('Also delete templates that no file describes. Requires Import.') },
  { value: 'export', label: t('Export'), hint: t('Read templates as files.') },
] as const;
type Scope = (typeof scopes)[number]['value'];

const scopeLabel = (scope: string) => scopes.find(({ value }) => value === scope)?.label ?? scope;

/** The entries after one was selected, or no longer is. */
const toggled = <T extends string>(entries: readonly T[], entry: T, isSelected: boolean): readonly T[] =>
  isSelected ? [...entries, entry] : entries.filter((one) => one !== entry);

function NewTokenDialog({ onClose }: { readonly onClose: () => void }) {
  const form = useForm<{ name: string; scopes: readonly Scope[]; categories: readonly string[]; days: string }>({
    name: '',
    scopes: ['import'],
    categories: [],
    days: '90',
  });
  const { name, days } = form.values;
  const categories = useQuery(hub.read('listAllCategories'));
  // The response is not in the cache of changes: closing the dialog removes the secret from memory.
  const create = useMutation({ ...hub.change('createServiceToken'), gcTime: 0 });
  const errorAt = form.errorsOf(create.error);
  if (create.data) return <SecretDialog token={create.data.serviceToken} onClose={onClose} />;
  const scopesError = errorAt('scopes');
  const categoriesError = errorAt('categories');
  return (
    <FormDialog
      title={t('New service token')}
      action={t('Create the token')}
      pending={create.isPending}
      error={create.error}
      shown={['name', 'scopes', 'categories', 'expires_in_days']}
      onClose={onClose}
      onSubmit={() =>
        create.mutate({
          body: {
            name,
            scopes: [...form.values.scopes],
            categories: [...form.values.categories],
            expires_in_days: Number(days),
          },
        })
      }
    >
      <TextField
        {...form.bind('name')}
        label={t('Name')}
        hint={t('The program that uses it.')}
        required
        error={errorAt('name')}
      />
      <fieldset className="form">
        <legend className="strong">{t('Permissions')}</legend>
        {scopes.map(({ value, label, hint }) => (
          <CheckField
            key={value}
            name={`scopes.${value}`}
            label={label}
            hint={hint}
            checked={form.values.scopes.includes(value)}
            onChange={(isSelected) => form.set('scopes', toggled(form.values.scopes, value, isSelected))}
          />
        ))}
        {scopesError && <FieldError text={scopesError} />}
      </fieldset>
      <fieldset className="form">
        <legend className="strong">{t('Categories')}</legend>
        <p className="hint">{t('The token reads and changes nothing outside these categories.')}</p>
        {categories.data?.categories.map((category) => (
          <CheckField
            key={category.id}
            name={`categories.${category.slug}`}
            label={category.name}
            checked={form.values.categories.includes(category.id)}
            onChange={(isSelected) => form.set('categories', toggled(form.values.categories, category.id, isSelected))}
          />
        ))}
        {categoriesError && <FieldError text={categoriesError} />}
      </fieldset>
      <TextField
        {...form.bind('days')}
        label={t('Days until it expires')}
        type="number"
        hint={t('1 to 365.')}
        required
        error={errorAt('expires_in_days')}
      />
    </FormDialog>
  );
}

/** Shows the secret of a token once, with a first request. */
function SecretDialog({
  token: { name, secret, scopes: permitted },
  onClose,
}: {
  readonly token: { readonly name: string; readonly secret: string; readonly scopes: readonly string[] };
  readonly onClose: () => void;
}) {
  const publish = `${location.origin}/api/v1/publish`;
  const authorization = `-H "Authorization: Bearer ${secret}"`;
  const command = permitted.includes('export')
    ? `curl -s ${authorization} ${publish}/export`
    : `curl -s ${authorization} -H "Content-Type: application/json" -d @catalog.json "${publish}/import?plan=true"`;
  return (
    <ShownOnceDialog
      title={t('Copy the token {name} now', { name })}
      about={t('The hub stores only a digest. If you lose the token, create another one.')}
      onClose={onClose}
    >
      <CopyLine label={t('Token')} text={secret} action={t('Copy token')} />
      <CopyLine label={t('Connect a program')} text={command} action={t('Copy command')} />
    </ShownOnceDialog>
  );
}

function RevokeDialog({
  token: { id, name },
  onClose,
}: {
  readonly token: ServiceToken;
  readonly onClose: () => void;
}) {
  const revoke = useMutation({
    ...hub.change('revokeServiceToken'),
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
      onConfirm={() => revoke.mutate({ query: { id }, body: {} })}
    >
      <p>{t('Programs that use the token stop working immediately. This cannot be undone.')}</p>
    </ConfirmDialog>
  );
}
