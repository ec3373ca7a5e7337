import { lintApplication } from '@svc/contract';
import { readCatalogFiles } from '../catalog/files/catalog-files.ts';
import { openFolder } from './catalog-folder.ts';

interface Linted {
  /** One line for each warning and each advice, and a summary. */
  readonly lines: readonly string[];
  readonly isClean: boolean;
}

/**
 * Checks the files of a catalog without a hub, and names what is allowed in an application and is probably a mistake.
 * @throws CatalogFilesError with the errors of all files
 */
export async function lintFolder(folder: string): Promise<Linted> {
  const files = await readCatalogFiles(openFolder(folder));
  const advice = files.applications.flatMap((application) =>
    lintApplication(application).map(({ path, message }) => `${application.placeOf(path)}: ${path}: ${message}`),
  );
  const lines = [...files.warnings, ...advice];
  const { length: templates } = files.templates;
  const { length: applications } = files.applications;
  const found = `${templates} templates and ${applications} applications: ${lines.length} warnings`;
  return { lines: [...lines, found], isClean: lines.length === 0 };
}
