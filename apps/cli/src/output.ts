import { hasControl, oneLine, visible } from './text.ts';

/** The forms in which a command prints what it has read. */
export const formats = ['table', 'json', 'yaml'] as const;
export type Format = (typeof formats)[number];

type Cell = string | number | boolean | null | undefined;

/** A list as a table: the titles of its columns, and a row for each object. */
interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** How a value is shown to people. Other forms contain the value itself. */
export interface Shown {
  readonly format: Format;
  /** A table, facts by their names, or text. */
  readonly as: () => Table | Readonly<Record<string, Cell>> | string;
}

/** Prints a value to stdout, without control characters. */
export async function print(value: unknown, { format, as }: Shown): Promise<void> {
  const text = format === 'json' ? jsonOf(value) : format === 'yaml' ? await yamlOf(value) : shownText(as());
  if (text !== '') writeLine(text);
}

/** Writes a line to stdout. The text has no control characters other than tabs and newlines. */
export const writeLine = (text: string): void => void process.stdout.write(`${text}\n`);

/** Tells the user something that is not the result of the command. */
export const tell = (text: string): void => void process.stderr.write(`${visible(text)}\n`);

const jsonOf = (value: unknown): string => visible(JSON.stringify(value ?? null, null, 2));

/** A value as a YAML document. */
export async function yamlOf(value: unknown): Promise<string> {
  const { Document, Scalar, visit } = await import('yaml');
  const document = new Document(value ?? null);
  visit(document, {
    Scalar: (_key, node) => {
      // A text in double quotes can contain escape sequences.
      if (typeof node.value === 'string' && hasControl(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return visible(document.toString({ lineWidth: 0 })).trimEnd();
}

function shownText(shown: ReturnType<Shown['as']>): string {
  if (typeof shown === 'string') return visible(shown);
  if (isTable(shown)) return tableText([shown.columns, ...shown.rows]);
  return tableText(Object.entries(shown).map(([name, value]) => [name, value]));
}

const isTable = (shown: object): shown is Table =>
  'columns' in shown && Array.isArray(shown.columns) && 'rows' in shown && Array.isArray(shown.rows);

function tableText(rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map((cell) => oneLine(String(cell ?? '-'))));
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  return texts
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** The time since a moment, such as `3d`. */
export function ageOf(at: string | null): string {
  if (at === null) return '-';
  const seconds = Math.max(0, (Date.now() - Date.parse(at)) / 1000);
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}
