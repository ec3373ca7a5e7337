import { useMutation, useQuery } from '@tanstack/react-query';
import { Boxes, Layers, LogIn, MapPinCheck, ScrollText, ShieldCheck } from 'lucide-react';
import { useEffect, useState } from 'react';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { SignInFailureNotice } from '../../shared/ui/session/SignInFailureNotice.tsx';
import { fleet } from '../api.ts';
import { signInAtProvider, signInInWindow, signInLocally } from './session.ts';

const claims = [
  { icon: MapPinCheck, words: t('See where a deployment would run, and why, before you create it.') },
  { icon: Boxes, words: t('One list for containers on Docker, Podman and Kubernetes.') },
  { icon: ShieldCheck, words: t('Secrets are encrypted, and the console never shows their values.') },
  { icon: ScrollText, words: t('Every change has an author in the audit log.') },
] as const;

export function SignIn() {
  useEffect(() => {
    document.title = t('Sign in · Fleet');
  }, []);
  return (
    <div className="sign-in">
      <header className="sign-in-hero">
        <span className="brand">
          <Layers size={20} aria-hidden />
          {t('Fleet')}
        </span>
        <div className="stack">
          <p className="claim">
            {t('Run your services on your own machines. The plan shows where each one runs, and why.')}
          </p>
          <ul>
            {claims.map(({ icon: Icon, words }) => (
              <li key={words}>
                <Icon size={18} aria-hidden />
                {words}
              </li>
            ))}
          </ul>
        </div>
        <span className="small">{t('The API reference is at /docs.')}</span>
      </header>
      <main className="sign-in-form">
        <h1>{t('Sign in to the fleet')}</h1>
        <SignInFailureNotice />
        <SignInForm />
      </main>
    </div>
  );
}

/**
 * The enabled methods of sign-in. `inWindow` keeps the page for the identity provider's sign-in.
 */
export function SignInForm({ inWindow = false }: { readonly inWindow?: boolean }) {
  const config = useQuery(fleet.read('getAuthConfig'));
  const [kind, setKind] = useState<'local' | 'temporary'>();
  if (config.error) return <ErrorView error={config.error} retry={config.refetch} />;
  if (!config.data) return <Loading text={t('Loading the methods of sign-in…')} />;
  const { local, temporary_admin, oidc, browser_session_refusal } = config.data;
  if (browser_session_refusal) {
    return (
      <Notice kind="warning" title={t('The console cannot sign in at this address')}>
        <p>{browser_session_refusal}</p>
      </Notice>
    );
  }
  const hasProvider = oidc?.redirect ?? false;
  const chosen = kind ?? (local ? 'local' : temporary_admin && !hasProvider ? 'temporary' : undefined);
  return (
    <>
      {hasProvider && (
        <Button tone="primary" icon={LogIn} onClick={() => void (inWindow ? signInInWindow : signInAtProvider)()}>
          {t('Continue with {provider}', { provider: providerName(oidc?.issuer) })}
        </Button>
      )}
      {hasProvider && (local || temporary_admin) && <div className="divider">{t('or')}</div>}
      {chosen && <PasswordForm key={chosen} kind={chosen} isPrimary={!hasProvider} />}
      {local && chosen !== 'local' && (
        <Button tone="ghost" onClick={() => setKind('local')}>
          {t('Sign in with e-mail and password')}
        </Button>
      )}
      {temporary_admin && chosen !== 'temporary' && (
        <Button tone="ghost" onClick={() => setKind('temporary')}>
          {t('Sign in as the temporary admin')}
        </Button>
      )}
      {!hasProvider && !local && !temporary_admin && (
        <Notice kind="warning" title={t('No method of sign-in is configured')}>
          <p>
            {rich(
              'Set {username} and {password} in the environment of the fleet and restart it, or configure an identity provider.',
              { username: <code>SVC_TEMP_ADMIN_USERNAME</code>, password: <code>SVC_TEMP_ADMIN_PASSWORD</code> },
            )}
          </p>
        </Notice>
      )}
    </>
  );
}

const providerName = (issuer: string | undefined) =>
  issuer && URL.canParse(issuer) ? new URL(issuer).host : t('the identity provider');

function PasswordForm({ kind, isPrimary }: { readonly kind: 'local' | 'temporary'; readonly isPrimary: boolean }) {
  const form = useForm({ account: '', password: '' });
  const { account, password } = form.values;
  const signIn = useMutation({
    mutationFn: () => signInLocally(kind === 'local' ? { email: account, password } : { username: account, password }),
  });
  const errorAt = form.errorsOf(signIn.error);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <TextField
        {...form.bind('account')}
        label={kind === 'local' ? t('E-mail') : t('Username of the temporary admin')}
        type={kind === 'local' ? 'email' : 'text'}
        autoComplete="username"
        error={errorAt('email', 'username')}
      />
      <TextField
        {...form.bind('password')}
        label={t('Password')}
        type="password"
        autoComplete="current-password"
        error={errorAt('password')}
      />
      {signIn.error && <ErrorView error={signIn.error} />}
      <Button type="submit" tone={isPrimary ? 'primary' : undefined} pending={signIn.isPending}>
        {t('Sign in')}
      </Button>
    </form>
  );
}
