import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type CatalogSource, NO_FILE } from '../catalog/files/catalog-files.ts';
import { NO_SIGNATURES, readSignaturesFile, SIGNATURES, signaturesOfFile } from '../catalog/files/signatures-file.ts';

/** The files of a catalog in a folder. */
export function openFolder(folder: string): CatalogSource {
  const templates = filesOf(folder, 'template');
  const applications = filesOf(folder, 'application');
  const { signatures, problems } = signaturesOf(folder);
  return {
    templates: templates.files,
    applications: applications.files,
    ignored: [...templates.ignored, ...applications.ignored],
    signatures,
    problems: [...templates.problems, ...applications.problems, ...problems],
    nameOf: (file) => path.join(folder, file),
    read: (file) => readText(path.join(folder, file)),
  };
}

/** The signatures of a folder, which need not have some. */
function signaturesOf(folder: string): Pick<CatalogSource, 'signatures' | 'problems'> {
  const name = path.join(folder, SIGNATURES);
  if (!existsSync(name)) return { signatures: NO_SIGNATURES, problems: [] };
  const content = readText(name);
  if ('problem' in content) return { signatures: NO_SIGNATURES, problems: [`${name}: ${content.problem}`] };
  const read = readSignaturesFile(content.text);
  if ('file' in read) return { signatures: signaturesOfFile(read.file), problems: [] };
  return { signatures: NO_SIGNATURES, problems: read.problems.map((problem) => `${name}: ${problem}`) };
}

interface ObjectFiles extends Pick<CatalogSource, 'ignored' | 'problems'> {
  readonly files: readonly string[];
}

/** The files of the templates or of the applications of a folder, which need not have some. */
function filesOf(catalog: string, noun: 'template' | 'application'): ObjectFiles {
  const folder = path.join(catalog, `${noun}s`);
  if (!existsSync(folder)) return { files: [], ignored: [], problems: [] };
  if (!statSync(folder).isDirectory()) {
    return { files: [], ignored: [], problems: [`${folder}: must be a folder with ${noun} files`] };
  }
  const names = readdirSync(folder).sort();
  const isObject = (name: string) => /^[^.].*\.ya?ml$/.test(name);
  return {
    files: names.filter(isObject).map((name) => path.join(`${noun}s`, name)),
    ignored: names.filter((name) => !isObject(name)).map((name) => path.join(folder, name)),
    problems: [],
  };
}

function readText(name: string): ReturnType<CatalogSource['read']> {
  if (!existsSync(name)) return { problem: NO_FILE };
  if (!statSync(name).isFile()) return { problem: 'is not a file' };
  const text = utf8Of(readFileSync(name));
  return text === undefined ? { problem: 'is not UTF-8; save the file with this encoding' } : { text };
}

function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
