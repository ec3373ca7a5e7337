import { useMutation } from '@tanstack/react-query';
import { Layers } from 'lucide-react';
import { useEffect, useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import { fleet } from '../api.ts';

/**
 * The page on which an invited user chooses a password. The code is in the fragment, which browsers
 * do not send.
 */
export function Invitation() {
  const [code] = useState(() => location.hash.slice(1));
  const form = useForm({ password: '' });
  const accept = useMutation(fleet.change('acceptInvitation'));
  useEffect(() => {
    document.title = t('Choose a password · Fleet');
    history.replaceState(null, '', location.pathname);
  }, []);
  return (
    <main className="sign-in-form">
      <span className="brand">
        <Layers size={20} aria-hidden />
        {t('Fleet')}
      </span>
      <h1>{t('Choose a password')}</h1>
      {accept.isSuccess ? (
        <>
          <Notice kind="good" title={t('Your password is set')} />
          <ButtonLink tone="primary" href="/">
            {t('Sign in')}
          </ButtonLink>
        </>
      ) : (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            accept.mutate({ body: { code, password: form.values.password } });
          }}
        >
          <TextField
            {...form.bind('password')}
            label={t('Password')}
            type="password"
            autoComplete="new-password"
            error={form.errorsOf(accept.error)('password')}
          />
          <FormError error={accept.error} shown={['password']} />
          <Button type="submit" tone="primary" pending={accept.isPending}>
            {t('Set the password')}
          </Button>
        </form>
      )}
    </main>
  );
}
