import controls from 'virtual:template-controls';
import type { TemplateTopic } from '@svc/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Save } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import { TemplateVariables } from '../../shared/catalog/TemplateFacts.tsx';
import { TemplateCard } from '../../shared/catalog/TemplateGrid.tsx';
import { href } from '../../shared/routing/href.ts';
import { declaredText, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { formatList } from '../../shared/ui/display/format.ts';
import { Markdown } from '../../shared/ui/display/Markdown.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Category, hub, type ManagedTemplate, type Template, useBlocked } from '../api.ts';
import { ControlLayout, MemberControl } from './MemberControl.tsx';
import { bodyOf, changedMembers, draftOf, type TemplateDraft } from './template-draft.ts';

/**
 * The headings under which the members of each topic are. A topic without a heading consists of one
 * member.
 */
const headings: Readonly<Record<TemplateTopic, string>> = {
  catalog: t('In the catalog'),
  image: t('Image'),
  resources: t('Requirements'),
  scheduling: t('Placement'),
  networks: t('Placement'),
  ports: t('Ports and volumes'),
  volumes: t('Ports and volumes'),
  environment: t('Variables'),
  documentation: '',
};

const sections = [...new Set(Object.values(headings))].map((heading) => ({
  heading,
  members: controls.filter(({ topic }) => headings[topic] === heading),
}));

/** The labels of the members that have no default. */
const identityLabels = { name: t('Name'), slug: t('Slug'), category_id: t('Category') };

const labels: Readonly<Record<string, string>> = {
  ...identityLabels,
  ...Object.fromEntries(controls.map(({ name, label }) => [name, declaredText(label)])),
};

/** The form of a template, with a preview of its card and its page beside it. */
export function TemplateForm({
  template,
  onSaved,
}: {
  /** Undefined for a new template. */
  readonly template: ManagedTemplate | undefined;
  readonly onSaved?: (template: ManagedTemplate) => void;
}) {
  const [before] = useState(() => draftOf(controls, template));
  const form = useForm(before);
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const categories = useQuery(hub.read('listAllCategories'));
  const create = useMutation({
    ...hub.change('createTemplate', 'catalog'),
    onSuccess: ({ template: { id, name } }) => {
      confirmChange(t('Template {name} is created', { name }));
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
  const draft = form.values;
  const changes = changedMembers(controls, before, draft);
  const isUnchanged = template !== undefined && Object.keys(changes).length === 0;
  const category = categories.data?.categories.find(({ id }) => id === draft.category_id);
  const preview = useDeferredValue(draft);
  const categoryOptions = (categories.data?.categories ?? []).map(({ id, name, is_private }) => ({
    value: id,
    label: is_private ? t('{name} (private)', { name }) : name,
  }));
  /** The controls of the members that have no default. */
  const identity = {
    name: <TextField {...form.bind('name')} label={identityLabels.name} required error={errorAt('name')} />,
    slug: (
      <TextField
        {...form.bind('slug')}
        label={identityLabels.slug}
        hint={t('Empty: derived from the name.')}
        mono
        error={errorAt('slug')}
      />
    ),
    category_id: (
      <SelectField
        {...form.bind('category_id')}
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
          if (template)
            update.mutate({ query: { id: template.id }, body: changes, ifMatch: template.resource_version });
          else create.mutate({ body: bodyOf(controls, draft) });
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
          <FormError error={error} shown={Object.keys(before)} />
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
        members: formatList(members.map((member) => labels[member] ?? member)),
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
        <TemplateCard template={shown} href={template ? href('/templates/:slug', { slug: template.slug }) : '/'} />
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
