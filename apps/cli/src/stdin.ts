import { readFile } from 'node:fs/promises';
import { UsageError } from './errors.ts';

/** Reads all of stdin, without the newline at its end. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

/** `KEY=value`. @throws UsageError */
export function assignment(text: string): readonly [key: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`${JSON.stringify(text)} must have the form KEY=VALUE.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Reads values that must not be in the command line, which other users of the machine can see:
 * `KEY=-` from stdin, `KEY=@file` from a file.
 * @throws UsageError for other forms, and for more than one value from stdin
 */
export async function readValues(texts: readonly string[]): Promise<Record<string, string>> {
  const assignments = texts.map(assignment);
  if (assignments.filter(([, value]) => value === '-').length > 1) {
    throw new UsageError('Only one value can come from stdin.');
  }
  const values: Record<string, string> = {};
  for (const [key, value] of assignments) {
    if (value === '-') values[key] = await readStdin();
    else if (value.startsWith('@')) values[key] = await readFile(value.slice(1), 'utf8');
    else throw new UsageError(`The value of ${key} must be - for stdin, or @ and the name of a file.`);
  }
  return values;
}
