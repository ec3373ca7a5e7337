import type { AnyControl, CheckboxControl, ObjectsControl, PairsControl, TemplateControl } from '@svc/contract';
import { entriesOf, linesOf, wordsOf } from '../ui/controls/pairs.ts';

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
  readonly select: string;
  readonly number: number;
  readonly words: readonly string[];
  readonly tags: readonly string[];
  readonly lines: readonly string[];
  readonly map: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly containerPort: number; readonly protocol: string }[];
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
  lines: { partsOf: (lines) => lines, separator: '\n', parse: linesOf },
  map: {
    partsOf: (map) => Object.entries(map).map(([key, value]) => `${key}=${value}`),
    separator: '\n',
    parse: (text) => Object.fromEntries(entriesOf(text)),
  },
  ports: {
    partsOf: (ports) => ports.map(({ containerPort, protocol }) => `${containerPort}/${protocol}`),
    separator: '\n',
    parse: (text) =>
      linesOf(text).map((line) => {
        const [number = '', protocol = 'TCP'] = line.split('/');
        return { containerPort: Number(number), protocol };
      }),
  },
};

const pairsFormat = ({
  members: [first, second],
}: PairsControl): TextFormat<readonly Readonly<Record<string, string>>[]> => ({
  partsOf: (pairs) => pairs.map((pair) => `${pair[first]}=${pair[second]}`),
  separator: '\n',
  parse: (text) => entriesOf(text).map(([key, value]) => ({ [first]: key, [second]: value })),
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
export function objectInput({ members }: Pick<ObjectsControl, 'members'>, object: Objects[number] = {}): ObjectInput {
  lastId += 1;
  const inputs = Object.entries(members).map(([name, { control, isOptional = false }]) => {
    const given = object[name];
    if (given !== undefined) return [name, inputOf(control, given)];
    if (control.kind === 'checkbox') return [name, false];
    const [first = ''] = control.kind === 'select' && !isOptional ? Object.keys(control.options) : [];
    return [name, first];
  });
  return { id: lastId, members: Object.fromEntries(inputs) };
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

function objectOf(control: ObjectsControl, inputs: ObjectInput['members']): object {
  const entries = Object.entries(control.members).flatMap(([name, { control: own, isOptional }]) => {
    const input = inputs[name] ?? '';
    return isOptional && input === '' ? [] : [[name, valueOfInput({ control: own, default: '' }, input)]];
  });
  return Object.fromEntries(entries);
}

/** Whether a value is the default of its member. */
export const isDefault = ({ default: unset }: TemplateControl, value: unknown): boolean =>
  JSON.stringify(value) === JSON.stringify(unset);
