import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { t } from '../../shared/texts/texts.ts';
import { FileField, TextAreaField } from '../../shared/ui/controls/Field.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type ApplicationChange, hub, type ManagedApplication } from '../api.ts';
import { MessageField } from '../templates/MessageField.tsx';
import { bodyOfFile, type ReadFile } from './application-body.ts';
import { FileWarnings } from './FileWarnings.tsx';

/** Publishes an application from a file: a new one, or the content of an existing one. The first action only reads the file. */
export function ApplicationFileDialog({
  application,
  onClose,
}: {
  /** Undefined for a new application. */
  readonly application: ManagedApplication | undefined;
  readonly onClose: () => void;
}) {
  const [content, setContent] = useState('');
  const [message, setMessage] = useState('');
  const [file, setFile] = useState<ReadFile>();
  const onSuccess = ({ application: { name } }: { readonly application: ManagedApplication }) => {
    confirmChange(t('Application {name} is published', { name }));
    onClose();
  };
  const read = useMutation({ ...hub.change('readApplicationFile'), onSuccess: setFile });
  const create = useMutation({ ...hub.change('createApplication', 'catalog'), onSuccess });
  const update = useMutation({ ...hub.change('updateApplication', 'catalog'), onSuccess });
  const error = read.error ?? create.error ?? update.error;
  const publish = (checked: ReadFile) => {
    const body = bodyOfFile(checked, message);
    if (!application) return create.mutate({ body });
    // The status and the owner do not change.
    const { status, status_message, replacement, owner_org_id, ...content } = body;
    const { id: of, resource_version: ifMatch } = application;
    return update.mutate({ query: { id: of }, body: content as ApplicationChange, ifMatch });
  };
  const messages = fieldErrorsOf(error).map((each) => each.message);
  return (
    <FormDialog
      title={application ? t('Replace the content of {name}', { name: application.name }) : t('New application')}
      action={file ? t('Publish') : t('Check the file')}
      wide
      pending={read.isPending || create.isPending || update.isPending}
      error={error}
      shown={['yaml', 'category_id', 'slug', 'message']}
      onClose={onClose}
      onSubmit={() => (file ? publish(file) : read.mutate({ body: { yaml: content } }))}
    >
      <p>{t('An application as the commands import and export write it. Nothing is stored until you publish it.')}</p>
      <FileField
        label={t('File')}
        accept=".yaml,.yml"
        onChoose={async (chosen) => {
          setContent(await chosen.text());
          setFile(undefined);
        }}
      />
      <TextAreaField
        label={t('Content')}
        rows={14}
        value={content}
        onChange={(next) => {
          setContent(next);
          setFile(undefined);
        }}
        required
      />
      {file && <FileWarnings file={file} />}
      {file && <MessageField name="message" value={message} onChange={setMessage} error={undefined} />}
      {messages.length > 0 && (
        <ul role="alert" className="bullets text-bad">
          {messages.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}
