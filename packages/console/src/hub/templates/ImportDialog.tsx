import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { t } from '../../shared/texts/texts.ts';
import { FileField, TextAreaField } from '../../shared/ui/controls/Field.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { type HubOutput, hub } from '../api.ts';

export interface TemplateFile extends HubOutput<'readTemplateFile'> {
  /** Distinguishes the files that a page reads one after the other. */
  readonly number: number;
}

let lastNumber = 0;

/** Reads a catalog file, as the command `import` does. The form then shows the template. */
export function ImportDialog({
  onRead,
  onClose,
}: {
  readonly onRead: (file: TemplateFile) => void;
  readonly onClose: () => void;
}) {
  const [content, setContent] = useState('');
  const read = useMutation({
    ...hub.change('readTemplateFile'),
    onSuccess: (file) => {
      lastNumber += 1;
      onRead({ ...file, number: lastNumber });
    },
  });
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
      <p>{t('A template as the commands import and export write it. Nothing is stored until you create it.')}</p>
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
