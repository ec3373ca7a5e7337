import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { convertCompose, type Entry, MAX_FILE } from '@svc/convert';
import { exitCodes, UsageError } from '../errors.ts';
import type { Action, Common } from '../invocation.ts';
import { print, tell } from '../output.ts';

interface ConvertOptions extends Common {
  readonly withFiles?: boolean;
  readonly report?: string;
}

/**
 * Prints the application that a Compose file describes. What a person must read, and what is refused, is told; the report with
 * every key is a file. A refused file prints nothing.
 */
export const convert: Action<ConvertOptions> = async ([file = ''], { output, withFiles, report: target }) => {
  const text = await readText(file);
  const folder = path.dirname(file);
  const name = path.basename(path.resolve(folder));
  const files = withFiles === true ? await filesIn(folder) : undefined;
  const { application, report } = convertCompose({ file: path.basename(file), text, name, ...(files && { files }) });
  if (target !== undefined) await writeFile(target, `${JSON.stringify(report, null, 2)}\n`);
  for (const entry of report) if (entry.class === 'note' || entry.class === 'refused') tell(lineOf(entry));
  tell(summaryOf(report));
  if (!application) return exitCodes.failed;
  await print(application, { format: output === 'json' ? 'json' : 'yaml', as: () => '' });
  return undefined;
};

async function readText(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`${file} is not a file.`);
  if (found.size > MAX_FILE * MAX_BYTES) throw new UsageError(`${file} has more than ${MAX_FILE} characters.`);
  return readFile(file, 'utf8');
}

/** The maximum number of bytes of a character in UTF-8. */
const MAX_BYTES = 4;

const MAX_FILES = 32;
const MAX_CONTENT = 65_536;

/** The small files in a folder, by their paths. */
async function filesIn(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || files.size >= MAX_FILES) continue;
    const file = path.join(entry.parentPath, entry.name);
    if ((await stat(file)).size <= MAX_CONTENT) files.set(path.relative(folder, file), await readFile(file, 'utf8'));
  }
  return files;
}

const lineOf = ({ file, line, part, member, class: fate, reason }: Entry): string =>
  `${file}:${line}: ${fate}: ${[part, member].filter((each) => each !== null && each !== '').join('.')}: ${reason}`;

function summaryOf(report: readonly Entry[]): string {
  const count = (fate: Entry['class']) => report.filter((entry) => entry.class === fate).length;
  const counts = `${count('same')} the same, ${count('harmless')} harmless, ${count('note')} to read, ${count('refused')} refused`;
  return `${report.length} keys: ${counts}.`;
}
