import { t } from '../../shared/texts/texts.ts';
import type { FleetOutput } from '../api.ts';

type Template = FleetOutput<'getMirroredTemplate'>;

/** Who has signed a template, or that it is not trusted. Nothing if the fleet does not verify it. */
export function TrustMark({ trust }: Pick<Template, 'trust'>) {
  if (trust === null) return null;
  if (trust.state === 'trusted') {
    return (
      <span className="tag nowrap">
        {t('Signed by {publisher}', { publisher: trust.publisher_name ?? trust.publisher ?? '' })}
      </span>
    );
  }
  return (
    <span className="tag nowrap text-bad">
      {trust.state === 'excepted' ? t('Accepted with an exception') : t('Not trusted')}
    </span>
  );
}
