import { changeMessage, MAX_REVISION, newAdvisory, queryInteger } from '@svc/contract';
import { MAX_REVISIONS } from '@svc/contract/hub';
import { commandUser, parseOptions } from '@svc/http';
import { z } from 'zod';
import { writeCommandEntries } from '../audit/entry.ts';
import { applications, type Kind, templates } from '../catalog/kinds.ts';
import * as advisories from '../catalog/revisions/advisories.ts';
import { revisedApplications, revisedTemplates } from '../catalog/revisions/content.ts';
import { listRevisions } from '../catalog/revisions/read.ts';
import { restoreContent } from '../catalog/revisions/restore.ts';
import { type CatalogTransaction, writeCatalog } from '../database/catalog-write.ts';
import type { Database } from '../database/client.ts';

const revision = queryInteger(1, MAX_REVISION);

const kind = z.enum(['template', 'application'], 'must be template or application').default('template');

const historyOptions = z.strictObject({ json: z.boolean().default(false), kind });
const restoreOptions = z.strictObject({ revision, message: changeMessage, kind });
const { severity, message, url } = newAdvisory.shape;
const adviseOptions = z
  .strictObject({ severity, message, url, from: revision, to: revision.nullable().default(null), kind })
  .refine(({ from, to }) => to === null || to >= from, { path: ['to'], message: 'must not be below --from' });

const revisedKinds = { template: revisedTemplates, application: revisedApplications };

/** Prints the revisions of a template or an application, newest first: one line each, or as JSON. */
export function history(slug: string, options: unknown) {
  const { json, kind: noun } = parseOptions(historyOptions, options);
  const revised = revisedKinds[noun];
  return async ({ client }: Database): Promise<string> => {
    const id = await idOf(client, revised.kind, slug);
    const { revisions } = await listRevisions(client, revised, id, { page: 1, limit: 2 * MAX_REVISIONS });
    if (json) return JSON.stringify(revisions);
    return revisions
      .map(({ revision: number, at, author, deleted, changed, message: why }) =>
        [
          number,
          at.toISOString(),
          author ?? 'unknown',
          deleted ? 'deleted' : changed.join(','),
          why.replace(/\s+/g, ' '),
        ]
          .join('  ')
          .trimEnd(),
      )
      .join('\n');
  };
}

/** Gives a template or an application the content of an earlier revision, also if it was deleted. */
export function restore(slug: string, options: unknown) {
  const given = parseOptions(restoreOptions, options);
  return async (database: Database): Promise<string> => {
    const revised = revisedKinds[given.kind];
    const id = await idOf(database.client, revised.kind, slug);
    const work = (transaction: CatalogTransaction) =>
      restoreContent(transaction, revised, { id, revision: given.revision });
    await recorded(database, { command: 'restore', id, message: given.message }, work);
    return `restored revision ${given.revision} of ${slug}`;
  };
}

/** Publishes an advisory about revisions of a template or an application, and prints its id. */
export function advise(slug: string, options: unknown) {
  const { from, to, kind: noun, ...stated } = parseOptions(adviseOptions, options);
  const advised = revisedKinds[noun].kind;
  return async (database: Database): Promise<string> => {
    const id = await idOf(database.client, advised, slug);
    const { id: advisory } = await recorded(database, { command: 'advise', id }, (transaction) =>
      advisories.createAdvisory(transaction, advised, id, { ...stated, first_revision: from, last_revision: to }),
    );
    return advisory;
  };
}

/** Withdraws an advisory. */
export const withdrawAdvisory = (advisoryId: string) => async (database: Database) => {
  const isId = z.uuid().safeParse(advisoryId).success;
  const found = isId ? await advisedBy(database, advisoryId) : undefined;
  if (!found) throw new Error(`No advisory has the id ${advisoryId}.`);
  const { id } = found;
  await recorded(database, { command: 'withdraw-advisory', id }, (transaction) =>
    advisories.withdrawAdvisory(transaction, found.kind, { id, advisoryId }),
  );
  return `withdrew ${advisoryId}`;
};

/** The object that an advisory is about. */
async function advisedBy({ client }: Database, advisoryId: string) {
  for (const advised of [templates, applications]) {
    const [row] = await client.$queryRaw<{ id: string }[]>`
      SELECT ${advised.id} AS id FROM ${advised.advisories} WHERE id = ${advisoryId}::uuid`;
    if (row) return { id: row.id, kind: advised };
  }
  return undefined;
}

interface Recorded {
  readonly command: string;
  /** The object that the command concerns. */
  readonly id: string;
  readonly message?: string | undefined;
}

/** Runs a change of the catalog with its audit entry. */
const recorded = <T>(
  database: Database,
  { command, id, message: why = '' }: Recorded,
  work: (transaction: CatalogTransaction) => Promise<T>,
): Promise<T> =>
  writeCatalog(
    database,
    async (transaction) => {
      const result = await work(transaction);
      await writeCommandEntries(transaction, command, [id]);
      return result;
    },
    { change: { author: commandUser(), author_id: null, message: why } },
  );

/** The id of the object with the slug, or of the one that was deleted last with it. */
async function idOf(client: Database['client'], { table, revisions, id, noun }: Kind, slug: string): Promise<string> {
  const [existing] = await client.$queryRaw<{ id: string }[]>`SELECT id FROM ${table} WHERE slug = ${slug}`;
  if (existing) return existing.id;
  const [deleted] = await client.$queryRaw<{ id: string }[]>`
    SELECT ${id} AS id FROM ${revisions} WHERE slug = ${slug} AND content IS NULL ORDER BY at DESC LIMIT 1`;
  if (!deleted) throw new Error(`No ${noun} has the slug ${slug}, and none was deleted with it.`);
  return deleted.id;
}
