import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Hub, hubOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { exitCodes, Failure, UsageError } from '../errors.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { print, tell } from '../output.ts';

const CATEGORIES = 'categories.yaml';
/** The folders with one file per object. */
const FOLDERS = ['templates', 'applications'];
const SIGNATURES = 'signatures.json';

/** The files of a catalog that a hub can send, so that nothing is written elsewhere. */
const FILE = /^(?:categories\.yaml|(?:templates|applications)\/[a-z0-9][a-z0-9-]{0,63}\.yaml)$/;

interface CatalogFile {
  readonly path: string;
  readonly content: string;
}

interface ImportOptions extends Common {
  readonly prune?: boolean;
  readonly maxDeletions?: number;
  readonly dryRun?: boolean;
  readonly message?: string;
}

/** Applies a folder of catalog files to a hub. What would change is shown before the question. */
export const importFolder: Action<ImportOptions> = async ([folder = ''], options) => {
  if (options.dryRun !== true) requireConsent(options);
  const files = await readFolder(folder);
  const signed = await readSignatures(folder);
  const hub = hubOf(options);
  const send = (plan: boolean) =>
    reply(
      hub.POST('/api/v1/publish/import', {
        params: { query: { plan, ...given({ prune: options.prune, max_deletions: options.maxDeletions }) } },
        body: {
          files: [...files],
          ...given({
            message: options.message,
            signatures: signed?.templates,
            application_signatures: ofApplications(signed),
          }),
        },
      }),
    );
  if (options.dryRun === true) {
    const planned = await send(true);
    await printImport(planned, options);
    return planned.changes.length === 0 ? exitCodes.done : exitCodes.changes;
  }
  if (options.yes !== true) {
    const planned = await send(true);
    tell(summaryOf(planned));
    if (planned.changes.length === 0) return exitCodes.done;
    await confirm('Make these changes?', options);
  }
  await printImport(await send(false), options);
  return undefined;
};

/** The catalog files of a folder. @throws UsageError if it is none */
async function readFolder(folder: string): Promise<readonly CatalogFile[]> {
  if (!existsSync(path.join(folder, CATEGORIES))) throw new UsageError(`${folder} has no ${CATEGORIES}.`);
  const paths = [CATEGORIES, ...(await objectsIn(folder))];
  return Promise.all(
    paths.map(async (each) => ({ path: each, content: await readFile(path.join(folder, each), 'utf8') })),
  );
}

/** The files of templates and applications in a folder. */
async function objectsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const each of FOLDERS) {
    const at = path.join(folder, each);
    const names = existsSync(at) ? await readdir(at) : [];
    found.push(...names.filter((name) => /^[^.].*\.ya?ml$/.test(name)).map((name) => `${each}/${name}`));
  }
  return found;
}

type Signatures = Record<string, string[]>;

interface SignaturesFile {
  /** The serial of the newest signature. */
  readonly serial: number;
  /** By the slug of the template. */
  readonly templates: Signatures;
  /** By the slug of the application. */
  readonly applications: Signatures;
}

/** The signatures of applications; undefined if there are none, because a hub of an earlier version refuses them. */
const ofApplications = (signed: SignaturesFile | undefined): Signatures | undefined =>
  signed && Object.keys(signed.applications).length > 0 ? signed.applications : undefined;

/** The signatures of a folder; undefined if it has no file with them. @throws UsageError */
async function readSignatures(folder: string): Promise<SignaturesFile | undefined> {
  const file = path.join(folder, SIGNATURES);
  if (!existsSync(file)) return undefined;
  const value = parseJson(await readFile(file, 'utf8'));
  // The hub checks each signature.
  const { serial, templates, applications = {} } = Object(value) as Partial<SignaturesFile>;
  if (typeof serial === 'number' && typeof templates === 'object' && typeof applications === 'object')
    return { serial, templates, applications };
  throw new UsageError(`${file} is not a file of the command sign of the hub.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Imported {
  readonly changes: readonly {
    readonly verb: string;
    readonly kind: string;
    readonly slug: string;
    readonly members: readonly string[];
  }[];
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly warnings: readonly string[];
}

const summaryOf = ({ changes, created, updated, deleted, unchanged }: Imported): string =>
  [
    ...changes.map(({ verb, kind, slug, members }) => `${verb} ${kind} ${slug} ${members.join(', ')}`.trimEnd()),
    `${created} created, ${updated} updated, ${deleted} deleted, ${unchanged} unchanged.`,
  ].join('\n');

async function printImport(imported: Imported, { output }: Common): Promise<void> {
  for (const warning of imported.warnings) tell(`Warning: ${warning}`);
  await print(imported, { format: output, as: () => summaryOf(imported) });
}

interface ExportOptions extends Common {
  readonly prune?: boolean;
}

/** Writes the catalog of a hub to a folder: the files whose content differs. */
export const exportFolder: Action<ExportOptions> = async ([folder = ''], options) => {
  if (options.prune === true) requireConsent(options);
  const present = existsSync(folder) ? await readdir(folder) : [];
  if (present.length > 0 && !present.includes(CATEGORIES)) {
    throw new UsageError(`${folder} is neither empty nor a folder with a catalog.`);
  }
  const { files, ...signatures } = await readCatalog(hubOf(options));
  const obsolete = options.prune === true ? await obsoleteIn(folder, files) : [];
  if (obsolete.length > 0) await confirm(`Delete ${obsolete.join(', ')}?`, options);
  for (const each of FOLDERS) {
    const isUsed = each === 'templates' || files.some((file) => file.path.startsWith(`${each}/`));
    if (isUsed) await mkdir(path.join(folder, each), { recursive: true });
  }
  const written: string[] = [];
  for (const { path: name, content } of files) {
    const file = path.join(folder, name);
    if (await hasSameValue(file, content)) continue;
    await writeFile(file, content);
    written.push(name);
  }
  for (const name of obsolete) await rm(path.join(folder, name));
  if (await writeSignatures(folder, signatures, options.prune === true)) written.push(SIGNATURES);
  const signed = Object.values(signatures).flatMap((each) => Object.keys(each));
  const count = files.length + (signed.length > 0 ? 1 : 0);
  await print(
    { written, deleted: obsolete, files: count },
    {
      format: options.output,
      as: () => `${written.length} of ${count} files written, ${obsolete.length} deleted.`,
    },
  );
  return undefined;
};

interface Catalog extends Omit<SignaturesFile, 'serial'> {
  readonly files: readonly CatalogFile[];
}

async function readCatalog(hub: Hub): Promise<Catalog> {
  // Earlier versions have no signatures.
  const {
    files,
    signatures: templates = {},
    application_signatures: applications = {},
  } = await reply(hub.GET('/api/v1/publish/export'));
  const wrong = files.find(({ path: name }) => !FILE.test(name));
  if (wrong) throw new Failure(`The hub sent a file with the name ${JSON.stringify(wrong.path)}.`);
  return { files, templates, applications };
}

/**
 * Writes the signatures of a hub, if the file states others. Without `prunes`, those of other objects are kept.
 * @returns whether the file was written
 */
async function writeSignatures(
  folder: string,
  ofHub: Omit<SignaturesFile, 'serial'>,
  prunes: boolean,
): Promise<boolean> {
  const before = (await readSignatures(folder)) ?? { serial: 0, templates: {}, applications: {} };
  const kept = prunes ? { templates: {}, applications: {} } : before;
  const templates = bySlug({ ...kept.templates, ...ofHub.templates });
  const applications = bySlug({ ...kept.applications, ...ofHub.applications });
  if (isDeepStrictEqual([templates, applications], [before.templates, before.applications])) return false;
  const all = [...Object.values(templates), ...Object.values(applications)].flat();
  const serial = Math.max(before.serial, ...all.map(serialOf));
  // Earlier versions read a file without applications.
  const file = { serial, templates, ...(Object.keys(applications).length > 0 && { applications }) };
  await writeFile(path.join(folder, SIGNATURES), `${JSON.stringify(file, undefined, 2)}\n`);
  return true;
}

const bySlug = (signatures: Signatures): Signatures =>
  Object.fromEntries(Object.entries(signatures).sort(([one], [other]) => (one < other ? -1 : 1)));

/** The serial in a signature, which the hub has checked; 0 if it has another form. */
function serialOf(signature: string): number {
  const [, payload = ''] = signature.split('.');
  // An object can have any members.
  const { serial } = Object(parseJson(Buffer.from(payload, 'base64url').toString('utf8'))) as { serial?: unknown };
  return typeof serial === 'number' ? serial : 0;
}

/** The files of templates and applications in a folder that a hub does not have. */
const obsoleteIn = async (folder: string, files: readonly CatalogFile[]): Promise<string[]> =>
  (await objectsIn(folder)).filter((name) => !files.some((file) => file.path === name));

/** Whether a file has the same value, so that its comments and its format remain. */
async function hasSameValue(file: string, content: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const { parse } = await import('yaml');
  return isDeepStrictEqual(parse(await readFile(file, 'utf8')), parse(content));
}
