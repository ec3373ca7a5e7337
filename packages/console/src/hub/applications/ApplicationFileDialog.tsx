import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { t } from '../../shared/texts/texts.ts';
import { FileField, TextAreaField } from '../../shared/ui/controls/Field.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { type ApplicationBody, type ApplicationChange, type HubOutput, hub, type ManagedApplication } from '../api.ts';
import { MessageField } from '../templates/MessageField.tsx';

type Read = HubOutput<'readApplicationFile'>;

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
  const [file, setFile] = useState<Read>();
  const onSuccess = ({ application: { name } }: { readonly application: ManagedApplication }) => {
    confirmChange(t('Application {name} is published', { name }));
    onClose();
  };
  const read = useMutation({ ...hub.change('readApplicationFile'), onSuccess: setFile });
  const create = useMutation({ ...hub.change('createApplication', 'catalog'), onSuccess });
  const update = useMutation({ ...hub.change('updateApplication', 'catalog'), onSuccess });
  const error = read.error ?? create.error ?? update.error;
  const publish = ({ application: described }: Read) => {
    const { slug, category_id, status, status_message, replacement, owner_org_id, ...rest } = described;
    const content = { ...rest, category_id: category_id ?? '', message, ...(slug !== '' && { slug }) };
    if (application) {
      const { id: of, resource_version: ifMatch } = application;
      // The status and the owner do not change. The hub has read the content with the rules for applications that are written.
      return update.mutate({ query: { id: of }, body: content as ApplicationChange, ifMatch });
    }
    const stated = { status, status_message, replacement, owner_org_id };
    // The same rules.
    return create.mutate({ body: { ...content, ...stated } as ApplicationBody });
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
      {file && (
        <Notice
          kind={file.warnings.length > 0 ? 'warning' : 'info'}
          title={t('{name} has {count, plural, one {# part} other {# parts}}', {
            name: file.application.name,
            count: file.application.parts.length,
          })}
        >
          <ul className="bullets">
            {file.warnings.map((warning) => (
              <li key={warning.path + warning.message}>
                <code>{warning.path}</code> {warning.message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
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
