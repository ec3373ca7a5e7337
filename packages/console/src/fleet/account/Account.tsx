import { useMutation, useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { SessionsPanel } from '../../shared/ui/session/SessionsPanel.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { roleLabel } from '../administration/roles.ts';
import { fleet, useBlocked, useCaller } from '../api.ts';
import { signOut } from './session.ts';

const kinds = {
  'temporary-admin': t('temporary admin'),
  token: t('token'),
  local: t('local user'),
  oidc: t('user of the identity provider'),
} as const;

export default function Account() {
  const caller = useCaller();
  const blocked = useBlocked();
  return (
    <>
      <PageHeader title={t('Account')} />
      <div className="columns">
        <Panel title={t('You')}>
          <dl className="facts">
            <dt>{t('Name')}</dt>
            <dd>{caller.name}</dd>
            <dt>{t('E-mail')}</dt>
            <dd>{caller.email ?? t('none')}</dd>
            <dt>{t('Role')}</dt>
            <dd>{roleLabel(caller.role)}</dd>
            <dt>{t('Kind')}</dt>
            <dd>{kinds[caller.kind]}</dd>
          </dl>
        </Panel>
        {!blocked('changeOwnPassword') && <PasswordPanel />}
      </div>
      <div className="stack-top">
        <Sessions />
      </div>
    </>
  );
}

function PasswordPanel() {
  const form = useForm({ current_password: '', new_password: '' });
  const change = useMutation({
    ...fleet.change('changeOwnPassword'),
    onSuccess: () => {
      confirmChange(t('Your password is changed'));
      form.reset({ current_password: '', new_password: '' });
    },
  });
  const errorAt = form.errorsOf(change.error);
  return (
    <Panel title={t('Password')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ body: form.values });
        }}
      >
        <TextField
          {...form.bind('current_password')}
          label={t('Current password')}
          type="password"
          autoComplete="current-password"
          error={errorAt('current_password')}
        />
        <TextField
          {...form.bind('new_password')}
          label={t('New password')}
          type="password"
          autoComplete="new-password"
          hint={t('Your other sessions end.')}
          error={errorAt('new_password')}
        />
        <FormError error={change.error} shown={['current_password', 'new_password']} />
        <div className="actions">
          <Button type="submit" tone="primary" pending={change.isPending}>
            {t('Change the password')}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function Sessions() {
  const { data, error, refetch } = useQuery(fleet.read('listOwnSessions'));
  const end = useMutation({
    ...fleet.change('endOwnSession'),
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
