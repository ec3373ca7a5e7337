import { t } from '../../texts/texts.ts';
import { Dialog } from '../dialogs/Dialog.tsx';
import { keysShown } from './keys.ts';

const keys = [
  { key: `${t('Ctrl')} K`, purpose: t('search pages and objects, and perform actions') },
  { key: '/', purpose: t('move the focus to the search field of the page') },
  { key: '?', purpose: t('show this list') },
  { key: t('Tab, first'), purpose: t('skip to the content') },
  { key: t('Esc'), purpose: t('close a dialog, a menu or the navigation') },
];

/** The keys that the consoles have in addition to those of the browser. */
export const KeysDialog = () => (
  <Dialog title={t('Keys')} onClose={() => keysShown.set(false)}>
    <table>
      <tbody>
        {keys.map(({ key, purpose }) => (
          <tr key={key}>
            <th scope="row">
              <kbd>{key}</kbd>
            </th>
            <td>{purpose}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Dialog>
);
