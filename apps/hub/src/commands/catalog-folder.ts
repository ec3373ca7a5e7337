import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type CatalogSource, NO_FILE } from '../catalog/files/catalog-files.ts';
import { readSignaturesFile, SIGNATURES } from '../catalog/files/signatures-file.ts';

/** The files of a catalog in a folder. */
export function openFolder(folder: string): CatalogSource {
  const templates = templatesOf(folder);
  const { signatures, problems } = signaturesOf(folder);
  return {
    ...templates,
    signatures,
    problems: [...templates.problems, ...problems],
    nameOf: (file) => path.join(folder, file),
    read: (file) => readText(path.join(folder, file)),
  };
}

/** The signatures of a folder, which need not have some. */
function signaturesOf(folder: string): Pick<CatalogSource, 'signatures' | 'problems'> {
  const name = path.join(folder, SIGNATURES);
  if (!existsSync(name)) return { signatures: {}, problems: [] };
  const content = readText(name);
  if ('problem' in content) return { signatures: {}, problems: [`${name}: ${content.problem}`] };
  const read = readSignaturesFile(content.text);
  if ('file' in read) return { signatures: read.file.templates, problems: [] };
  return { signatures: {}, problems: read.problems.map((problem) => `${name}: ${problem}`) };
}

function templatesOf(folder: string): Pick<CatalogSource, 'templates' | 'ignored' | 'problems'> {
  const templates = path.join(folder, 'templates');
  if (!existsSync(templates)) return { templates: [], ignored: [], problems: [] };
  if (!statSync(templates).isDirectory()) {
    return { templates: [], ignored: [], problems: [`${templates}: must be a folder with template files`] };
  }
  const names = readdirSync(templates).sort();
  const isTemplate = (name: string) => /^[^.].*\.ya?ml$/.test(name);
  return {
    templates: names.filter(isTemplate).map((name) => path.join('templates', name)),
    ignored: names.filter((name) => !isTemplate(name)).map((name) => path.join(templates, name)),
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
