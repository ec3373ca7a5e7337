import { type ReactNode, useEffect } from 'react';
import { t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { focusField } from '../controls/form.ts';
import { FormError } from '../feedback/FormError.tsx';
import { Dialog } from './Dialog.tsx';

/**
 * A dialog with a form, which ends with the problem of the last request, `Cancel`, and the action.
 */
export function FormDialog({
  title,
  action,
  wide = false,
  field = '',
  pending,
  error,
  shown,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string;
  readonly action: string;
  readonly wide?: boolean;
  /** The path of the field that receives the focus. Default: the first one. */
  readonly field?: string;
  readonly pending: boolean;
  readonly error: unknown;
  /** The members whose messages the fields show. */
  readonly shown: readonly string[];
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  // After the dialog, which moves the focus to its first control when it opens.
  useEffect(() => {
    if (field !== '') focusField(field);
  }, [field]);
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          // React sends the event also to a form from which the dialog was opened.
          event.stopPropagation();
          onSubmit();
        }}
      >
        {children}
        <FormError error={error} shown={shown} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" tone="primary" pending={pending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
