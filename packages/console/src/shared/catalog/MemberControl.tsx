import type { AnyControl, ObjectMember, ObjectsControl } from '@svc/contract';
import { Plus, Trash2 } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { declaredText, t } from '../texts/texts.ts';
import { Button } from '../ui/controls/Button.tsx';
import { CheckField, FieldError, SelectField, TextAreaField, TextField } from '../ui/controls/Field.tsx';
import { type Input, inputOf, type ObjectInput, objectInput } from './control-values.ts';

/** Returns the message for a member, or for the first of several that has one. */
export type ErrorAt = (...paths: readonly string[]) => string | undefined;

/** What a member of a template, or of an object in a list, declares. */
interface Member extends Pick<ObjectMember, 'label' | 'isOptional'> {
  readonly control: AnyControl;
  /** A value that shows the form of the input. */
  readonly example?: unknown;
  /** The member is one of an object in a list, where space is scarce. */
  readonly isInObject?: boolean;
}

interface ControlProps {
  readonly member: Member;
  /** The path of the member in problem documents. */
  readonly path: string;
  readonly input: Input;
  readonly errorAt: ErrorAt;
  readonly onChange: (input: Input) => void;
}

/** How much space the control of a kind needs. */
function spaceOf(kind: AnyControl['kind']): 'column' | 'row' | 'box' {
  switch (kind) {
    case 'checkbox':
      return 'box';
    case 'prose':
    case 'markdown':
    case 'source':
    case 'lines':
    case 'objects':
      return 'row';
    default:
      return 'column';
  }
}

interface Item {
  readonly key: string;
  readonly kind: AnyControl['kind'];
  readonly control: ReactNode;
}

/**
 * Controls side by side, then those that need a whole row, and the checkboxes. `action` is at the
 * end of the last row.
 */
export function ControlLayout({ items, action }: { readonly items: readonly Item[]; readonly action?: ReactNode }) {
  const controlsIn = (space: ReturnType<typeof spaceOf>) =>
    items
      .filter(({ kind }) => spaceOf(kind) === space)
      .map(({ key, control }) => <Fragment key={key}>{control}</Fragment>);
  const columns = controlsIn('column');
  const boxes = controlsIn('box');
  const rows = controlsIn('row');
  const hasOnlyColumns = rows.length === 0 && boxes.length === 0;
  return (
    <>
      {columns.length > 0 && (
        <div className="fields">
          {columns}
          {hasOnlyColumns && action && <div className="fields-action">{action}</div>}
        </div>
      )}
      {rows}
      {!hasOnlyColumns && (boxes.length > 0 || action) && (
        <div className="spread">
          <div className="row">{boxes}</div>
          {action}
        </div>
      )}
    </>
  );
}

/** The control that a member declares. */
export function MemberControl({ member, path, input, errorAt, onChange }: ControlProps) {
  const { control, example, isInObject = false } = member;
  const label = declaredText(member.label);
  if (control.kind === 'checkbox')
    return <CheckField name={path} label={label} checked={input === true} onChange={(checked) => onChange(checked)} />;
  if (control.kind === 'objects')
    return (
      <ObjectList control={control} label={label} path={path} input={input} errorAt={errorAt} onChange={onChange} />
    );
  const shown = example === undefined ? '' : inputOf(control, example);
  const field = {
    name: path,
    label,
    value: typeof input === 'string' ? input : '',
    error: errorAt(path),
    onChange: (text: string) => onChange(text),
    ...(control.hint === undefined ? {} : { hint: declaredText(control.hint) }),
    ...(typeof shown === 'string' ? { placeholder: shown } : {}),
  };
  switch (control.kind) {
    case 'select':
      return <SelectField {...field} options={optionsOf(control.options, member.isOptional)} />;
    case 'number':
      return <TextField {...field} type="number" mono />;
    case 'text':
    case 'words':
      return <TextField {...field} mono />;
    case 'tags':
      return <TextField {...field} />;
    case 'prose':
      return <TextAreaField {...field} rows={isInObject ? 1 : 2} mono={false} />;
    case 'markdown':
      return <TextAreaField {...field} rows={14} />;
    case 'source':
      return <TextAreaField {...field} rows={6} />;
    case 'map':
    case 'pairs':
    case 'mounts':
    case 'ports':
      return <TextAreaField {...field} rows={2} />;
    case 'lines':
      return <TextAreaField {...field} rows={3} />;
  }
}

const optionsOf = (options: Readonly<Record<string, string>>, isOptional = false) => [
  ...(isOptional ? [{ value: '', label: t('Not set') }] : []),
  ...Object.entries(options).map(([value, label]) => ({ value, label: declaredText(label) })),
];

/** The boxes for the marks of a text that the object can have. */
const boxesOf = ({ marks }: ObjectsControl, { members }: ObjectInput) =>
  (marks?.boxes ?? []).filter(({ requires }) => requires === undefined || members[requires] === true);

/** A list of objects: the controls of each, with buttons that add and remove objects. */
function ObjectList({
  control,
  label,
  path,
  input,
  errorAt,
  onChange,
}: Omit<ControlProps, 'member'> & { readonly control: ObjectsControl; readonly label: string }) {
  const objects: readonly ObjectInput[] = typeof input === 'object' ? input : [];
  const members = Object.entries(control.members);
  const change = (id: number, name: string, value: string | boolean) =>
    onChange(
      objects.map((object) =>
        object.id === id ? { ...object, members: { ...object.members, [name]: value } } : object,
      ),
    );
  const isShownInObject = objects.some((_, index) => errorAt(`${path}.${index}`) !== undefined);
  const error = isShownInObject ? undefined : errorAt(path);
  return (
    <fieldset className="objects" name={path} tabIndex={-1}>
      <legend>{label}</legend>
      {error !== undefined && <FieldError text={error} />}
      {objects.map((object, index) => (
        <fieldset
          key={object.id}
          className="object"
          aria-label={t('{label}, entry {number}', { label, number: index + 1 })}
        >
          <ControlLayout
            items={[
              ...members.map(([name, member]) => ({
                key: name,
                kind: member.control.kind,
                control: (
                  <MemberControl
                    member={{ ...member, isInObject: true }}
                    path={`${path}.${index}.${name}`}
                    input={object.members[name] ?? ''}
                    errorAt={errorAt}
                    onChange={(value) => typeof value !== 'object' && change(object.id, name, value)}
                  />
                ),
              })),
              ...boxesOf(control, object).map(({ name, label: words, hint }) => ({
                key: name,
                kind: 'checkbox' as const,
                control: (
                  <CheckField
                    label={declaredText(words)}
                    hint={declaredText(hint)}
                    checked={object.members[name] === true}
                    onChange={(checked) => change(object.id, name, checked)}
                  />
                ),
              })),
            ]}
            action={
              <Button
                size="small"
                tone="ghost"
                icon={Trash2}
                onClick={() => onChange(objects.filter(({ id }) => id !== object.id))}
              >
                {t('Remove')}
              </Button>
            }
          />
        </fieldset>
      ))}
      <div>
        <Button size="small" icon={Plus} onClick={() => onChange([...objects, objectInput(control)])}>
          {declaredText(control.add)}
        </Button>
      </div>
    </fieldset>
  );
}
