import type { ReactNode } from 'react';
import { t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { CopyButton } from '../controls/Copy.tsx';
import { Notice } from '../feedback/states.tsx';
import { Dialog } from './Dialog.tsx';

/**
 * Shows a value that the service does not show again. Only the button closes it, so that Esc does
 * not lose the value.
 */
export const ShownOnceDialog = ({
  title,
  about,
  onClose,
  children,
}: {
  readonly title: string;
  readonly about: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) => (
  <Dialog title={title} wide>
    <Notice kind="warning" title={t('It is shown only once')}>
      <p>{about}</p>
    </Notice>
    {children}
    <div className="dialog-actions">
      <Button tone="primary" onClick={onClose}>
        {t('I have copied it')}
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
