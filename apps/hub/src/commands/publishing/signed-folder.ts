import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type CatalogFiles, readCatalogFiles } from '../../catalog/files/catalog-files.ts';
import type { ObjectNoun } from '../../catalog/files/objects.ts';
import {
  formatSignaturesFile,
  NO_SIGNATURES,
  readSignaturesFile,
  SIGNATURES,
  type SignaturesFile,
} from '../../catalog/files/signatures-file.ts';
import { openFolder } from '../catalog-folder.ts';

/** The signatures of a folder; none if it has no file. @throws Error */
export function readSignatures(folder: string): SignaturesFile {
  const name = path.join(folder, SIGNATURES);
  if (!existsSync(name)) return { serial: 0, templates: {}, applications: {} };
  const read = readSignaturesFile(readFileSync(name, 'utf8'));
  if ('file' in read) return read.file;
  throw new Error(read.problems.map((problem) => `${name}: ${problem}`).join('\n'));
}

export const writeSignatures = (folder: string, file: SignaturesFile): void =>
  writeFileSync(path.join(folder, SIGNATURES), formatSignaturesFile(file));

/** The objects of a folder, whatever their signatures are. @throws CatalogFilesError */
export async function readObjects(folder: string): Promise<Objects> {
  const { templates, applications } = await readCatalogFiles({ ...openFolder(folder), signatures: NO_SIGNATURES });
  return { template: templates, application: applications };
}

export interface Objects extends Readonly<Record<ObjectNoun, readonly object[]>> {
  readonly template: CatalogFiles['templates'];
  readonly application: CatalogFiles['applications'];
}
