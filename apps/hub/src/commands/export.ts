import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatYaml } from '@svc/documents';
import { CATEGORIES, type CatalogFiles, readCatalogFiles } from '../catalog/files/catalog-files.ts';
import { changesOfFiles, type FileChange, NO_FILES, readCatalogRows, signaturesIn } from '../catalog/files/export.ts';
import { WHOLE_CATALOG } from '../catalog/files/extent.ts';
import {
  formatSignaturesFile,
  readSignaturesFile,
  SIGNATURES,
  signaturesFileOf,
} from '../catalog/files/signatures-file.ts';
import type { Database } from '../database/client.ts';
import { openFolder } from './catalog-folder.ts';

interface ExportOptions {
  readonly folder: string;
  /**
   * Deletes the files and entries of objects that the hub does not have. Without it, they are kept.
   */
  readonly prune?: boolean;
}

/**
 * Writes the catalog to a folder of YAML files, from which `import` restores equal data. In a
 * folder that already contains a catalog, only files whose objects differ are written, and files
 * that do not belong to the catalog are never changed.
 * @returns one line per change, and a summary
 * @throws before anything is written, if the folder contains other files but no catalog, or a
 * catalog with errors
 */
export async function exportCatalog(
  database: Database,
  { folder, prune = false }: ExportOptions,
): Promise<readonly string[]> {
  const existing = await readExisting(folder);
  const rows = await readCatalogRows(database, WHOLE_CATALOG);
  const changes = changesOfFiles(rows, existing, prune);
  refuseOverwriting(changes, existing);
  mkdirSync(path.join(folder, 'templates'), { recursive: true });
  if (rows.applications.length > 0) mkdirSync(path.join(folder, 'applications'), { recursive: true });
  const signed = writeSignatures(folder, signaturesIn(rows), { prune });
  for (const { file, content } of changes) {
    if (content === undefined) rmSync(path.join(folder, file));
    else if (content !== null) writeFileSync(path.join(folder, file), formatYaml(content));
  }
  const total = `${rows.categories.length} categories, ${rows.templates.length} templates and ${rows.applications.length} applications`;
  return [
    ...changes.map(({ text }) => text),
    ...signed,
    `${total}: ${changes.filter(({ content }) => content !== null).length + signed.length} files changed in ${folder}`,
  ];
}

/**
 * Writes the signatures of the hub to their file, if it states others. Without `prune`, those of objects that the hub does not have
 * are kept. @returns a line if the file is written
 */
function writeSignatures(
  folder: string,
  ofHub: ReturnType<typeof signaturesIn>,
  { prune }: { prune: boolean },
): string[] {
  const name = path.join(folder, SIGNATURES);
  const read = existsSync(name) ? readSignaturesFile(readFileSync(name, 'utf8')) : undefined;
  const before = read && 'file' in read ? read.file : { serial: 0, templates: {}, applications: {} };
  const kept = prune ? { templates: {}, applications: {} } : before;
  const after = signaturesFileOf({
    templates: { ...kept.templates, ...ofHub.templates },
    applications: { ...kept.applications, ...ofHub.applications },
  });
  const text = formatSignaturesFile({ ...after, serial: Math.max(before.serial, after.serial) });
  if (text === formatSignaturesFile(before)) return [];
  writeFileSync(name, text);
  return [`${read ? 'update' : 'create'} ${SIGNATURES}`];
}

/**
 * The catalog that a folder contains. @throws if the folder contains other files, but no catalog
 */
async function readExisting(folder: string): Promise<CatalogFiles> {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return NO_FILES;
  if (existsSync(path.join(folder, CATEGORIES))) return readCatalogFiles(openFolder(folder));
  throw new Error(
    `${folder} is not empty and contains no ${CATEGORIES}. Specify an empty or new folder, or one with a catalog.`,
  );
}

/** @throws if the file for a new object describes another one */
function refuseOverwriting(changes: readonly FileChange[], { templates, applications }: CatalogFiles): void {
  const slugs = new Map([...templates, ...applications].map(({ file, slug }) => [file, slug]));
  for (const { file, text } of changes) {
    if (text.startsWith('create ') && slugs.has(file)) {
      throw new Error(`${file} describes another object, ${slugs.get(file)}. Rename it; nothing was changed.`);
    }
  }
}
