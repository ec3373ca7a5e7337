import controls from 'virtual:template-controls';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Save } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import { ControlLayout, MemberControl } from '../../shared/catalog/MemberControl.tsx';
import { identityLabels, labelOfMember } from '../../shared/catalog/member-labels.ts';
import { TemplateVariables } from '../../shared/catalog/TemplateFacts.tsx';
import { TemplateCard } from '../../shared/catalog/TemplateGrid.tsx';
import { topicHeadings as headings } from '../../shared/catalog/topics.ts';
import { href } from '../../shared/routing/href.ts';
import { useUnsavedInput } from '../../shared/routing/leaving.tsx';
import { declaredText, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { formatList } from '../../shared/ui/display/format.ts';
import { ErrorSummary } from '../../shared/ui/feedback/ErrorSummary.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Markdown } from '../../shared/ui/markdown/Markdown.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import {
  type Category,
  hub,
  iconOf,
  type ManagedTemplate,
  type Template,
  type TemplateBody,
  useBlocked,
} from '../api.ts';
import { MessageField } from '../history/MessageField.tsx';
import { bodyOf, changedMembers, type DraftSource, draftOf, type TemplateDraft } from './template-draft.ts';

const sections = [...new Set(Object.values(headings))].map((heading) => ({
  heading,
  members: controls.filter(({ topic }) => headings[topic] === heading),
}));

/** The words for a member, such as `Variables that users set, entry 2: Name`. */
function labelOf(path: string): string {
  const [member = '', index, part = ''] = path.split('.');
  const label = labelOfMember(member);
  const control = controls.find(({ name }) => name === member)?.control;
  if (control?.kind !== 'objects' || index === undefined) return label;
  const entry = t('{label}, entry {number}', { label, number: Number(index) + 1 });
  const inner = control.members[part]?.label;
  return inner === undefined ? entry : `${entry}: ${declaredText(inner)}`;
}

/** What a new template is made from. */
export interface Start {
  readonly source: DraftSource;
  readonly owner_org_id: string | null;
  /** The status that a file states. */
  readonly status?: Pick<TemplateBody, 'status' | 'status_message' | 'replacement'> | undefined;
}

/** The form of a template, with a preview of its card and its page beside it. */
export function TemplateForm({
  template,
  start,
  onSaved,
}: {
  /** Undefined for a new template. */
  readonly template: ManagedTemplate | undefined;
  readonly start?: Start | undefined;
  readonly onSaved?: (template: ManagedTemplate) => void;
}) {
  const [before] = useState(() => draftOf(controls, template ?? start?.source));
  const form = useForm(before);
  const change = useForm({ message: '' });
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const categories = useQuery(hub.read('listAllCategories'));
  const create = useMutation({
    ...hub.change('createTemplate', 'catalog'),
    onSuccess: ({ template: { id, name } }) => {
      confirmChange(t('Template {name} is created', { name }));
      release();
      navigate(href('/admin/templates/:id', { id }));
    },
  });
  const update = useMutation({
    ...hub.change('updateTemplate', 'catalog'),
    onSuccess: ({ template: saved }) => {
      confirmChange(t('Template {name} is published', { name: saved.name }));
      onSaved?.(saved);
    },
  });
  const { error, isPending } = template ? update : create;
  const errorAt = form.errorsOf(error);
  const { message } = change.values;
  const draft = form.values;
  const changes = changedMembers(controls, before, draft);
  const hasChanges = Object.keys(changes).length > 0;
  const isUnchanged = template !== undefined && !hasChanges;
  const { question, release } = useUnsavedInput(hasChanges);
  const category = categories.data?.categories.find(({ id }) => id === draft.category_id);
  const preview = useDeferredValue(draft);
  const categoryOptions = (categories.data?.categories ?? []).map(({ id, name, is_private }) => ({
    value: id,
    label: is_private ? t('{name} (private)', { name }) : name,
  }));
  /** The controls of the members that have no default. */
  const identity = {
    name: <TextField {...form.bind('name')} name="name" label={identityLabels.name} required error={errorAt('name')} />,
    slug: (
      <TextField
        {...form.bind('slug')}
        name="slug"
        label={identityLabels.slug}
        hint={t('Empty: derived from the name.')}
        mono
        error={errorAt('slug')}
      />
    ),
    category_id: (
      <SelectField
        {...form.bind('category_id')}
        name="category_id"
        label={identityLabels.category_id}
        required
        options={[{ value: '', label: t('Choose…') }, ...categoryOptions]}
        error={errorAt('category_id')}
      />
    ),
  };
  const identityItems = Object.entries(identity).map(([key, control]) => ({ key, kind: 'text' as const, control }));
  return (
    <div className="split">
      <form
        className="panel"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (template) {
            const body = { ...changes, message };
            update.mutate({ query: { id: template.id }, body, ifMatch: template.resource_version });
          } else {
            const body = { ...bodyOf(controls, draft), ...start?.status, message };
            create.mutate({ body: { ...body, owner_org_id: start?.owner_org_id ?? null } });
          }
        }}
      >
        {sections.map(({ heading, members }) => (
          <fieldset key={heading} className="form-section">
            {heading !== '' && <h2>{heading}</h2>}
            <ControlLayout
              items={[
                ...(heading === headings.catalog ? identityItems : []),
                ...members.map((member) => ({
                  key: member.name,
                  kind: member.control.kind,
                  control: (
                    <MemberControl
                      member={member}
                      path={member.name}
                      input={draft[member.name]}
                      errorAt={errorAt}
                      onChange={(input) => form.set(member.name, input)}
                    />
                  ),
                })),
              ]}
            />
          </fieldset>
        ))}
        <div className="form-section">
          {template && !isUnchanged && <Consequences changes={changes} category={category} />}
          <MessageField kind="template" {...change.bind('message')} error={change.errorsOf(error)('message')} />
          <ErrorSummary error={error} errorAt={errorAt} labelOf={labelOf} />
          <FormError error={error} shown={[...Object.keys(before), 'message']} />
          <div className="actions">
            <Button
              type="submit"
              tone="primary"
              icon={Save}
              pending={isPending}
              blocked={
                blocked(template ? 'updateTemplate' : 'createTemplate') ??
                (isUnchanged ? t('Nothing is changed.') : undefined)
              }
            >
              {template ? t('Publish the changes') : t('Create')}
            </Button>
          </div>
        </div>
      </form>
      {question}
      <div className="split-sticky stack">
        <Preview draft={preview} category={category} template={template} />
      </div>
    </div>
  );
}

/** What the changes mean for fleets, before they are published. */
function Consequences({
  changes,
  category,
}: {
  readonly changes: ReturnType<typeof changedMembers>;
  readonly category: Category | undefined;
}) {
  const members = Object.keys(changes);
  const changesImage = ['image_name', 'image_tag', 'image_digest', 'registry_url'].some((member) =>
    members.includes(member),
  );
  return (
    <Notice
      title={t('Changed: {members}', {
        members: formatList(members.map(labelOfMember)),
      })}
    >
      <p>{t('Fleets receive the change with their next sync. What they run does not change.')}</p>
      {changesImage && !members.includes('version') && <p>{t('The image changes, but the version does not.')}</p>}
      {changes.is_public === false && (
        <p>{t('The template disappears from all fleets that have no other access to it.')}</p>
      )}
      {members.includes('category_id') && category?.is_private && (
        <p>{t('Only organizations with a grant for {category} see the template.', { category: category.name })}</p>
      )}
    </Notice>
  );
}

/** The template as catalogs will show it. */
function Preview({
  draft,
  category,
  template,
}: {
  readonly draft: TemplateDraft;
  readonly category: Category | undefined;
  readonly template: ManagedTemplate | undefined;
}) {
  const shown: Template = {
    id: '',
    slug: '',
    download_count: 0,
    created_at: '',
    updated_at: '',
    revision: null,
    status: 'active',
    status_message: '',
    replacement: null,
    advisories: [],
    signatures: [],
    ...template,
    ...bodyOf(controls, draft),
    name: draft.name || t('Unnamed template'),
    category_name: category?.name ?? t('no category'),
    category_slug: category?.slug ?? '',
    category_icon: category?.icon ?? '',
  };
  return (
    <>
      <Panel title={t('Preview')}>
        <TemplateCard
          template={shown}
          iconOf={iconOf}
          href={template ? href('/templates/:slug', { slug: template.slug }) : '/'}
        />
      </Panel>
      {shown.env_schema.length > 0 && (
        <Panel title={t('Variables')} flush>
          <TemplateVariables template={shown} />
        </Panel>
      )}
      {shown.documentation && (
        <Panel title={t('Documentation')}>
          <Markdown title={shown.name}>{shown.documentation}</Markdown>
        </Panel>
      )}
    </>
  );
}
