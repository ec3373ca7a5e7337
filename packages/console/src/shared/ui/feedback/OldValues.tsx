import controls from 'virtual:template-controls';
import { declaredText, t } from '../../texts/texts.ts';
import { looks, Status } from '../display/Status.tsx';
import { Notice } from './states.tsx';

interface Warnings {
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
}

/** The mark of an object with values that can no longer be written; nothing for other objects. */
export const OldValuesMark = ({ warnings }: Warnings) =>
  warnings.length > 0 && <Status {...looks.warning(t('Values to correct'))} />;

/** Lists the values that can no longer be written. */
export const OldValuesNotice = ({ warnings }: Warnings) =>
  warnings.length > 0 && (
    <Notice kind="warning" title={t('Values to correct')}>
      <p>{t('These values remain in use. They must be corrected with the next change.')}</p>
      <ul>
        {warnings.map(({ path, message }) => (
          <li key={path}>
            {labelOf(path)}: {message}
          </li>
        ))}
      </ul>
    </Notice>
  );

function labelOf(path: string): string {
  const [member] = path.split('.');
  const found = controls.find(({ name }) => name === member);
  return found ? declaredText(found.label) : t('Name');
}
