import { t } from '../../shared/texts/texts.ts';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import type { Application } from '../api.ts';

/** That the application of the catalog has changed, and why the fleet does not upgrade by itself. */
export function UpgradeNotice({ update }: Pick<Application, 'update'>) {
  if (update === null) return null;
  return (
    <Notice title={update.held ? t('Update held') : t('Update available')} kind={update.held ? 'warning' : 'info'}>
      <p>
        {update.to_version !== null && t('Version {version} is in the catalog.', { version: update.to_version })}{' '}
        {update.held?.message}
      </p>
    </Notice>
  );
}
