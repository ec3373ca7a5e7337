import { type Conversion, type Piece, Refused } from './context.ts';
import type { PartDraft } from './rules.ts';
import type { Tree } from './tree.ts';
import { escaped, withPlaceholders } from './variables.ts';

/** The command of a health check: a text for a shell, or words; undefined: it is switched off. @throws Refused */
function commandOf(test: Tree): string | readonly string[] | undefined {
  if (test.kind === 'text') return test.text;
  if (test.kind === 'map') throw new Refused('must be a text or a list');
  const [kind = '', ...rest] = test.items.map((item) => (item.kind === 'text' ? item.text : ''));
  if (kind === 'NONE') return undefined;
  if (kind === 'CMD-SHELL') return rest.join(' ');
  if (kind !== 'CMD') throw new Refused('must begin with CMD, CMD-SHELL or NONE');
  return rest;
}

/** The maximum length of the variable that configures the health check. */
const MAX_VALUE = 1024;

interface Check {
  /** The value of `SVC_HEALTH_CHECK`; undefined: the part has none. */
  readonly value: string | undefined;
  /** What a person must read; undefined: nothing. */
  readonly note: string | undefined;
  /** Variables that the part has only for the check. */
  readonly added?: ReadonlyMap<string, string>;
}

const LEFT_OUT = (why: string) => `The health check is left out: ${why}. The part is ready when its program runs.`;

/** What the health check of a service becomes. The variables of the part are known. @throws Refused */
export function healthCheckOf(conversion: Conversion, part: string | null, test: Tree, draft: PartDraft): Check {
  const command = commandOf(test);
  if (command === undefined) return { value: undefined, note: undefined };
  const shell = new Shell(conversion, draft);
  const line =
    typeof command === 'string'
      ? shell.text(conversion.pieces(command, part))
      : command.map((word) => shell.word(conversion.pieces(word, part))).join(' ');
  if (shell.unknown !== undefined)
    return { value: undefined, note: LEFT_OUT(`it contains ${shell.unknown} between single quotes`) };
  const value = `exec:${onOneLine(line.trim())}`;
  if (value.length > MAX_VALUE) return { value: undefined, note: LEFT_OUT(`it has more than ${MAX_VALUE} characters`) };
  const note =
    shell.fixed === undefined
      ? undefined
      : `The health check contains the default of ${shell.fixed}. Correct it if the operator enters another value.`;
  return { value: escaped(value), note, added: shell.added };
}

/** The beginning of names of variables that only the health check reads. */
const CHECKED = 'HEALTH_CHECK_';

/** Writes commands for a shell in which values of inputs are variables of the part. */
class Shell {
  /** A variable without a text here. */
  unknown: string | undefined;
  /** A variable whose default is written instead. */
  fixed: string | undefined;
  /** Variables that the part has only for the check. */
  readonly added = new Map<string, string>();
  readonly #conversion: Conversion;
  readonly #names: Map<string, string>;

  constructor(conversion: Conversion, { env = [] }: PartDraft) {
    this.#conversion = conversion;
    const named = env.filter(({ name }) => /^[A-Za-z_]\w*$/.test(name));
    this.#names = new Map(named.map(({ name, value }) => [value, name]));
  }

  /** A text for a shell. It inserts no variables between single quotes. */
  text(pieces: readonly Piece[]): string {
    const isQuoted = pieces.some((piece) => typeof piece === 'string' && piece.includes("'"));
    return pieces
      .map((piece) => (typeof piece === 'string' ? piece : isQuoted ? this.#plain(piece) : this.#reference(piece)))
      .join('');
  }

  /** A word that the shell does not divide. */
  word(pieces: readonly Piece[]): string {
    if (pieces.some((piece) => typeof piece !== 'string'))
      return `"${pieces.map((piece) => (typeof piece === 'string' ? piece.replaceAll(/["\\$`]/g, '\\$&') : this.#reference(piece))).join('')}"`;
    const word = pieces.join('');
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
  }

  /** A reference to the variable of the part that has the value. */
  #reference(piece: Exclude<Piece, string>): string {
    const value = withPlaceholders(this.#conversion, [piece]);
    const present = this.#names.get(value);
    if (present !== undefined) return `\${${present}}`;
    const name = `${CHECKED}${this.added.size + 1}`;
    this.#names.set(value, name);
    this.added.set(name, value);
    return `\${${name}}`;
  }

  #plain(piece: Exclude<Piece, string>): string {
    const plain = piece.kind === 'variable' ? piece.fallback : piece.plain;
    const named = piece.kind === 'variable' ? `the variable ${piece.variable}` : 'a value that the fleet generates';
    if (plain === undefined) this.unknown ??= named;
    else this.fixed ??= named;
    return plain ?? '';
  }
}

/** A script on one line, which a shell reads as its lines. */
function onOneLine(script: string): string {
  if (!/[\r\n]/.test(script)) return script;
  const text = script
    .replaceAll('\\', '\\\\')
    .replaceAll("'", '\\0047')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n');
  return `eval "$(printf %b '${text}')"`;
}
