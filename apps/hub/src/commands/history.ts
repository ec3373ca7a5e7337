import { changeMessage, MAX_REVISION, newAdvisory, queryInteger } from '@svc/contract';
import { MAX_REVISIONS } from '@svc/contract/hub';
import { commandUser, parseOptions } from '@svc/http';
import { z } from 'zod';
import { writeCommandEntries } from '../audit/entry.ts';
import * as advisories from '../catalog/revisions/advisories.ts';
import { listRevisions } from '../catalog/revisions/read.ts';
import { restoreContent } from '../catalog/revisions/restore.ts';
import { type CatalogTransaction, writeCatalog } from '../database/catalog-write.ts';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

const revision = queryInteger(1, MAX_REVISION);

const historyOptions = z.strictObject({ json: z.boolean().default(false) });
const restoreOptions = z.strictObject({ revision, message: changeMessage });
const { severity, message, url } = newAdvisory.shape;
const adviseOptions = z
  .strictObject({ severity, message, url, from: revision, to: revision.nullable().default(null) })
  .refine(({ from, to }) => to === null || to >= from, { path: ['to'], message: 'must not be below --from' });

/** Prints the revisions of a template, newest first: one line each, or as JSON. */
export function history(slug: string, options: unknown) {
  const { json } = parseOptions(historyOptions, options);
  return async ({ client }: Database): Promise<string> => {
    const id = await idOf(client, slug);
    const { revisions } = await listRevisions(client, id, { page: 1, limit: 2 * MAX_REVISIONS });
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

/** Gives a template the content of an earlier revision, also if it was deleted. */
export function restore(slug: string, options: unknown) {
  const given = parseOptions(restoreOptions, options);
  return async (database: Database): Promise<string> => {
    const id = await idOf(database.client, slug);
    const work = (transaction: CatalogTransaction) => restoreContent(transaction, { id, revision: given.revision });
    await recorded(database, { command: 'restore', id, message: given.message }, work);
    return `restored revision ${given.revision} of ${slug}`;
  };
}

/** Publishes an advisory about revisions of a template, and prints its id. */
export function advise(slug: string, options: unknown) {
  const { from, to, ...stated } = parseOptions(adviseOptions, options);
  return async (database: Database): Promise<string> => {
    const id = await idOf(database.client, slug);
    const { id: advisory } = await recorded(database, { command: 'advise', id }, (transaction) =>
      advisories.createAdvisory(transaction, id, { ...stated, first_revision: from, last_revision: to }),
    );
    return advisory;
  };
}

/** Withdraws an advisory. */
export const withdrawAdvisory = (advisoryId: string) => async (database: Database) => {
  const isId = z.uuid().safeParse(advisoryId).success;
  const where = { id: advisoryId };
  const found = isId ? await database.client.templateAdvisory.findUnique({ where }) : null;
  if (!found) throw new Error(`No advisory has the id ${advisoryId}.`);
  const { template_id: id } = found;
  await recorded(database, { command: 'withdraw-advisory', id }, (transaction) =>
    advisories.withdrawAdvisory(transaction, { id, advisoryId }),
  );
  return `withdrew ${advisoryId}`;
};

interface Recorded {
  readonly command: string;
  /** The template that the command concerns. */
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

/** The id of the template with the slug, or of the one that was deleted last with it. */
async function idOf({ template, templateRevision }: Database['client'], slug: string): Promise<string> {
  const existing = await template.findUnique({ where: { slug }, select: { id: true } });
  if (existing) return existing.id;
  const deleted = await templateRevision.findFirst({
    where: { slug, content: { equals: Prisma.DbNull } },
    orderBy: { at: 'desc' },
    select: { template_id: true },
  });
  if (!deleted) throw new Error(`No template has the slug ${slug}, and none was deleted with it.`);
  return deleted.template_id;
}
