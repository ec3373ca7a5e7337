import { useMutation, useQuery } from '@tanstack/react-query';
import { Plus, Save, Trash2 } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import { TemplateVariables } from '../../shared/catalog/TemplateFacts.tsx';
import { TemplateCard } from '../../shared/catalog/TemplateGrid.tsx';
import { href } from '../../shared/routing/href.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField, SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { formatList } from '../../shared/ui/display/format.ts';
import { Markdown } from '../../shared/ui/display/Markdown.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Category, hub, type ManagedTemplate, type Template, useBlocked } from '../api.ts';
import { bodyOf, changedMembers, type TemplateDraft, variableDraft } from './template-draft.ts';

const tiers = [
  { value: 'free', label: t('Free: all organizations') },
  { value: 'pro', label: t('Pro') },
  { value: 'enterprise', label: t('Enterprise') },
] as const;

/** The form of a template, with a preview of its card and its page beside it. */
export function TemplateForm({
  initial,
  template,
  onSaved,
}: {
  readonly initial: TemplateDraft;
  /** Undefined for a new template. */
  readonly template: ManagedTemplate | undefined;
  readonly onSaved?: (template: ManagedTemplate) => void;
}) {
  const [before] = useState(initial);
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
  const changes = changedMembers(before, draft);
  const isUnchanged = template !== undefined && Object.keys(changes).length === 0;
  const category = categories.data?.categories.find(({ id }) => id === draft.category_id);
  const preview = useDeferredValue(draft);
  const text = (name: keyof TemplateDraft & keyof Texts, label: string, more: Partial<TextOptions> = {}) => (
    <TextField {...form.bind(name)} label={label} error={errorAt(name)} {...more} />
  );
  return (
    <div className="split">
      <form
        className="panel"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (template)
            update.mutate({ query: { id: template.id }, body: changes, ifMatch: template.resource_version });
          else create.mutate({ body: bodyOf(draft) });
        }}
      >
        <fieldset className="form-section">
          <h2>{t('In the catalog')}</h2>
          <div className="fields">
            {text('name', t('Name'), { required: true })}
            {text('slug', t('Slug'), { mono: true, hint: t('Empty: derived from the name.') })}
          </div>
          <TextAreaField
            {...form.bind('description')}
            label={t('Description')}
            rows={2}
            mono={false}
            error={errorAt('description')}
          />
          <div className="fields">
            <SelectField
              {...form.bind('category_id')}
              label={t('Category')}
              required
              options={[
                { value: '', label: t('Choose…') },
                ...(categories.data?.categories ?? []).map(({ id, name, is_private }) => ({
                  value: id,
                  label: is_private ? t('{name} (private)', { name }) : name,
                })),
              ]}
              error={errorAt('category_id')}
            />
            {text('version', t('Version'), { mono: true })}
            <SelectField
              {...form.bind('min_tier')}
              label={t('Minimum tier')}
              options={tiers}
              error={errorAt('min_tier')}
            />
          </div>
          {text('tags', t('Tags'), { hint: t('Separated by commas.') })}
          <div className="row">
            <CheckField
              label={t('Public')}
              checked={draft.is_public}
              onChange={(checked) => form.set('is_public', checked)}
            />
            <CheckField
              label={t('Featured')}
              checked={draft.is_featured}
              onChange={(checked) => form.set('is_featured', checked)}
            />
          </div>
        </fieldset>
        <fieldset className="form-section">
          <h2>{t('Image')}</h2>
          <div className="fields">
            {text('registry_url', t('Registry'), { mono: true, placeholder: 'docker.io' })}
            {text('image_name', t('Image'), { mono: true, placeholder: 'library/postgres' })}
            {text('image_tag', t('Tag'), { mono: true })}
          </div>
          <div className="fields">
            {text('registry_credentials', t('Pull secret'), {
              mono: true,
              hint: t('The name of a secret of the fleet.'),
            })}
            {text('kind', t('Kind'), { mono: true, hint: t('Such as service or job.') })}
          </div>
          <TextAreaField
            {...form.bind('command')}
            label={t('Command')}
            hint={t('One argument per line. Empty: that of the image.')}
            rows={3}
            error={errorAt('command')}
          />
        </fieldset>
        <fieldset className="form-section">
          <h2>{t('Requirements')}</h2>
          <div className="fields">
            {text('cpu_request', t('CPU'), { mono: true, placeholder: '500m' })}
            {text('memory_request', t('Memory'), { mono: true, placeholder: '1Gi' })}
            {text('gpu_count', t('GPUs'), { type: 'number' })}
            {text('vram_request', t('Memory of a GPU'), { mono: true, placeholder: '16Gi' })}
          </div>
          <div className="fields">
            <TextAreaField
              {...form.bind('ports')}
              label={t('Ports')}
              hint={t('One per line: port/protocol.')}
              placeholder="8080/TCP"
              rows={2}
              error={errorAt('ports')}
            />
            <TextAreaField
              {...form.bind('volume_mounts')}
              label={t('Volumes')}
              hint={t('One per line: name=/path.')}
              placeholder="data=/var/lib/data"
              rows={2}
              error={errorAt('volume_mounts')}
            />
            <TextAreaField
              {...form.bind('node_selector')}
              label={t('Node labels')}
              hint={t('One per line: key=value.')}
              rows={2}
              error={errorAt('node_selector')}
            />
          </div>
          {text('required_network_types', t('Required networks'), { mono: true, hint: t('Separated by spaces.') })}
        </fieldset>
        <fieldset className="form-section">
          <h2>{t('Variables that users set')}</h2>
          <Variables draft={draft} errorAt={errorAt} onChange={(env_schema) => form.set('env_schema', env_schema)} />
          <TextAreaField
            {...form.bind('env')}
            label={t('Fixed variables')}
            hint={t('One per line: NAME=value.')}
            rows={3}
            error={errorAt('env')}
          />
        </fieldset>
        <fieldset className="form-section">
          <TextAreaField
            {...form.bind('documentation')}
            label={t('Documentation')}
            hint={t('Markdown. HTML is shown as text.')}
            rows={14}
            error={errorAt('documentation')}
          />
        </fieldset>
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

type Texts = { [K in keyof TemplateDraft as TemplateDraft[K] extends string ? K : never]: string };
interface TextOptions {
  readonly required: boolean;
  readonly mono: boolean;
  readonly hint: string;
  readonly placeholder: string;
  readonly type: 'text' | 'number';
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
  const changesImage = ['image_name', 'image_tag', 'registry_url'].some((member) => members.includes(member));
  return (
    <Notice title={t('Changed: {members}', { members: formatList(members) })}>
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

function Variables({
  draft: { env_schema },
  errorAt,
  onChange,
}: {
  readonly draft: TemplateDraft;
  readonly errorAt: (...paths: readonly string[]) => string | undefined;
  readonly onChange: (variables: TemplateDraft['env_schema']) => void;
}) {
  const set = (id: number, changed: Partial<TemplateDraft['env_schema'][number]>) =>
    onChange(env_schema.map((variable) => (variable.id === id ? { ...variable, ...changed } : variable)));
  return (
    <div className="stack">
      {env_schema.map((variable, index) => (
        <div key={variable.id} className="stack-small variable">
          <div className="fields">
            <TextField
              label={t('Name')}
              mono
              value={variable.name}
              error={errorAt(`env_schema.${index}.name`)}
              onChange={(name) => set(variable.id, { name })}
            />
            <TextField
              label={t('Default')}
              mono
              value={variable.default_value}
              error={errorAt(`env_schema.${index}.default_value`)}
              onChange={(default_value) => set(variable.id, { default_value })}
            />
          </div>
          <TextField
            label={t('Description')}
            hint={t('End it with [secret] if the value is secret.')}
            value={variable.description}
            error={errorAt(`env_schema.${index}.description`)}
            onChange={(description) => set(variable.id, { description })}
          />
          <div className="spread">
            <CheckField
              label={t('Required')}
              checked={variable.required}
              onChange={(required) => set(variable.id, { required })}
            />
            <Button
              size="small"
              tone="ghost"
              icon={Trash2}
              onClick={() => onChange(env_schema.filter(({ id }) => id !== variable.id))}
            >
              {t('Remove')}
            </Button>
          </div>
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon={Plus}
          onClick={() =>
            onChange([...env_schema, variableDraft({ name: '', required: false, default_value: '', description: '' })])
          }
        >
          {t('Add a variable')}
        </Button>
      </div>
    </div>
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
    ...bodyOf(draft),
    id: template?.id ?? '',
    name: draft.name || t('Unnamed template'),
    slug: draft.slug,
    category_name: category?.name ?? t('no category'),
    category_slug: category?.slug ?? '',
    category_icon: category?.icon ?? '',
    download_count: template?.download_count ?? 0,
    concurrent_jobs: template?.concurrent_jobs ?? 1,
    secret_refs: template?.secret_refs ?? [],
    tolerations: template?.tolerations ?? [],
    icon_url: template?.icon_url ?? null,
    created_at: template?.created_at ?? '',
    updated_at: template?.updated_at ?? '',
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
