import { Compass } from 'lucide-react';
import { useEffect } from 'react';
import type { SessionGate } from '../../api/session-gate.ts';
import { t } from '../../texts/texts.ts';
import { Empty } from '../feedback/states.tsx';

/** The end of a sign-in in another window, which an expired session opened. */
export function SignedIn({ gate }: { readonly gate: SessionGate }) {
  useEffect(() => {
    gate.announceSignIn();
    close();
  }, [gate]);
  return (
    <main>
      <Empty isPage icon={Compass} title={t('You are signed in')}>
        {t('Close this window and continue where you were.')}
      </Empty>
    </main>
  );
}
