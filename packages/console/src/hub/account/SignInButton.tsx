import { useQuery } from '@tanstack/react-query';
import { LogIn } from 'lucide-react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { hub } from '../api.ts';
import { signIn, signInInWindow } from './session.ts';

/**
 * Signs in at the identity provider; disabled with the reason if the hub has no sign-in. `inWindow`
 * keeps the page.
 */
export function SignInButton({ inWindow = false }: { readonly inWindow?: boolean }) {
  const { data } = useQuery(hub.read('getAuthConfig'));
  const blocked =
    data?.browser_session_refusal ??
    (data?.console === false ? t('The hub has no sign-in for its console. An operator can configure it.') : undefined);
  return (
    <Button tone="primary" icon={LogIn} blocked={blocked} onClick={() => void (inWindow ? signInInWindow : signIn)()}>
      {t('Sign in')}
    </Button>
  );
}
