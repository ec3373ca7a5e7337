import { structuredPatch } from 'diff';

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Around a changed line, these lines are shown as well. */
const CONTEXT = 3;

/** The search for the smallest difference takes quadratic time. */
const MAX_CHANGES = 200;

/**
 * The lines that differ between two texts, with the lines around them. Texts with more changes are
 * shown completely.
 */
export function changedLines(before: string, after: string): readonly DiffLine[] {
  const options = { context: CONTEXT, maxEditLength: MAX_CHANGES };
  const patch = structuredPatch('', '', withEnd(before), withEnd(after), '', '', options);
  if (patch === undefined) {
    return [...linesOf(before).map((text) => lineOf(`-${text}`)), ...linesOf(after).map((text) => lineOf(`+${text}`))];
  }
  return patch.hunks.flatMap(({ lines }) => lines.map(lineOf));
}

/** An empty text has no lines. The end of the last line is no difference. */
const withEnd = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
const linesOf = (text: string) => withEnd(text).split('\n').slice(0, -1);

const kinds: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed' };

/** A line of a patch, which begins with a mark. */
const lineOf = (line: string): DiffLine => ({ kind: kinds[line.charAt(0)] ?? 'same', text: line.slice(1) });
