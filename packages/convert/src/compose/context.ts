import type { ApplicationInput } from '../application.ts';
import { type Entry, type Fate, type HarmlessReason, harmless, shortened } from '../report.ts';
import { shownOf, type Tree } from './tree.ts';

/** A reason for which a file is not converted. */
export class Refused extends Error {}

/** Names of variables whose values are probably secret. */
const SECRET_NAME = /PASS|PWD|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|ENCRYPTION_?KEY|CREDENTIAL/i;

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

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

/** The state of one conversion: the fates of keys, and the inputs that its variables become. */
export class Conversion {
  readonly file: string;
  readonly #entries: Entry[] = [];
  readonly #fated = new Set<string>();
  readonly #inputs = new Map<string, ApplicationInput>();

  constructor(file: string) {
    this.file = file;
  }

  get entries(): readonly Entry[] {
    return this.#entries.toSorted((one, other) => one.line - other.line);
  }

  get inputs(): readonly ApplicationInput[] {
    return [...this.#inputs.values()];
  }

  #add(key: Key, fate: Fate, reason: string): void {
    const { part, path, tree } = key;
    this.#fated.add(idOf(key));
    this.#entries.push({
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
    return path.some((_, index) => this.#fated.has(idOf({ part, path: path.slice(0, index + 1) })));
  }

  /**
   * The input that a variable of the file becomes. @throws Refused if another variable has its name
   */
  input(variable: string, given: { readonly default?: string | undefined; readonly isRequired: boolean }): string {
    const lower = variable.toLowerCase();
    const name = /^[a-z]/.test(lower) ? lower.slice(0, 63) : `v_${lower}`.slice(0, 63);
    const present = this.#inputs.get(name);
    if (present && present.label !== variable)
      throw new Refused(`the variables ${present.label} and ${variable} cannot be told apart`);
    const isSecret = isSecretName(variable);
    const fallback = isSecret ? undefined : (given.default ?? present?.default);
    this.#inputs.set(name, {
      name,
      label: variable,
      type: isSecret ? 'secret' : 'text',
      required: fallback === undefined && (isSecret || given.isRequired || present?.required === true),
      ...(fallback !== undefined && { default: fallback }),
    });
    return name;
  }
}

const HIDDEN = '(secret)';

/** A text such as `PASSWORD=value` without the value. */
function withoutSecret(text: string): string {
  const [name = ''] = text.split('=', 1);
  return name !== text && isSecretName(name) ? `${name}=${HIDDEN}` : text;
}

const idOf = ({ part, path }: Pick<Key, 'part' | 'path'>): string => JSON.stringify([part, ...path]);
