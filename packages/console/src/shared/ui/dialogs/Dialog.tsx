import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { TextField } from '../controls/Field.tsx';
import { ErrorView } from '../feedback/states.tsx';

/**
 * A modal dialog. It exists only while it is open. The browser keeps the focus in it, and restores
 * it.
 */
export function Dialog({
  title,
  onClose,
  wide = false,
  children,
}: {
  readonly title: string;
  /** Not given: the user must choose one of the actions. */
  readonly onClose?: () => void;
  readonly wide?: boolean;
  readonly children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return createPortal(
    <dialog
      ref={dialog}
      className={wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClose={() => {
        // Chromium closes a dialog at the second Esc, also if `cancel` is prevented. After the end
        // of the component, nothing is left to do.
        if (!dialog.current || dialog.current.open) return;
        if (onClose) onClose();
        else dialog.current.showModal();
      }}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose && <Button tone="ghost" size="small" icon={X} label={t('Close')} onClick={onClose} />}
      </div>
      <div className="dialog-body">{children}</div>
    </dialog>,
    document.body,
  );
}

/** A confirmation that states the consequences. With `name`, the user must type it. */
export function ConfirmDialog({
  title,
  children,
  action,
  name,
  pending,
  error,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly action: string;
  readonly name?: string;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const isConfirmed = name === undefined || typed === name;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isConfirmed && !pending) onConfirm();
        }}
      >
        {children}
        {name !== undefined && (
          <TextField label={t('Type {name} to confirm', { name })} value={typed} onChange={setTyped} mono />
        )}
        {error !== null && error !== undefined && <ErrorView error={error} />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            type="submit"
            tone="danger-primary"
            pending={pending}
            blocked={isConfirmed ? undefined : t('Type {name} to confirm.', { name })}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
