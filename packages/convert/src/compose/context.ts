import type { ApplicationInput, GeneratedValue } from '../application.ts';
import { type Entry, type Fate, type HarmlessReason, harmless, shortened } from '../report.ts';
import { isSecretName, isSwitch } from '../secret-names.ts';
import { shownOf, type Tree } from './tree.ts';

/** A reason for which a file is not converted. */
export class Refused extends Error {}

/** Whether the value of a variable is secret: its name decides, unless its default is a switch. */
export const isSecretVariable = ({ variable, isSecret, fallback = '' }: Variable): boolean =>
  isSecret ?? (isSecretName(variable) && !isSwitch(fallback));

/** A key of the source. */
export interface Key {
  readonly part: string | null;
  /** The path of the key. */
  readonly path: readonly string[];
  readonly tree: Tree;
}

export const childOf = ({ part, path }: Key, name: string | number, tree: Tree): Key => ({
  part,
  path: [...path, String(name)],
  tree,
});

/** A variable that the operator sets. */
export interface Variable {
  readonly kind: 'variable';
  readonly variable: string;
  readonly fallback: string | undefined;
  readonly isRequired: boolean;
  /** What a person sees; by default, the name of the variable. */
  readonly label?: string;
  /** The only values; by default, any text. */
  readonly choices?: readonly string[];
  /** Whether its value is secret. By default, its name decides. */
  readonly isSecret?: boolean;
  readonly harmless?: HarmlessReason;
  readonly note?: string;
}

/** A value that the fleet or the application determines. */
export interface Determined {
  readonly kind: 'determined';
  readonly placeholder: string;
  /** Its text where the application has no placeholders; undefined: there is none. */
  readonly plain?: string;
  readonly harmless?: HarmlessReason;
  readonly note?: string;
}

/** A text of a file: its characters, and what stands for values. */
export type Piece = string | Variable | Determined;

/** How texts of a kind of file contain variables. `part` is the service of the text. @throws Refused */
export type ReadPieces = (text: string, part: string | null) => readonly Piece[];

/** A secret that the file contains: the value of a variable of a part. */
interface Literal {
  readonly key: Key;
  readonly name: string;
  readonly value: string;
}

/** The state of one conversion: the fates of keys, and the inputs that its variables become. */
export class Conversion {
  readonly file: string;
  readonly pieces: ReadPieces;
  /** The secrets that the file contains, without fates yet. */
  readonly literals: Literal[] = [];
  readonly #entries = new Map<string, Entry>();
  readonly #inputs = new Map<string, { readonly variable: string; readonly input: ApplicationInput }>();
  readonly #generated = new Map<string, GeneratedValue>();
  readonly #volumes = new Map<string, string>();
  readonly #volumeNames = new Set<string>();

  constructor(file: string, pieces: ReadPieces) {
    this.file = file;
    this.pieces = pieces;
  }

  get entries(): readonly Entry[] {
    return [...this.#entries.values()].toSorted((one, other) => one.line - other.line);
  }

  get inputs(): readonly ApplicationInput[] {
    return [...this.#inputs.values()].map(({ input }) => input);
  }

  get generated(): readonly GeneratedValue[] {
    return [...this.#generated.values()];
  }

  /** Records a fate. A refusal replaces another fate of the key. */
  #add(key: Key, fate: Fate, reason: string): void {
    const { part, path, tree } = key;
    const id = idOf(key);
    if (this.#entries.get(id)?.class === 'refused') return;
    this.#entries.set(id, {
      file: this.file,
      line: tree.line,
      part,
      member: path.join('.'),
      value: path.some(isSecretName) ? HIDDEN : shortened(withoutSecret(shownOf(tree))),
      class: fate,
      reason,
    });
  }

  same(key: Key): void {
    this.#add(key, 'same', '');
  }

  harmless(key: Key, reason: HarmlessReason): void {
    this.#add(key, 'harmless', harmless[reason]);
  }

  note(key: Key, reason: string): void {
    this.#add(key, 'note', reason);
  }

  refuse(key: Key, reason: string): void {
    this.#add(key, 'refused', reason);
  }

  /** Whether the key, or one above it, has a fate. */
  hasFate({ part, path }: Pick<Key, 'part' | 'path'>): boolean {
    return path.some((_, index) => this.#entries.has(idOf({ part, path: path.slice(0, index + 1) })));
  }

  /**
   * The name of the input that a variable of the file becomes. @throws Refused if another variable has its name
   */
  input(given: Variable): string {
    const { variable, label = variable, choices } = given;
    const name = nameOf(variable);
    const present = this.#inputs.get(name);
    if (present && present.variable !== variable)
      throw new Refused(`the variables ${present.variable} and ${variable} cannot be told apart`);
    const isSecret = isSecretVariable(given);
    const wasRequired = present?.input.required === true && present.input.default === undefined;
    const losesDefault = isSecret && (given.fallback ?? '') !== '';
    const fallback = isSecret ? undefined : (given.fallback ?? present?.input.default);
    this.#inputs.set(name, {
      variable,
      input: {
        name,
        label: shortened(label.replaceAll(/\s+/g, ' ').trim() || variable),
        type: isSecret ? 'secret' : choices ? 'choice' : 'text',
        ...(!isSecret && choices && { choices }),
        required: fallback === undefined && (given.isRequired || losesDefault || wasRequired),
        ...(fallback !== undefined && { default: fallback }),
      },
    });
    return name;
  }

  /** The name of a new input for a secret of a variable of a service. @throws Refused */
  secretInput(variable: string, service: string | null): string {
    const own = [variable, `${service ?? 'part'}_${variable}`].find((name) => !this.#inputs.has(nameOf(name)));
    if (own === undefined) throw new Refused(`has the variable ${variable}, whose name other inputs have`);
    return this.input({ kind: 'variable', variable: own, fallback: undefined, isRequired: true, isSecret: true });
  }

  /** The placeholder of a value that the fleet generates for this variable of the file. */
  generate(variable: string, form: Omit<GeneratedValue, 'name'>): string {
    const name = nameOf(variable);
    this.#generated.set(name, { name, ...form });
    return `\${generated.${name}}`;
  }

  /** The name of the volume for a source, which no other source has. `proposal` is a text with a similar name. @throws Refused */
  volume(source: string, proposal: string): string {
    const present = this.#volumes.get(source);
    if (present !== undefined) return present;
    if (this.#volumes.size >= MAX_VOLUMES) throw new Refused(`has more than ${MAX_VOLUMES} volumes in the whole file`);
    const name = volumeNameOf(proposal);
    let free = name;
    for (let number = 2; this.#volumeNames.has(free); number += 1) free = `${name}-${number}`;
    this.#volumes.set(source, free);
    this.#volumeNames.add(free);
    return free;
  }
}

const MAX_NAME = 63;
const MAX_VOLUME = 40;
const MAX_VOLUMES = 512;

/** A DNS label for a volume. */
const volumeNameOf = (source: string): string =>
  source
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, MAX_VOLUME)
    .replace(/-$/, '') || 'data';

/** The name of an input or a generated value for a variable. */
function nameOf(variable: string): string {
  const lower = variable.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
  return (/^[a-z]/.test(lower) ? lower : `v_${lower}`).slice(0, MAX_NAME);
}

const HIDDEN = '(secret)';

/** A text such as `PASSWORD=value` without the value. */
function withoutSecret(text: string): string {
  const [name = ''] = text.split('=', 1);
  return name !== text && isSecretName(name) ? `${name}=${HIDDEN}` : text;
}

const idOf = ({ part, path }: Pick<Key, 'part' | 'path'>): string => JSON.stringify([part, ...path]);
