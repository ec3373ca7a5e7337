import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type Application,
  convertCaprover,
  convertCompose,
  convertCoolify,
  convertPortainer,
  type Entry,
  MAX_FILE,
  MAX_PORTAINER_LIST,
  type SourceFile,
} from '@svc/convert';
import { exitCodes, UsageError } from '../errors.ts';
import type { Action, Common } from '../invocation.ts';
import { print, tell, yamlOf } from '../output.ts';

type SourceKind = 'compose' | 'portainer' | 'caprover' | 'coolify';

interface ConvertOptions extends Common {
  readonly from: SourceKind;
  readonly withFiles?: boolean;
  readonly only?: string;
  readonly report?: string;
  readonly write?: string;
}

interface Result {
  readonly applications: readonly Application[];
  readonly report: readonly Entry[];
}

/**
 * Prints the application that a file describes, and the applications of a list. What a person must read, and what is refused, is
 * told; the report with every key is a file. A refused file prints nothing.
 */
export const convert: Action<ConvertOptions> = async ([file = ''], options) => {
  const { from, output, withFiles, only, report: target, write } = options;
  if (only !== undefined && from !== 'portainer') throw new UsageError('--only is for lists of Portainer.');
  const text = await readText(file, from === 'portainer' ? MAX_PORTAINER_LIST : MAX_FILE);
  const folder = path.dirname(file);
  const name = from === 'compose' ? path.basename(path.resolve(folder)) : path.parse(file).name;
  const files = withFiles === true ? await filesIn(folder, from) : undefined;
  const source = { file: path.basename(file), text, name, ...(files && { files }) };
  const { applications, report } = from === 'portainer' ? fromList(source, only) : fromFile(source, from);
  if (target !== undefined) await writeFile(target, `${JSON.stringify(report, null, 2)}\n`);
  for (const entry of report) if (entry.class === 'note' || entry.class === 'refused') tell(lineOf(entry));
  tell(summaryOf(report));
  if (write !== undefined) await writeCatalog(write, applications);
  else if (applications.length > 0)
    await print(from === 'portainer' && only === undefined ? applications : applications[0], {
      format: output === 'json' ? 'json' : 'yaml',
      as: () => '',
    });
  return report.some((entry) => entry.class === 'refused') ? exitCodes.failed : undefined;
};

const CONVERTERS = { compose: convertCompose, caprover: convertCaprover, coolify: convertCoolify };

function fromFile(source: SourceFile, from: keyof typeof CONVERTERS): Result {
  const { application, report } = CONVERTERS[from](source);
  return { applications: application ? [application] : [], report };
}

function fromList(source: SourceFile, only: string | undefined): Result {
  const { templates, report } = convertPortainer(source);
  const chosen = only === undefined ? templates : templates.filter(({ title }) => title === only);
  if (only !== undefined && templates.length > 0 && chosen.length === 0)
    throw new UsageError(`${source.file} has no template with the title ${only}.`);
  return {
    applications: chosen.flatMap(({ application }) => application ?? []),
    report: [...report, ...chosen.flatMap((template) => template.report)],
  };
}

async function readText(file: string, maximum: number): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`${file} is not a file.`);
  if (found.size > maximum * MAX_BYTES) throw new UsageError(`${file} has more than ${maximum} characters.`);
  return readFile(file, 'utf8');
}

/** The maximum number of bytes of a character in UTF-8. */
const MAX_BYTES = 4;

const MAX_FILES = 32;
/** The maximum number of files of stacks. */
const MAX_STACKS = 1000;
const MAX_CONTENT = 65_536;

/** The small files in a folder, by their paths; for a list, only files of stacks. */
async function filesIn(folder: string, from: SourceKind): Promise<Map<string, string>> {
  const isList = from === 'portainer';
  const files = new Map<string, string>();
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || files.size >= (isList ? MAX_STACKS : MAX_FILES)) continue;
    if (isList && !/\.ya?ml$/.test(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    if ((await stat(file)).size <= MAX_CONTENT) files.set(path.relative(folder, file), await readFile(file, 'utf8'));
  }
  return files;
}

/** Writes each application to a file of a catalog, which is named after its slug. Nothing is written if a file exists. */
async function writeCatalog(folder: string, applications: readonly Application[]): Promise<void> {
  const target = path.join(folder, 'applications');
  const files = new Map(
    applications.map((application) => [path.join(target, `${application.slug}.yaml`), application] as const),
  );
  if (files.size < applications.length)
    throw new UsageError('Several templates of the list would have the same file: convert each of them with --only.');
  for (const file of files.keys())
    if (await stat(file).catch(() => undefined)) throw new UsageError(`${file} exists already.`);
  await mkdir(target, { recursive: true });
  for (const [file, application] of files) {
    await writeFile(file, `${await yamlOf(application)}\n`, { flag: 'wx' });
    tell(`written: ${file}`);
  }
}

const lineOf = ({ file, line, part, member, class: fate, reason }: Entry): string =>
  `${file}:${line}: ${fate}: ${[part, member].filter((each) => each !== null && each !== '').join('.')}: ${reason}`;

function summaryOf(report: readonly Entry[]): string {
  const count = (fate: Entry['class']) => report.filter((entry) => entry.class === fate).length;
  const counts = `${count('same')} the same, ${count('harmless')} harmless, ${count('note')} to read, ${count('refused')} refused`;
  return `${report.length} keys: ${counts}.`;
}
