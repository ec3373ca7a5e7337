import { commandUser } from '@svc/http';
import { writeCommandEntries } from '../audit/entry.ts';
import { type CatalogFiles, CatalogFilesError, readCatalogFiles, whyIgnored } from '../catalog/files/catalog-files.ts';
import { WHOLE_CATALOG } from '../catalog/files/extent.ts';
import { DeletionsRefused, importFiles, type Step, tallyOf } from '../catalog/files/import.ts';
import { storePublisher } from '../catalog/trust/publishers.ts';
import type { Database } from '../database/client.ts';
import { openFolder } from './catalog-folder.ts';
import { hasKeyring, readKeyringFile } from './publishing/keyring-file.ts';

const IMPORT_TIMEOUT_MS = 10 * 60_000;

interface ImportOptions {
  readonly folder: string;
  readonly dryRun: boolean;
  /** Deletes the rows without a file, at most `max`. Without it, they are kept. */
  readonly prune?: Prune | undefined;
  /** Why the templates change, for their history. */
  readonly message?: string | undefined;
}

interface Prune {
  readonly max: number;
  /** Whether the operator has confirmed the deletions. */
  readonly isConfirmed: boolean;
}

/**
 * Applies a folder of YAML files to the catalog: `importFiles`.
 * @returns one line per change, and a summary
 * @throws CatalogFilesError, or an error for deletions that are too many or not confirmed, before
 * anything is written
 */
export async function importCatalog(
  database: Database,
  { folder, dryRun, prune, message = '' }: ImportOptions,
): Promise<readonly string[]> {
  const files = await readCatalogFiles(openFolder(folder));
  if (prune && files.ignored.length > 0) {
    throw new CatalogFilesError(
      files.ignored.map(
        (name) =>
          `${name}: is ignored; ${whyIgnored(name)}. With --prune, an object that it describes would be deleted: rename or remove it`,
      ),
    );
  }
  const published = await importKeyring(database, folder, dryRun);
  try {
    const steps = await importFiles(database, {
      files,
      isPlan: dryRun,
      prune: prune && { max: prune.isConfirmed ? prune.max : 0 },
      extent: WHOLE_CATALOG,
      timeoutMs: IMPORT_TIMEOUT_MS,
      change: { author: commandUser(), author_id: null, message },
      record: (transaction, ids) => writeCommandEntries(transaction, 'import', ids),
    });
    return [...published, ...report(steps, files, dryRun)];
  } catch (error) {
    throw prune && error instanceof DeletionsRefused ? withAdvice(error, files, prune) : error;
  }
}

/** Stores the keyring of a folder that has one. @returns a line if the hub does not have it yet */
async function importKeyring({ client }: Database, folder: string, dryRun: boolean): Promise<readonly string[]> {
  if (!hasKeyring(folder)) return [];
  const { publisher: slug, ...given } = readKeyringFile(folder);
  if (dryRun) {
    const stored = await client.publisher.findUnique({ where: { slug }, select: { keyring: true } });
    return stored?.keyring === given.keyring ? [] : [`would update the keyring of ${slug}`];
  }
  const { isChanged } = await client.$transaction((transaction) => storePublisher(transaction, { slug, ...given }));
  return isChanged ? [`update the keyring of ${slug}`] : [];
}

/** An error with the plan that deletes too many rows, or whose deletions are not confirmed. */
function withAdvice({ plan, count }: DeletionsRefused, files: CatalogFiles, { max }: Prune): Error {
  const advice =
    count > max
      ? `The import would delete ${count} objects, but at most ${max} are allowed. Check the folder, or set --max-deletions.`
      : `The import would delete ${count} objects. Check the list, and repeat the command with --yes.`;
  return new Error([...report(plan, files, true), `Nothing was changed. ${advice}`].join('\n'));
}

function report(steps: readonly Step[], files: CatalogFiles, dryRun: boolean): string[] {
  const would = dryRun ? 'would ' : '';
  const lines = steps.map(
    ({ noun, verb, slug, members }) =>
      `${would}${verb} ${noun} ${slug}${verb === 'update' ? ` (${members.join(', ')})` : ''}`,
  );
  const { created, updated, deleted, unchanged } = tallyOf(steps, files);
  const to = (verb: Step['verb'], count: number) => `${count} ${dryRun ? `to ${verb}` : `${verb}d`}`;
  const deletions = deleted > 0 ? `, ${to('delete', deleted)}` : '';
  return [
    ...files.warnings,
    ...lines,
    `${dryRun ? 'dry run: ' : ''}${to('create', created)}, ${to('update', updated)}${deletions}, ${unchanged} unchanged`,
  ];
}
