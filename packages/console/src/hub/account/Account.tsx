import { useMutation, useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { SessionsPanel } from '../../shared/ui/session/SessionsPanel.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, useBlocked, useCaller } from '../api.ts';
import { roleLabel } from '../roles.ts';
import { signOut } from './session.ts';

export default function Account() {
  const user = useCaller();
  return (
    <>
      <PageHeader title={t('Account')} />
      <div className="stack">
        <div className="columns">
          <Panel title={t('You')}>
            <dl className="facts">
              <dt>{t('E-mail')}</dt>
              <dd>{user.email ?? t('none')}</dd>
              <dt>{t('Role')}</dt>
              <dd>{roleLabel(user.role)}</dd>
              <dt>{t('Organization')}</dt>
              <dd>{user.organization ? `${user.organization.name} (${user.org_role})` : t('none')}</dd>
            </dl>
          </Panel>
          <NamePanel name={user.name} />
        </div>
        <Sessions />
      </div>
    </>
  );
}

function NamePanel({ name }: { readonly name: string }) {
  const form = useForm({ name });
  const blocked = useBlocked();
  const update = useMutation({
    ...hub.change('updateProfile', 'auth'),
    onSuccess: () => confirmChange(t('Your name is changed')),
  });
  return (
    <Panel title={t('Name')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({ body: form.values });
        }}
      >
        <TextField
          {...form.bind('name')}
          label={t('Name')}
          hint={t('Later sign-ins do not change it.')}
          autoComplete="name"
          error={form.errorsOf(update.error)('name')}
        />
        <FormError error={update.error} shown={['name']} />
        <div className="actions">
          <Button type="submit" tone="primary" pending={update.isPending} blocked={blocked('updateProfile')}>
            {t('Save')}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function Sessions() {
  const { data, error, refetch } = useQuery(hub.read('listOwnSessions'));
  const end = useMutation({
    ...hub.change('endOwnSession'),
    onSuccess: () => confirmChange(t('The session has ended')),
  });
  const leave = useMutation({ mutationFn: signOut });
  return (
    <SessionsPanel
      sessions={data?.sessions}
      error={error ?? end.error ?? leave.error}
      isPending={end.isPending}
      onRetry={refetch}
      onEnd={(id) => end.mutate({ params: { id } })}
      onSignOut={() => leave.mutate(false)}
      onSignOutEverywhere={() => leave.mutate(true)}
    />
  );
}
