import type { ReactNode } from 'react';
import { t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { CopyButton } from '../controls/Copy.tsx';
import { Notice } from '../feedback/states.tsx';
import { Dialog } from './Dialog.tsx';

/**
 * Shows values that the service does not show again by itself. Only the button closes it, so that
 * Esc does not lose them.
 */
export const ShownOnceDialog = ({
  title,
  note = t('It is shown only once'),
  about,
  done = t('I have copied it'),
  onClose,
  children,
}: {
  readonly title: string;
  readonly note?: string;
  readonly about: ReactNode;
  /** The words of the button. */
  readonly done?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) => (
  <Dialog title={title} wide>
    <Notice kind="warning" title={note}>
      <p>{about}</p>
    </Notice>
    {children}
    <div className="dialog-actions">
      <Button tone="primary" onClick={onClose}>
        {done}
      </Button>
    </div>
  </Dialog>
);

/** A text of one or several lines, and a button that copies it. */
export const CopyLine = ({
  label,
  text,
  action,
  children,
}: {
  readonly label?: string;
  readonly text: string;
  /** The accessible name of the button. */
  readonly action: string;
  readonly children?: ReactNode;
}) => (
  <div className="stack-small">
    {label && <span className="strong">{label}</span>}
    {children && <p className="muted">{children}</p>}
    <div className="row-nowrap">
      <code className="code grow">{text}</code>
      <CopyButton text={text} action={action}>
        {t('Copy')}
      </CopyButton>
    </div>
  </div>
);
