// How the consoles edit the members of a template. Labels, hints and options are English texts:
// `pnpm console:texts` adds them to the catalogues of the consoles.

/** One line of text. If the default of the member is `null`, an empty line is `null`. */
export interface TextControl {
  readonly kind: 'text';
  readonly hint?: string;
}

/** Several lines of text: prose, or the source of a Markdown document or of another file. */
export interface TextAreaControl {
  readonly kind: 'prose' | 'markdown' | 'source';
  readonly hint?: string;
}

export interface NumberControl {
  readonly kind: 'number';
  readonly hint?: string;
}

export interface CheckboxControl {
  readonly kind: 'checkbox';
}

/** One of several values. */
export interface SelectControl<V extends string = string> {
  readonly kind: 'select';
  readonly hint?: string;
  /** The label of each value. */
  readonly options: Readonly<Record<V, string>>;
}

/**
 * A list of texts in one field: words that are separated by spaces or commas, tags that are
 * separated by commas, or one text per line.
 */
export interface TextsControl {
  readonly kind: 'words' | 'tags' | 'lines';
  readonly hint: string;
}

/** A map of texts: `key=value`, one per line. */
export interface MapControl {
  readonly kind: 'map';
  readonly hint: string;
}

/** A list of objects with two texts: `first=second`, one per line. */
export interface PairsControl<Member extends string = string> {
  readonly kind: 'pairs';
  readonly hint: string;
  readonly members: readonly [first: Member, second: Member];
}

/** A list of ports: `port/protocol`, one per line. */
export interface PortsControl {
  readonly kind: 'ports';
  readonly hint: string;
}

/** A list of mounts: `name=/path`, one per line, with `:ro` at the end if it is read-only. */
export interface MountsControl {
  readonly kind: 'mounts';
  readonly hint: string;
}

/** A list of objects, each with a control for each of its members. */
export interface ObjectsControl<Item extends object = Readonly<Record<string, unknown>>> {
  readonly kind: 'objects';
  /** The label of the button that adds an object. */
  readonly add: string;
  readonly members: { readonly [M in keyof Item]-?: ObjectMember<Item[M]> };
  readonly marks?: Marks<Extract<keyof Item, string>>;
}

/** Check boxes that are stored as marks at the end of a text. */
export interface Marks<Member extends string = string> {
  /** The member with the text. */
  readonly of: Member;
  /** In the text, the mark of the first box is the last one. */
  readonly boxes: readonly MarkBox[];
}

interface MarkBox {
  /** The name of the box in the form, which no member has. */
  readonly name: string;
  readonly mark: string;
  readonly label: string;
  readonly hint: string;
  /** The name of an earlier box that must be checked. */
  readonly requires?: string;
}

/** A member of an object in a list. If it is optional, an empty control leaves it out. */
export type ObjectMember<V = unknown> = {
  readonly label: string;
  readonly control: unknown extends V ? ObjectMemberControl : ObjectMemberControl & Control<Exclude<V, undefined>>;
} & (unknown extends V
  ? { readonly isOptional?: boolean }
  : undefined extends V
    ? { readonly isOptional: true }
    : { readonly isOptional?: false });
type ObjectMemberControl = TextControl | TextAreaControl | NumberControl | CheckboxControl | SelectControl;

/** The controls that can edit the values of a type. */
export type Control<V> = [V] extends [boolean]
  ? CheckboxControl
  : [V] extends [number]
    ? NumberControl
    : [V] extends [string | null]
      ? TextControl | TextAreaControl | SelectControl<Extract<V, string>>
      : [V] extends [readonly string[]]
        ? TextsControl
        : [V] extends [readonly { readonly containerPort: number; readonly protocol: string }[]]
          ? PortsControl
          : [V] extends [readonly { readonly name: string; readonly mountPath: string }[]]
            ? MountsControl
            : [V] extends [readonly (infer Item extends object)[]]
              ? PairsControl<Extract<keyof Item, string>> | ObjectsControl<Item>
              : [V] extends [Readonly<Record<string, string>>]
                ? MapControl
                : never;

/** A control of any kind. */
export type AnyControl =
  | TextControl
  | TextAreaControl
  | NumberControl
  | CheckboxControl
  | SelectControl
  | TextsControl
  | MapControl
  | PairsControl
  | PortsControl
  | MountsControl
  | ObjectsControl;

/** The texts of a member: its label, and those of its control. */
export function textsOfControl({
  label,
  control,
}: {
  readonly label: string;
  readonly control: AnyControl;
}): readonly string[] {
  const hint = 'hint' in control ? control.hint : undefined;
  const own = hint === undefined ? [label] : [label, hint];
  if (control.kind === 'select') return [...own, ...Object.values(control.options)];
  if (control.kind !== 'objects') return own;
  const boxes = control.marks?.boxes ?? [];
  return [
    ...own,
    control.add,
    ...Object.values(control.members).flatMap(textsOfControl),
    ...boxes.flatMap((box) => [box.label, box.hint]),
  ];
}
