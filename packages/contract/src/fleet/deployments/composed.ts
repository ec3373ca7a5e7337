import { codedMessages } from '../../shared/field-codes.ts';

/** A piece of a composed value: text, or the name of the reference whose value is inserted. */
export type ComposedPiece = string | { readonly name: string; readonly isEncoded: boolean };

/** The name of a reference in a composed value. */
export const PLACEHOLDER_NAME = /^[a-z][a-z0-9_]{0,62}$/;

const OPENING = `\${`;
const PLACEHOLDER = /\$\$\{|\$\{([a-z][a-z0-9_]{0,62})(\|url)?\}/g;

/**
 * The pieces of a composed text. `${name}` inserts a value, `${name|url}` inserts it percent-encoded,
 * and `$${` is the text `${`. @returns undefined if another `${` is in it
 */
export function composedPieces(text: string): readonly ComposedPiece[] | undefined {
  const pieces: ComposedPiece[] = [];
  const between: string[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [whole, name, encoding] = match;
    const before = text.slice(end, match.index);
    between.push(before);
    pieces.push(before, name === undefined ? OPENING : { name, isEncoded: encoding !== undefined });
    end = match.index + whole.length;
  }
  const rest = text.slice(end);
  if ([...between, rest].some((part) => part.includes(OPENING))) return undefined;
  return [...pieces, rest].filter((piece) => piece !== '');
}

const namesIn = (pieces: readonly ComposedPiece[]): ReadonlySet<string> =>
  new Set(pieces.flatMap((piece) => (typeof piece === 'string' ? [] : piece.name)));

interface ComposedText {
  readonly compose: string;
  readonly with: Readonly<Record<string, unknown>>;
}

/** What is wrong with the placeholders of a composed value, by the path of the member. */
export function composedProblems({ compose, with: references }: ComposedText, maxReferences: number) {
  if (Object.keys(references).length > maxReferences)
    return [{ path: ['with'], message: `must have at most ${maxReferences} members` }];
  const pieces = composedPieces(compose);
  if (!pieces) return [{ path: ['compose'], message: codedMessages.composed_syntax }];
  const used = namesIn(pieces);
  return [
    ...[...used]
      .filter((name) => !Object.hasOwn(references, name))
      .map((name) => ({
        path: ['compose'],
        message: `must not contain the placeholder ${name}, which is not defined`,
      })),
    ...Object.keys(references)
      .filter((name) => !used.has(name))
      .map((name) => ({ path: ['with', name], message: `must be used in the text as the placeholder ${name}` })),
  ];
}
