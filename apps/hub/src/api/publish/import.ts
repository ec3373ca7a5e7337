import { setImmediate } from 'node:timers/promises';
import { challengesOf } from '@svc/auth';
import type { Input, Reply } from '@svc/contract';
import { hubEndpoints, MAX_PUBLISHED_LEXEMES } from '@svc/contract/hub';
import { countLexemes, TOO_COMPLEX } from '@svc/documents';
import { invalid, Problem } from '@svc/http';
import { writeAuditEntries } from '../../audit/entry.ts';
import {
  type CatalogFiles,
  CatalogFilesError,
  type CatalogSource,
  NO_FILE,
  readCatalogFiles,
} from '../../catalog/files/catalog-files.ts';
import { DeletionsRefused, importFiles, type Step, tallyOf } from '../../catalog/files/import.ts';
import type { CatalogTransaction } from '../../database/catalog-write.ts';
import { authorOf, callerOf } from '../../identity/caller.ts';
import type { Principal } from '../../identity/principal.ts';
import { requirePublisher } from '../../identity/service-tokens.ts';
import { type RequestContext, route } from '../request/context.ts';
import { extentOf, inTurn } from './publisher.ts';

type Endpoint = typeof hubEndpoints.importCatalog;

/** The longest duration of the transaction. Other writers of the catalog wait for it. */
const IMPORT_TIMEOUT_MS = 60_000;

export const importCatalog = route(hubEndpoints.importCatalog, async (context, { query, body }) => {
  if (query.prune) requirePrune(context.principal);
  return inTurn(context, () => apply(context, body, query)).catch((error: unknown) => {
    throw problemOf(error, query.max_deletions);
  });
});

async function apply(
  context: RequestContext,
  { files, signatures = {}, application_signatures = {}, message = '' }: Input<Endpoint>['body'],
  { plan, prune, max_deletions }: Input<Endpoint>['query'],
): Promise<Reply<Endpoint>> {
  const { database, principal } = context;
  const described = await readCatalogFiles(
    await sourceOf(files, { template: signatures, application: application_signatures }),
  );
  const steps = await importFiles(database, {
    files: described,
    isPlan: plan,
    prune: prune ? { max: max_deletions } : undefined,
    extent: extentOf(principal),
    timeoutMs: IMPORT_TIMEOUT_MS,
    change: { ...authorOf(principal), message },
    record: (transaction, ids) => record(transaction, context, ids),
  });
  return present(steps, described, plan);
}

/** @throws 403 */
function requirePrune(principal: Principal): void {
  if (principal.kind !== 'service' || principal.scopes.includes('prune')) return;
  throw challengesOf('hub').insufficientScope('An import with prune requires a service token with the scope prune.');
}

type Files = Input<Endpoint>['body']['files'];

/**
 * The files of a request, after a check of what would take a parser too long. Other work of the
 * process runs between two files. @throws 400
 */
async function sourceOf(files: Files, signatures: CatalogSource['signatures']): Promise<CatalogSource> {
  const contents = new Map<string, string>();
  let lexemes = 0;
  for (const [index, { path, content }] of files.entries()) {
    await setImmediate();
    if (contents.has(path)) throw invalid([{ path: `files.${index}.path`, message: 'must not be repeated' }]);
    contents.set(path, content);
    const count = countLexemes(content);
    if (count === undefined) throw invalid([{ path: `files.${index}.content`, message: TOO_COMPLEX }]);
    lexemes += count;
    if (lexemes > MAX_PUBLISHED_LEXEMES) throw invalid([{ path: 'files', message: TOO_MANY_LEXEMES }]);
  }
  return {
    nameOf: (file) => file,
    templates: [...contents.keys()].filter((path) => path.startsWith('templates/')).sort(),
    applications: [...contents.keys()].filter((path) => path.startsWith('applications/')).sort(),
    ignored: [],
    signatures,
    problems: [],
    read: (file) => {
      const text = contents.get(file);
      return text === undefined ? { problem: NO_FILE } : { text };
    },
  };
}

const TOO_MANY_LEXEMES = `must have at most ${MAX_PUBLISHED_LEXEMES} lexemes in all files together`;

/** The problem for an import that was refused before anything was changed. */
function problemOf(error: unknown, max: number): unknown {
  if (error instanceof CatalogFilesError) return invalid(error.errors.map((message) => ({ path: 'files', message })));
  if (!(error instanceof DeletionsRefused)) return error;
  return new Problem(
    'too_many_deletions',
    `The import would delete ${error.count} objects, but at most ${max} are allowed. Nothing was changed. Check the files with plan=true, or set max_deletions.`,
  );
}

/** Writes the audit entries, if the caller still has the right to import. @throws 401, 403, 503 */
async function record(
  transaction: CatalogTransaction,
  context: RequestContext,
  objectIds: readonly string[],
): Promise<void> {
  const { principal } = context;
  const caller = principal.kind === 'service' ? principal : callerOf(principal);
  await requirePublisher(transaction, caller);
  await writeAuditEntries(transaction, context, {
    caller,
    status: hubEndpoints.importCatalog.status,
    objectIds,
  });
}

/** Columns that derive from members. */
const DERIVED = ['search_text', 'sort_name'];

function present(steps: readonly Step[], files: CatalogFiles, isPlan: boolean): Reply<Endpoint> {
  return {
    applied: !isPlan,
    changes: steps.map(({ verb, noun, slug, members }) => ({
      verb,
      kind: noun,
      slug,
      members: members.filter((member) => !DERIVED.includes(member)),
    })),
    ...tallyOf(steps, files),
    warnings: [...files.warnings],
  };
}
