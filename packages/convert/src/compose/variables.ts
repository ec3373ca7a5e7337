import { type Conversion, isSecretName, Refused } from './context.ts';

/** A text of a Compose file: its characters, and its variables. */
export type Piece =
  | string
  | { readonly variable: string; readonly fallback: string | undefined; readonly isRequired: boolean };

const VARIABLE = /\$\$|\$([A-Za-z_][A-Za-z0-9_]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-?+])([^{}]*))?\}/g;

/** The pieces of a text with variables as Compose reads them. @throws Refused */
export function piecesIn(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  const between = (until: number) => {
    const before = text.slice(end, until);
    if (before.includes('$')) throw new Refused('has a variable in a form that is not supported');
    if (before !== '') addText(before);
  };
  /** Texts beside each other are one piece. */
  const addText = (added: string) => {
    const last = pieces.at(-1);
    if (typeof last === 'string') pieces[pieces.length - 1] = last + added;
    else pieces.push(added);
  };
  for (const match of text.matchAll(VARIABLE)) {
    between(match.index);
    end = match.index + match[0].length;
    const [whole, plain, braced, operator, argument = ''] = match;
    if (whole === '$$') {
      addText('$');
      continue;
    }
    if (operator?.endsWith('+')) throw new Refused('has a text that depends on whether a variable is set');
    if (argument.includes('$')) throw new Refused('has a variable within the default of a variable');
    const variable = plain ?? braced ?? '';
    const fallback = operator?.endsWith('-') ? argument : undefined;
    pieces.push({ variable, fallback, isRequired: operator?.endsWith('?') === true });
  }
  between(text.length);
  return pieces;
}

/** Whether the default of a secret variable is left out. */
export const losesDefault = (pieces: readonly Piece[]): boolean =>
  pieces.some((piece) => typeof piece !== 'string' && isSecretName(piece.variable) && (piece.fallback ?? '') !== '');

export const hasVariable = (pieces: readonly Piece[]): boolean => pieces.some((piece) => typeof piece !== 'string');

/** A text without placeholders in an application. */
export const escaped = (text: string): string => text.replaceAll(`\${`, () => `$\${`);

/**
 * The text with placeholders of an application. @throws Refused for a dollar sign before a variable, which would be read as
 * the text of a placeholder
 */
export const withPlaceholders = (conversion: Conversion, pieces: readonly Piece[]): string =>
  pieces
    .map((piece, index) => {
      if (typeof piece !== 'string') {
        const { variable, fallback, isRequired } = piece;
        return `\${inputs.${conversion.input(variable, { default: fallback, isRequired })}}`;
      }
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
      if (piece.fallback === undefined) throw new Refused(`has the variable ${piece.variable}, which has no default`);
      return piece.fallback;
    })
    .join('');
