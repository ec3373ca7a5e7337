/** A piece of a text with placeholders: text, or the name of a placeholder. */
export type Piece = string | { readonly name: string; readonly isEncoded: boolean };

const OPENING = `\${`;

/** The pattern of a placeholder with such a name, and of the two dollar signs that make the text `${`. */
export const placeholderPattern = ({ source }: RegExp): RegExp =>
  new RegExp(`\\$\\$\\{|\\$\\{(${source})(\\|url)?\\}`, 'g');

/**
 * The pieces of a text. `${name}` is a placeholder, `${name|url}` one whose value is percent-encoded, and `$${` is the
 * text `${`. @returns undefined if another `${` is in it
 */
export function piecesOf(text: string, pattern: RegExp): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  const between: string[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
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
