import { t } from '../../shared/texts/texts.ts';
import type { Plan } from '../api.ts';

/** Who signed what a plan would run, or why it is not trusted. Nothing if the fleet does not verify it. */
export function TrustNotice({ trust }: { readonly trust: Plan['trust'] }) {
  const { state, publisher_name: publisher, serial, message } = trust;
  if (state === 'trusted') {
    return (
      <p className="candidate small muted">
        {t('Signed by {publisher}, serial {serial}.', { publisher: publisher ?? '', serial: String(serial ?? '') })}
      </p>
    );
  }
  if (state !== 'untrusted' && state !== 'excepted') return null;
  return (
    <div className="candidate small">
      <span className="strong">{state === 'untrusted' ? t('Not trusted') : t('Accepted with an exception')}</span>
      <p>{message}</p>
    </div>
  );
}
