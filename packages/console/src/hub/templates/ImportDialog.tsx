import { useState } from 'react';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { t } from '../../shared/texts/texts.ts';
import { FileField, TextAreaField } from '../../shared/ui/controls/Field.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';

/** Reads a catalog file, as the command `import` does. The form then shows what it describes. */
export function ImportDialog({
  about,
  read,
  onClose,
}: {
  readonly about: string;
  /** The request that reads the file. */
  readonly read: {
    readonly isPending: boolean;
    readonly error: unknown;
    readonly mutate: (input: { readonly body: { readonly yaml: string } }) => void;
  };
  readonly onClose: () => void;
}) {
  const [content, setContent] = useState('');
  const messages = fieldErrorsOf(read.error).map(({ message }) => message);
  return (
    <FormDialog
      title={t('Import YAML')}
      action={t('Fill in the form')}
      wide
      pending={read.isPending}
      error={read.error}
      shown={['yaml']}
      onClose={onClose}
      onSubmit={() => read.mutate({ body: { yaml: content } })}
    >
      <p>{about}</p>
      <FileField label={t('File')} accept=".yaml,.yml" onChoose={async (file) => setContent(await file.text())} />
      <TextAreaField label={t('Content')} rows={12} value={content} onChange={setContent} required />
      {messages.length > 0 && (
        <ul role="alert" className="bullets text-bad">
          {messages.map((message) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}
