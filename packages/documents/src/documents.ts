/** A document in a text with several ones. */
export interface DocumentText {
  readonly text: string;
  /** The line of the whole text at which it begins, from 1. */
  readonly line: number;
}

/** A line that begins a document. The rest of the line belongs to it. */
const MARKER = /^---(?=\s|$)/;

/**
 * The documents of a YAML text, which lines with `---` separate. YAML permits no such line within a
 * scalar. Documents with comments only are left out.
 */
export function documentsIn(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  let lines: string[] = [];
  let first = 1;
  const end = () => {
    if (lines.some((line) => !isEmpty(line))) documents.push({ text: lines.join('\n'), line: first });
  };
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (!MARKER.test(line)) {
      lines.push(line);
      continue;
    }
    end();
    first = index + 1;
    lines = [line.slice('---'.length)];
  }
  end();
  return documents;
}

const isEmpty = (line: string): boolean => {
  const content = line.trim();
  return content === '' || content.startsWith('#');
};
