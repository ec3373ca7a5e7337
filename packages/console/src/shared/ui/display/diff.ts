export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

const MAX_LINES = 2000;

/** The differences between two texts by line, from a longest common subsequence. Longer texts are compared up to the limit. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  ) {
    end += 1;
  }
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...old.slice(0, start).map(same),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
}

/** An empty text has no lines. */
const linesOf = (text: string) => (text === '' ? [] : text.split('\n').slice(0, MAX_LINES));

function middle(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      lengths[at] =
        old[i] === now[j]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [removed, added] = [old[i], now[j]];
    if (removed !== undefined && removed === added) {
      lines.push({ kind: 'same', text: removed });
      i += 1;
      j += 1;
    } else if (
      removed !== undefined &&
      (added === undefined || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      lines.push({ kind: 'removed', text: removed });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: added ?? '' });
      j += 1;
    }
  }
  return lines;
}

const CONTEXT = 3;

/** The changed lines, with the lines around them. An empty list: the texts are equal. */
export function changedLines(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = new Set<number>();
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at += 1) near.add(at);
  }
  return lines.filter((_, index) => near.has(index));
}
