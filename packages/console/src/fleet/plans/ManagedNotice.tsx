import { t } from '../../shared/texts/texts.ts';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import type { Deployment } from '../api.ts';

/** That a file describes an object, so that a change by hand does not last. */
export const ManagedNotice = ({
  kind,
  place,
}: {
  readonly kind: 'deployment' | 'application';
  /** null: no file describes it. */
  readonly place: Deployment['managed_by'];
}) =>
  place && (
    <Notice
      kind="warning"
      title={kind === 'deployment' ? t('A file manages this deployment') : t('A file manages this application')}
    >
      <p>
        {t(
          'It is in {file}:{line}. The next plan of the set {set} shows your change, and reverts it when it is applied.',
          { file: place.file, line: String(place.line), set: place.set },
        )}
      </p>
    </Notice>
  );
