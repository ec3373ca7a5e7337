import { isSecretName } from '../secret-names.ts';
import { type Conversion, isSecretVariable, type Key, type Piece, Refused, type Variable } from './context.ts';

/** The maximum depth of variables within defaults of variables. */
const MAX_DEPTH = 4;

/** The end of the variable that begins at `start` with a brace: the index of its last brace. @throws Refused */
function endOf(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    if (text.startsWith('${', index)) {
      depth += 1;
      if (depth > MAX_DEPTH) throw new Refused(`has more than ${MAX_DEPTH} variables within each other`);
      index += 1;
    } else if (text.charAt(index) === '}') {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  throw new Refused('has a variable without an end');
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*/;
const NAME_AT = /[A-Za-z_][A-Za-z0-9_]*/y;

/** The name at a place of a text; '' if there is none. */
function nameAt(text: string, index: number): string {
  NAME_AT.lastIndex = index;
  return NAME_AT.exec(text)?.[0] ?? '';
}

/** How a kind of file differs from Compose in its variables. */
export interface VariableRules {
  /** What a variable stands for; undefined: an input. */
  readonly read?: (variable: string) => Piece | undefined;
  /** Whether the text of `${NAME:?text}` is a default, and not a message. */
  readonly hasDefaultsOfRequired?: boolean;
  /** Whether a secret without a default can be empty. */
  readonly canSecretsBeEmpty?: boolean;
}

const NESTED = (variable: string) =>
  `The variable ${variable} has its default, which contains another variable. It cannot be set by itself.`;

/** The pieces of a text with variables as Compose reads them. @throws Refused */
export function piecesIn(text: string, rules: VariableRules = {}): Piece[] {
  const pieces: Piece[] = [];
  const add = (piece: Piece) => {
    const last = pieces.at(-1);
    if (piece === '') return;
    if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
    else pieces.push(piece);
  };
  for (let index = 0; index < text.length; ) {
    const dollar = text.indexOf('$', index);
    add(text.slice(index, dollar < 0 ? text.length : dollar));
    if (dollar < 0) break;
    const next = text.charAt(dollar + 1);
    if (next === '$') {
      add('$');
      index = dollar + 2;
    } else if (next === '{') {
      const end = endOf(text, dollar);
      for (const piece of braced(text.slice(dollar + 2, end), rules)) add(piece);
      index = end + 1;
    } else {
      const variable = nameAt(text, dollar + 1);
      if (variable === '') throw new Refused('has a variable in a form that is not supported');
      add(rules.read?.(variable) ?? unset(variable, rules));
      index = dollar + 1 + variable.length;
    }
  }
  return pieces;
}

/** A variable without a default. */
const unset = (variable: string, { canSecretsBeEmpty = false }: VariableRules): Variable => ({
  kind: 'variable',
  variable,
  fallback: undefined,
  isRequired: isSecretName(variable) && !canSecretsBeEmpty,
});

/** The pieces of the inside of `${…}`. */
function braced(inside: string, rules: VariableRules): Piece[] {
  const variable = NAME.exec(inside)?.[0] ?? '';
  const [, operator = '', argument = ''] = /^(:?[-?+])?(.*)$/s.exec(inside.slice(variable.length)) ?? [];
  if (variable === '' || (operator === '' && argument !== ''))
    throw new Refused('has a variable in a form that is not supported');
  if (operator.endsWith('+')) throw new Refused('has a text that depends on whether a variable is set');
  const known = rules.read?.(variable);
  if (known !== undefined) return [known];
  if (operator === '') return [unset(variable, rules)];
  const isRequired = operator.endsWith('?');
  if (isRequired && !(rules.hasDefaultsOfRequired && argument !== ''))
    return [{ kind: 'variable', variable, fallback: undefined, isRequired }];
  const fallback = piecesIn(argument, rules);
  if (fallback.every((piece) => typeof piece === 'string'))
    return [{ kind: 'variable', variable, fallback: fallback.join(''), isRequired }];
  return fallback.map((piece) => (typeof piece === 'string' ? piece : { ...piece, note: NESTED(variable) }));
}

/** Whether the default of a secret variable is left out. */
const losesDefault = (piece: Piece): boolean =>
  typeof piece !== 'string' && piece.kind === 'variable' && isSecretVariable(piece) && (piece.fallback ?? '') !== '';

export const hasVariable = (pieces: readonly Piece[]): boolean => pieces.some((piece) => typeof piece !== 'string');

/** The pieces between the colons of a text. Colons in defaults of variables do not count. */
export function fieldsOf(pieces: readonly Piece[]): (readonly Piece[])[] {
  const fields: Piece[][] = [[]];
  for (const piece of pieces) {
    const [first = '', ...others] = typeof piece === 'string' ? piece.split(':') : [piece];
    fields.at(-1)?.push(first);
    for (const other of others) fields.push([other]);
  }
  return fields;
}

/** The fate of a key whose text is converted with these pieces. */
export function fateOf(conversion: Conversion, key: Key, pieces: readonly Piece[]): void {
  const values = pieces.filter((piece) => typeof piece !== 'string');
  const [note] = values.flatMap((piece) => piece.note ?? []);
  const [harmless] = values.flatMap((piece) => piece.harmless ?? []);
  if (note !== undefined) conversion.note(key, note);
  else if (pieces.some(losesDefault)) conversion.harmless(key, 'default_of_secret');
  else if (harmless !== undefined) conversion.harmless(key, harmless);
  else conversion.same(key);
}

/** A text without placeholders in an application. */
export const escaped = (text: string): string => text.replaceAll(`\${`, () => `$\${`);

/**
 * The text with placeholders of an application. @throws Refused for a dollar sign before a variable, which would be read as
 * the text of a placeholder
 */
export const withPlaceholders = (conversion: Conversion, pieces: readonly Piece[]): string =>
  pieces
    .map((piece, index) => {
      if (typeof piece !== 'string')
        return piece.kind === 'variable' ? `\${inputs.${conversion.input(piece)}}` : piece.placeholder;
      if (piece.endsWith('$') && typeof pieces[index + 1] === 'object')
        throw new Refused('has a dollar sign before a variable');
      return escaped(piece);
    })
    .join('');

/**
 * The text with the defaults of its variables, for members that have no placeholders.
 * @throws Refused for a variable without a default
 */
export const withDefaults = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if (piece.kind === 'determined') {
        if (piece.plain === undefined) throw new Refused('has a value that is known only at the deployment');
        return piece.plain;
      }
      if (piece.fallback === undefined) throw new Refused(`has the variable ${piece.variable}, which has no default`);
      return piece.fallback;
    })
    .join('');
