import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { t } from '../../shared/texts/texts.ts';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { hub } from '../api.ts';
import { type Kind, operations } from './kinds.ts';
import { MessageField } from './MessageField.tsx';

/** Deletes a template or an application, whose history remains. */
export function DeleteDialog({
  kind,
  of: { id, name, slug, resource_version },
  onClose,
}: {
  readonly kind: Kind;
  readonly of: {
    readonly id: string;
    readonly name: string;
    readonly slug: string;
    readonly resource_version: number;
  };
  readonly onClose: () => void;
}) {
  const [message, setMessage] = useState('');
  const remove = useMutation({
    ...hub.change(operations[kind].remove, 'catalog'),
    onSuccess: () => {
      confirmChange(
        kind === 'template' ? t('Template {name} is deleted', { name }) : t('Application {name} is deleted', { name }),
      );
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete {name}?', { name })}
      action={t('Delete')}
      name={slug}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ query: { id }, body: { message }, ifMatch: resource_version })}
    >
      <p>
        {t(
          'It disappears from the catalog of each fleet with its next sync. What fleets run continues, and is marked as withdrawn. It can be restored as long as the hub keeps its history.',
        )}
      </p>
      <MessageField
        kind={kind}
        name="message"
        value={message}
        onChange={setMessage}
        error={fieldErrorsOf(remove.error).find(({ path }) => path === 'message')?.message}
      />
    </ConfirmDialog>
  );
}
