/** The lines of a text, without empty ones and without space at their ends. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * A text for one line of a field. A text that would be read in another way, such as one of several
 * lines, has the quotation marks and escapes of JSON.
 */
export const lineOf = (text: string): string =>
  text !== text.trim() || text.startsWith('"') || text.includes('\n') ? JSON.stringify(text) : text;

/** The text that a line stands for. */
export function textOfLine(line: string): string {
  if (!line.startsWith('"')) return line;
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === 'string' ? text : line;
  } catch {
    return line;
  }
}

/** Pairs as `key=value`, one per line. A line without `=` has an empty value. */
export const entriesOf = (text: string): [key: string, value: string][] =>
  linesOf(text).map((line) => {
    const [key = '', ...value] = line.split('=');
    return [key.trim(), value.join('=').trim()];
  });

export const pairsOf = (text: string): Record<string, string> => Object.fromEntries(entriesOf(text));

/** Pairs as `key=value`: one per line, or with another separator. */
export const textOfPairs = (pairs: Readonly<Record<string, string>>, separator = '\n'): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(separator);

/** Words that are separated by spaces or commas. */
export const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

/** A taint as in Kubernetes: `key=value:effect`. */
export const textOfTaint = ({
  key,
  value,
  effect,
}: {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}): string => `${key}${value ? `=${value}` : ''}:${effect}`;
