import { type Application, applicationYaml } from '@svc/convert';
import { useMutation, useQuery } from '@tanstack/react-query';
import { ArrowLeft, FileCheck, Send } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { identityLabels } from '../../shared/catalog/member-labels.ts';
import { href } from '../../shared/routing/href.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, useBlocked } from '../api.ts';
import { MessageField } from '../history/MessageField.tsx';
import { bodyOfFile, type ReadFile } from './application-body.ts';
import { FileWarnings } from './FileWarnings.tsx';

interface Draft {
  readonly name: string;
  readonly slug: string;
  /** The slug of a category of the hub. */
  readonly category: string;
  readonly message: string;
}

/** The members that have a field, as the messages about the file name them. */
const fields = ['name', 'slug', 'category'] as const;

/** Publishes an application that exists only in the browser. The first action only checks it. */
export function PublishApplication({
  application,
  onBack,
}: {
  readonly application: Application;
  readonly onBack: () => void;
}) {
  const [draft, setDraft] = useState<Draft>({
    name: application.name,
    slug: application.slug,
    category: '',
    message: '',
  });
  const [file, setFile] = useState<ReadFile>();
  const [isSubmitted, setSubmitted] = useState(false);
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const { data } = useQuery(hub.read('listAllCategories'));
  const read = useMutation({ ...hub.change('readApplicationFile'), onSuccess: setFile });
  const create = useMutation({
    ...hub.change('createApplication', 'catalog'),
    onSuccess: ({ application: { name, slug } }) => {
      confirmChange(t('Application {name} is published', { name }));
      navigate(href('/applications/:slug', { slug }));
    },
  });
  const change = (changed: Partial<Draft>) => {
    setDraft((current) => ({ ...current, ...changed }));
    if ('message' in changed) return;
    // What was checked is no longer what the form shows.
    setFile(undefined);
    read.reset();
    create.reset();
  };
  const messages = messagesOf(read.error);
  const errorAt = (member: (typeof fields)[number]) =>
    messages.find((one) => one.member === member)?.message ??
    fieldErrorsOf(create.error).find(({ path }) => path === (member === 'category' ? 'category_id' : member))?.message;
  const hasNoCategory = isSubmitted && draft.category === '';
  const others = messages.filter(({ member }) => !fields.some((one) => one === member));
  const submit = () => {
    setSubmitted(true);
    if (draft.category === '') return;
    if (file) create.mutate({ body: bodyOfFile(file, draft.message) });
    else {
      const { name, slug, category } = draft;
      read.mutate({ body: { yaml: applicationYaml({ ...application, name, slug, category }) } });
    }
  };
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Applications'), href: '/admin/applications' }]}
        title={t('Publish {name}', { name: application.name })}
        about={t('The hub checks the application first. Nothing is stored before you publish it.')}
      />
      <form
        className="panel"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="form-section">
          <div className="fields">
            <TextField
              name="name"
              label={identityLabels.name}
              required
              value={draft.name}
              error={errorAt('name')}
              onChange={(name) => change({ name })}
            />
            <TextField
              name="slug"
              label={identityLabels.slug}
              required
              mono
              value={draft.slug}
              error={errorAt('slug')}
              onChange={(slug) => change({ slug })}
            />
            <SelectField
              name="category"
              label={identityLabels.category_id}
              required
              value={draft.category}
              options={[
                { value: '', label: t('Choose…') },
                ...(data?.categories ?? []).map(({ slug, name, is_private }) => ({
                  value: slug,
                  label: is_private ? t('{name} (private)', { name }) : name,
                })),
              ]}
              error={hasNoCategory ? t('Choose one of the list.') : errorAt('category')}
              onChange={(category) => change({ category })}
            />
          </div>
          {file && <FileWarnings file={file} />}
          {file && (
            <MessageField
              kind="application"
              name="message"
              value={draft.message}
              error={fieldErrorsOf(create.error).find(({ path }) => path === 'message')?.message}
              onChange={(message) => change({ message })}
            />
          )}
          {others.length > 0 && (
            <ul role="alert" className="bullets text-bad">
              {others.map(({ member, message }) => (
                <li key={member + message}>
                  <code>{member}</code> {message}
                </li>
              ))}
            </ul>
          )}
          <FormError error={read.error ?? create.error} shown={['yaml', 'category_id', 'name', 'slug', 'message']} />
          <div className="actions">
            <Button
              type="submit"
              tone="primary"
              icon={file ? Send : FileCheck}
              pending={read.isPending || create.isPending}
              blocked={blocked('createApplication')}
            >
              {file ? t('Publish') : t('Check the application')}
            </Button>
            <Button tone="ghost" icon={ArrowLeft} onClick={onBack}>
              {t('Back')}
            </Button>
          </div>
        </div>
      </form>
    </>
  );
}

/** The start of a message about a line of a file: the person has the form instead of the lines. */
const LINE = /^line \d+: ([^:]+): /;

/** What is wrong with the file, by the path of the member. */
const messagesOf = (error: unknown) =>
  fieldErrorsOf(error).map(({ message }) => {
    const [start = '', member = ''] = LINE.exec(message) ?? [];
    return { member, message: message.slice(start.length) };
  });
