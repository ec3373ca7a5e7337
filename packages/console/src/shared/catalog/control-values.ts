import type { AnyControl, CheckboxControl, Marks, ObjectsControl, PairsControl, TemplateControl } from '@svc/contract';
import { entriesOf, lineOf, linesOf, textOfLine, wordsOf } from '../ui/controls/pairs.ts';

/**
 * What a user has entered for a member: a text, whether a box is checked, or the objects of a list.
 */
export type Input = string | boolean | readonly ObjectInput[];

export interface ObjectInput {
  /** Identifies the object while the form is open. */
  readonly id: number;
  readonly members: Readonly<Record<string, string | boolean>>;
}

type Objects = readonly Readonly<Record<string, unknown>>[];
type TextualControl = Exclude<AnyControl, CheckboxControl | ObjectsControl>;

/** The values of the controls that consist of one text. */
interface TextValues {
  readonly text: string;
  readonly prose: string;
  readonly markdown: string;
  readonly source: string;
  readonly select: string;
  readonly number: number;
  readonly words: readonly string[];
  readonly tags: readonly string[];
  readonly lines: readonly string[];
  readonly map: Readonly<Record<string, string>>;
  readonly ports: readonly Port[];
  readonly mounts: readonly Mount[];
}

interface Port {
  readonly containerPort: number;
  readonly protocol: string;
  readonly host_port?: number | undefined;
}

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly read_only?: boolean | undefined;
}

interface TextFormat<V> {
  readonly partsOf: (value: V) => readonly string[];
  /** What is between the parts. */
  readonly separator: string;
  readonly parse: (text: string) => V;
}

const verbatim: TextFormat<string> = { partsOf: (value) => [value], separator: '', parse: (text) => text };

const formats: { readonly [K in keyof TextValues]: TextFormat<TextValues[K]> } = {
  text: verbatim,
  prose: verbatim,
  markdown: verbatim,
  source: verbatim,
  select: verbatim,
  number: { partsOf: (value) => [String(value)], separator: '', parse: Number },
  words: { partsOf: (words) => words, separator: ' ', parse: wordsOf },
  tags: {
    partsOf: (tags) => tags,
    separator: ', ',
    parse: (text) =>
      text
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
  },
  lines: {
    partsOf: (lines) => lines.map((line) => (line === '' ? '""' : lineOf(line))),
    separator: '\n',
    parse: (text) => linesOf(text).map(textOfLine),
  },
  map: {
    partsOf: (map) => Object.entries(map).map(([key, value]) => `${key}=${value}`),
    separator: '\n',
    parse: (text) => Object.fromEntries(entriesOf(text)),
  },
  ports: {
    partsOf: (ports) =>
      ports.map(
        ({ containerPort, protocol, host_port }) =>
          `${containerPort}/${protocol}${host_port === undefined ? '' : `=${host_port}`}`,
      ),
    separator: '\n',
    parse: (text) =>
      linesOf(text).map((line) => {
        const [port = '', proposed] = line.split('=');
        const [number = '', protocol = 'TCP'] = port.trim().split('/');
        return {
          containerPort: Number(number),
          protocol,
          ...(proposed !== undefined && { host_port: Number(proposed) }),
        };
      }),
  },
  mounts: {
    partsOf: (mounts) =>
      mounts.map(({ name, mountPath, read_only }) => `${name}=${lineOf(mountPath)}${read_only ? READ_ONLY : ''}`),
    separator: '\n',
    parse: (text) => entriesOf(text).map(([name, path]) => mountOf(name, path)),
  },
};

/** The end of a mount that is read-only. No path contains a colon. */
const READ_ONLY = ':ro';

const mountOf = (name: string, path: string): Mount =>
  path.endsWith(READ_ONLY)
    ? { name, mountPath: textOfLine(path.slice(0, -READ_ONLY.length)), read_only: true }
    : { name, mountPath: textOfLine(path) };

const pairsFormat = ({
  members: [first, second],
}: PairsControl): TextFormat<readonly Readonly<Record<string, string>>[]> => ({
  partsOf: (pairs) => pairs.map((pair) => `${pair[first]}=${lineOf(pair[second] ?? '')}`),
  separator: '\n',
  parse: (text) => entriesOf(text).map(([key, value]) => ({ [first]: key, [second]: textOfLine(value) })),
});

const formatOf = (control: TextualControl) =>
  // The contract requires values of the type of this format for the kind of the control.
  (control.kind === 'pairs' ? pairsFormat(control) : formats[control.kind]) as TextFormat<unknown>;

/** A value as short texts: one for each entry of a list. */
export function partsOf(control: AnyControl, value: unknown): readonly string[] {
  if (value === null) return [];
  if (control.kind === 'checkbox') return [String(value)];
  if (control.kind !== 'objects') return formatOf(control).partsOf(value);
  const names = Object.keys(control.members);
  // The contract requires a list of objects for this kind.
  return (value as Objects).map((object) => names.flatMap((name) => object[name] ?? []).join(' '));
}

/** The input that stands for a value. */
export function inputOf(control: AnyControl, value: unknown): Input {
  if (control.kind === 'checkbox') return value === true;
  // The contract requires a list of objects for this kind.
  if (control.kind === 'objects') return (value as Objects).map((object) => objectInput(control, object));
  return partsOf(control, value).join(formatOf(control).separator);
}

let lastId = 0;

/** The input for an object, or for a new one. */
export function objectInput(
  { members, marks }: Pick<ObjectsControl, 'members' | 'marks'>,
  object: Objects[number] = {},
): ObjectInput {
  lastId += 1;
  const inputs = Object.entries(members).map(([name, { control, isOptional = false }]) => {
    const given = object[name];
    if (given !== undefined) return [name, inputOf(control, given)];
    if (control.kind === 'checkbox') return [name, false];
    const [first = ''] = control.kind === 'select' && !isOptional ? Object.keys(control.options) : [];
    return [name, first];
  });
  const all = Object.fromEntries(inputs);
  return { id: lastId, members: marks ? { ...all, ...withoutMarks(marks, String(all[marks.of])) } : all };
}

/** The text without the marks at its end, and which boxes they stand for. */
function withoutMarks({ of, boxes }: Marks, text: string): ObjectInput['members'] {
  const checked: Record<string, boolean> = {};
  let rest = text;
  for (const { name, mark, requires } of boxes) {
    const end = rest.trimEnd();
    const isChecked = end.endsWith(mark) && (requires === undefined || checked[requires] === true);
    checked[name] = isChecked;
    if (isChecked) rest = end.slice(0, -mark.length).trimEnd();
  }
  return { ...checked, [of]: rest };
}

/** The text with the marks of the boxes that are checked. */
function withMarks({ of, boxes }: Marks, inputs: ObjectInput['members']): string {
  const checked = boxes.filter(
    ({ name, requires }) => inputs[name] === true && (requires === undefined || inputs[requires] === true),
  );
  const marks = checked.map(({ mark }) => mark).reverse();
  const text = String(inputs[of] ?? '');
  return marks.length === 0 ? text : [text.trimEnd(), ...marks].filter((part) => part !== '').join(' ');
}

/** The value that an input stands for. The service validates it. */
export function valueOfInput(
  { control, default: unset }: Pick<TemplateControl, 'control' | 'default'>,
  input: Input,
): unknown {
  if (control.kind === 'checkbox') return input === true;
  if (control.kind === 'objects') {
    return typeof input === 'object' ? input.map(({ members }) => objectOf(control, members)) : [];
  }
  return input === '' && unset === null ? null : formatOf(control).parse(String(input));
}

function objectOf(control: ObjectsControl, given: ObjectInput['members']): object {
  const { marks } = control;
  const inputs = marks ? { ...given, [marks.of]: withMarks(marks, given) } : given;
  const entries = Object.entries(control.members).flatMap(([name, { control: own, isOptional }]) => {
    const input = inputs[name] ?? '';
    return isOptional && input === '' ? [] : [[name, valueOfInput({ control: own, default: '' }, input)]];
  });
  return Object.fromEntries(entries);
}

/** The members of which the value differs, so that a change contains nothing else. */
export function differingMembers<T extends object>(before: T, now: T): Partial<T> {
  const old = new Map(Object.entries(before));
  const changed = Object.entries(now).filter(
    ([member, value]) => JSON.stringify(value) !== JSON.stringify(old.get(member)),
  );
  // A part of the members of `now`; fromEntries loses which.
  return Object.fromEntries(changed) as Partial<T>;
}

/** Whether a value is the default of its member. */
export const isDefault = ({ default: unset }: TemplateControl, value: unknown): boolean =>
  JSON.stringify(value) === JSON.stringify(unset);
