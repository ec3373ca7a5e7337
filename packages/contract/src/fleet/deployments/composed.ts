// Pure functions without imports: the consoles bundle them.

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
