import controls from 'virtual:template-controls';
import { applicationYaml } from '@svc/convert';
import { useMutation, useQuery } from '@tanstack/react-query';
import { FileCheck, Plus, Save, Trash2 } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import { fieldErrorsOf } from '../../../shared/api/problem.ts';
import { differingMembers, type Input } from '../../../shared/catalog/control-values.ts';
import { ControlLayout, type ErrorAt, MemberControl } from '../../../shared/catalog/MemberControl.tsx';
import { identityLabels } from '../../../shared/catalog/member-labels.ts';
import { topicHeadings } from '../../../shared/catalog/topics.ts';
import { href } from '../../../shared/routing/href.ts';
import { useUnsavedInput } from '../../../shared/routing/leaving.tsx';
import { declaredText, t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { CopyButton } from '../../../shared/ui/controls/Copy.tsx';
import { SelectField, TextField } from '../../../shared/ui/controls/Field.tsx';
import { ErrorSummary } from '../../../shared/ui/feedback/ErrorSummary.tsx';
import { FormError } from '../../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../../shared/ui/feedback/toast.tsx';
import { Panel } from '../../../shared/ui/shell/PageHeader.tsx';
import { type ApplicationBody, type ApplicationChange, hub, type ManagedApplication, useBlocked } from '../../api.ts';
import { MessageField } from '../../history/MessageField.tsx';
import { FileWarnings } from '../FileWarnings.tsx';
import {
  type ApplicationDraft,
  bodyOf,
  type DraftSource,
  draftOf,
  fileOf,
  type PartDraft,
  partDraftOf,
} from './application-draft.ts';
import { catalogMembersOf, type EditedMember, partSectionsOf, valueMembers } from './application-members.ts';

const catalogMembers = catalogMembersOf(controls);
const partSections = partSectionsOf(controls);
const partMembers = partSections.flatMap(({ members }) => members);

/** What the form begins with, and what a file states beside the content of a new application. */
export interface Start {
  readonly source: DraftSource;
  readonly stated?: Pick<ApplicationBody, 'owner_org_id' | 'status' | 'status_message' | 'replacement'>;
}

const nameOf = ({ inputs }: PartDraft): string => String(inputs.name ?? '') || t('Unnamed part');

/** The words for a member, such as `web: Variables, entry 2: Name`. */
function labelOf(path: string, { parts }: ApplicationDraft): string {
  const [root = '', index = '', ...rest] = path.split('.');
  if (root !== 'parts') {
    const known: Readonly<Record<string, string>> = identityLabels;
    return known[root] ?? labelIn([...catalogMembers, ...valueMembers], [root, index, ...rest]);
  }
  const part = parts[Number(index)];
  if (!part) return t('Parts');
  return rest.length === 0 ? nameOf(part) : `${nameOf(part)}: ${labelIn(partMembers, rest)}`;
}

function labelIn(members: readonly EditedMember[], [name = '', index = '', inner = '']: readonly string[]): string {
  const member = members.find((one) => one.name === name);
  const label = member ? declaredText(member.label) : t('another member');
  if (member?.control.kind !== 'objects' || index === '') return label;
  const entry = t('{label}, entry {number}', { label, number: Number(index) + 1 });
  const of = member.control.members[inner];
  return of ? `${entry}: ${declaredText(of.label)}` : entry;
}

/** The draft, and the messages of the last request for members that have not changed since. */
function useDraft(first: () => ApplicationDraft) {
  const [draft, setDraft] = useState(first);
  const [changed, setChanged] = useState<{ readonly error: unknown; readonly paths: readonly string[] }>();
  const change = (path: string, next: Partial<ApplicationDraft>) => {
    setDraft((current) => ({ ...current, ...next }));
    setChanged((current) => current && { ...current, paths: [...current.paths, path] });
  };
  const errorsOf = (error: unknown): ErrorAt => {
    if (changed?.error !== error) setChanged({ error, paths: [] });
    const isIn = (member: string, path: string) => member === path || member.startsWith(`${path}.`);
    const messages = fieldErrorsOf(error).filter(
      ({ path }) => !changed?.paths.some((one) => isIn(path, one) || isIn(one, path)),
    );
    return (...paths) => messages.find(({ path }) => paths.some((one) => isIn(path, one)))?.message;
  };
  return { draft, change, errorsOf };
}

/** The form of an application with its parts, and its file beside it. */
export function ApplicationEditor({
  application,
  start,
  onSaved,
}: {
  /** Undefined for a new application. */
  readonly application: ManagedApplication | undefined;
  readonly start?: Start | undefined;
  readonly onSaved?: (application: ManagedApplication) => void;
}) {
  const [before] = useState(() => draftOf(controls, application));
  const { draft, change, errorsOf } = useDraft(() => (start ? draftOf(controls, start.source) : before));
  const [message, setMessage] = useState('');
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set(draft.parts.slice(0, 1).map(({ id }) => id)));
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  const { data } = useQuery(hub.read('listAllCategories'));
  const create = useMutation({
    ...hub.change('createApplication', 'catalog'),
    onSuccess: ({ application: { id, name } }) => {
      confirmChange(t('Application {name} is published', { name }));
      release();
      navigate(href('/admin/applications/:id', { id }));
    },
  });
  const update = useMutation({
    ...hub.change('updateApplication', 'catalog'),
    onSuccess: ({ application: saved }) => {
      confirmChange(t('Application {name} is published', { name: saved.name }));
      onSaved?.(saved);
    },
  });
  const { error, isPending } = application ? update : create;
  const errorAt = errorsOf(error);
  const changes = differingMembers(bodyOf(controls, before), bodyOf(controls, draft));
  const isUnchanged = Object.keys(changes).length === 0;
  const { question, release } = useUnsavedInput(!isUnchanged);
  const setInput = (name: string, input: Input) => change(name, { inputs: { ...draft.inputs, [name]: input } });
  const setParts = (parts: readonly PartDraft[]) => change('parts', { parts });
  const setPart = (index: number, name: string, input: Input) =>
    change(`parts.${index}.${name}`, {
      parts: draft.parts.map((part, place) =>
        place === index ? { ...part, inputs: { ...part.inputs, [name]: input } } : part,
      ),
    });
  const controlOf = (
    member: EditedMember,
    path: string,
    input: Input | undefined,
    onChange: (input: Input) => void,
  ) => ({
    key: member.name,
    kind: member.control.kind,
    control: <MemberControl member={member} path={path} input={input ?? ''} errorAt={errorAt} onChange={onChange} />,
  });
  const textItem = (name: 'name' | 'slug', hint?: string) => ({
    key: name,
    kind: 'text' as const,
    control: (
      <TextField
        name={name}
        label={identityLabels[name]}
        {...(hint === undefined ? { required: true } : { hint, mono: true })}
        value={draft[name]}
        error={errorAt(name)}
        onChange={(text) => change(name, { [name]: text })}
      />
    ),
  });
  const categories = (data?.categories ?? []).map(({ id, name, is_private }) => ({
    value: id,
    label: is_private ? t('{name} (private)', { name }) : name,
  }));
  return (
    <div className="split">
      <form
        className="panel"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (application) {
            const { id, resource_version: ifMatch } = application;
            // The members of a new application are those of a change, without the status.
            update.mutate({ query: { id }, body: { ...changes, message } as ApplicationChange, ifMatch });
          } else create.mutate({ body: { ...bodyOf(controls, draft), ...start?.stated, message } });
        }}
      >
        <fieldset className="form-section">
          <h2>{topicHeadings.catalog}</h2>
          <ControlLayout
            items={[
              textItem('name'),
              textItem('slug', t('Empty: derived from the name.')),
              {
                key: 'category_id',
                kind: 'text',
                control: (
                  <SelectField
                    name="category_id"
                    label={identityLabels.category_id}
                    required
                    value={draft.category_id}
                    options={[{ value: '', label: t('Choose…') }, ...categories]}
                    error={errorAt('category_id')}
                    onChange={(category_id) => change('category_id', { category_id })}
                  />
                ),
              },
              ...catalogMembers.map((member) =>
                controlOf(member, member.name, draft.inputs[member.name], (input) => setInput(member.name, input)),
              ),
            ]}
          />
        </fieldset>
        <fieldset className="form-section">
          <h2>{t('Values')}</h2>
          <ControlLayout
            items={valueMembers.map((member) =>
              controlOf(member, member.name, draft.inputs[member.name], (input) => setInput(member.name, input)),
            )}
          />
        </fieldset>
        {draft.parts.map((part, index) => {
          const isOpen = opened.has(part.id) || errorAt(`parts.${index}`) !== undefined;
          return (
            <details
              key={part.id}
              className="form-section"
              open={isOpen}
              onToggle={({ currentTarget: { open } }) =>
                setOpened((current) => {
                  const next = new Set(current);
                  if (open) next.add(part.id);
                  else next.delete(part.id);
                  return next;
                })
              }
            >
              <summary className="strong">{t('Part {name}', { name: nameOf(part) })}</summary>
              {isOpen && (
                <div className="form optional">
                  {partSections.map(({ heading, members }) => (
                    <fieldset key={heading} className="form">
                      {heading !== '' && <h3>{heading}</h3>}
                      <ControlLayout
                        items={members.map((member) =>
                          controlOf(member, `parts.${index}.${member.name}`, part.inputs[member.name], (input) =>
                            setPart(index, member.name, input),
                          ),
                        )}
                      />
                    </fieldset>
                  ))}
                  {draft.parts.length > 1 && (
                    <div>
                      <Button
                        size="small"
                        icon={Trash2}
                        onClick={() => setParts(draft.parts.filter(({ id }) => id !== part.id))}
                      >
                        {t('Remove the part {name}', { name: nameOf(part) })}
                      </Button>
                    </div>
                  )}
                </div>
              )}
            </details>
          );
        })}
        <div className="form-section">
          <div>
            <Button
              icon={Plus}
              onClick={() => {
                const added = partDraftOf(controls);
                setParts([...draft.parts, added]);
                setOpened((current) => new Set([...current, added.id]));
              }}
            >
              {t('Add a part')}
            </Button>
          </div>
        </div>
        <div className="form-section">
          <MessageField
            kind="application"
            name="message"
            value={message}
            error={errorAt('message')}
            onChange={setMessage}
          />
          <ErrorSummary error={error} errorAt={errorAt} labelOf={(path) => labelOf(path, draft)} />
          <FormError
            error={error}
            shown={['name', 'slug', 'category_id', 'message', 'parts', ...Object.keys(draft.inputs)]}
          />
          <div className="actions">
            <Button
              type="submit"
              tone="primary"
              icon={Save}
              pending={isPending}
              blocked={
                blocked(application ? 'updateApplication' : 'createApplication') ??
                (application && isUnchanged ? t('Nothing is changed.') : undefined)
              }
            >
              {application ? t('Publish the changes') : t('Publish')}
            </Button>
          </div>
        </div>
      </form>
      {question}
      <div className="split-sticky">
        <FilePanel draft={draft} category={data?.categories.find(({ id }) => id === draft.category_id)?.slug ?? ''} />
      </div>
    </div>
  );
}

/** The file of the application, and the advice of the hub about it. */
function FilePanel({ draft, category }: { readonly draft: ApplicationDraft; readonly category: string }) {
  const shown = useDeferredValue(draft);
  const yaml = applicationYaml(fileOf(controls, shown, category));
  const blocked = useBlocked();
  const check = useMutation(hub.change('readApplicationFile'));
  return (
    <Panel
      title={t('File')}
      actions={
        <>
          <Button
            size="small"
            icon={FileCheck}
            pending={check.isPending}
            blocked={blocked('readApplicationFile')}
            onClick={() => check.mutate({ body: { yaml } })}
          >
            {t('Check')}
          </Button>
          <CopyButton text={yaml} action={t('Copy the file')} />
        </>
      }
    >
      <div className="stack-small">
        {check.data && <FileWarnings file={check.data} />}
        {fieldErrorsOf(check.error).length > 0 && (
          <ul role="alert" className="bullets text-bad">
            {fieldErrorsOf(check.error).map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
        )}
        <FormError error={check.error} shown={['yaml']} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
        <pre className="code" tabIndex={0}>
          {yaml}
        </pre>
      </div>
    </Panel>
  );
}
