import { offsetOf, paginationOf } from '@svc/contract';
import { MAX_REVISIONS } from '@svc/contract/hub';
import { invalid, notFound, Problem } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Kind } from '../kinds.ts';
import { type CatalogContent, changesOf, type Revised, type RevisedKind, readContent } from './content.ts';

type Client = Pick<Database['client'], '$queryRaw'>;

interface Page {
  readonly page: number;
  readonly limit: number;
}

/** Who changed an object, when and why. */
interface ChangeColumns {
  readonly revision: number;
  readonly at: Date;
  readonly author: string | null;
  readonly author_id: string | null;
  readonly message: string;
}

const changeColumns = Prisma.sql`r.revision, r.at, r.author, r.author_id, r.message`;

/** The revision before `r` that is known, as `p`. */
export const previous = ({ revisions, id }: Kind): Prisma.Sql => Prisma.sql`LEFT JOIN LATERAL (
  SELECT content, documentation FROM ${revisions}
  WHERE ${id} = r.${id} AND revision < r.revision ORDER BY revision DESC LIMIT 1) p ON true`;

/**
 * The members of the content that `r` changed, as an array in SQL. A member that is not stored has its default, and
 * what did not exist had the defaults.
 */
export function changedMembers({ defaults }: Pick<Revised, 'defaults'>): Prisma.Sql {
  const stored = JSON.stringify({ ...defaults, documentation: undefined });
  return Prisma.sql`
  CASE WHEN r.content IS NULL THEN '{}' ELSE ARRAY(
    SELECT a.key FROM jsonb_each(${stored}::jsonb || r.content) a
    LEFT JOIN jsonb_each(${stored}::jsonb || coalesce(p.content, '{}')) b ON b.key = a.key
    WHERE a.value IS DISTINCT FROM b.value
    UNION ALL
    SELECT 'documentation' WHERE r.documentation <> coalesce(p.documentation, sha256('')))
  END`;
}

/** Names of members in the order of replies, without columns that a later version of the hub added. */
export const inOrder = ({ members }: Pick<Revised, 'members'>, changed: readonly string[]): string[] =>
  members.filter((member) => changed.includes(member));

/** A page of the revisions of an object, newest first. @throws 404 if no revision is known */
export async function listRevisions(client: Client, revised: Revised, id: string, { page, limit }: Page) {
  const { kind } = revised;
  const rows = await client.$queryRaw<
    (ChangeColumns & { readonly deleted: boolean; readonly version: string | null; readonly changed: string[] })[]
  >`
    SELECT ${changeColumns}, r.content IS NULL AS deleted, r.content ->> 'version' AS version,
           ${changedMembers(revised)} AS changed
    FROM (SELECT * FROM ${kind.revisions} WHERE ${kind.id} = ${id}::uuid
          ORDER BY revision DESC LIMIT ${limit} OFFSET ${offsetOf({ page, limit })}) r ${previous(kind)}
    ORDER BY r.revision DESC`;
  const [counted] = await client.$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM ${kind.revisions} WHERE ${kind.id} = ${id}::uuid`;
  const total = counted?.total ?? 0;
  if (total === 0) throw notFound();
  return {
    revisions: rows.map((row) => ({ ...row, changed: inOrder(revised, row.changed) })),
    pagination: paginationOf({ page, limit }, total),
  };
}

interface StoredRevision extends ChangeColumns {
  readonly stored: unknown;
  readonly text: string | null;
}

/** A revision of an object. */
interface Revision<Content> extends ChangeColumns {
  /** Undefined: the object was deleted. */
  readonly content: Content | undefined;
}

const present = <Content extends CatalogContent>(
  revised: RevisedKind<Content>,
  { stored, text, ...change }: StoredRevision,
): Revision<Content> => ({
  ...change,
  content: stored === null ? undefined : readContent(revised, stored, text ?? ''),
});

const select = (client: Client, { revisions, texts }: Kind, condition: Prisma.Sql) =>
  client.$queryRaw<StoredRevision[]>`
  SELECT ${changeColumns}, r.content AS stored, x.text
  FROM ${revisions} r LEFT JOIN ${texts} x ON x.sha256 = r.documentation WHERE ${condition}`;

/** A revision of an object. @throws 404; its detail states whether the revision can have been deleted */
export async function readRevision<Content extends CatalogContent>(
  client: Client,
  revised: RevisedKind<Content>,
  id: string,
  revision: number,
): Promise<Revision<Content>> {
  const { kind } = revised;
  const [found] = await select(client, kind, Prisma.sql`r.${kind.id} = ${id}::uuid AND r.revision = ${revision}`);
  if (found) return present(revised, found);
  const [known] = await client.$queryRaw<{ first: number | null; last: number | null }[]>`
    SELECT min(revision) AS first, max(revision) AS last FROM ${kind.revisions} WHERE ${kind.id} = ${id}::uuid`;
  if (known?.first == null || known.last === null) throw notFound();
  throw new Problem(
    'not_found',
    revision < known.first
      ? `The oldest revision that the hub has is ${known.first}. It keeps the newest ${MAX_REVISIONS} revisions of each ${kind.noun}.`
      : `The ${kind.noun} has no revision ${revision}. Its newest one is ${known.last}. The numbers have gaps.`,
  );
}

/** The revision before another one; undefined if none is known. */
async function readPrevious<Content extends CatalogContent>(
  client: Client,
  revised: RevisedKind<Content>,
  id: string,
  revision: number,
): Promise<Revision<Content> | undefined> {
  const { kind } = revised;
  const [found] = await select(
    client,
    kind,
    Prisma.sql`r.${kind.id} = ${id}::uuid AND r.revision = (
      SELECT max(revision) FROM ${kind.revisions} WHERE ${kind.id} = ${id}::uuid AND revision < ${revision})`,
  );
  return found && present(revised, found);
}

interface Compared {
  readonly id: string;
  readonly revision: number;
  /** An earlier revision. Default: the one before. */
  readonly since?: number | undefined;
}

/** The members in which a revision differs from an earlier one. @throws 400, 404 */
export async function compareRevisions(
  client: Client,
  revised: RevisedKind<CatalogContent>,
  { id, revision, since }: Compared,
) {
  if (since !== undefined && since >= revision)
    throw invalid([{ path: 'since', message: `must be below the revision ${revision}` }]);
  const after = await readRevision(client, revised, id, revision);
  const before =
    since === undefined
      ? await readPrevious(client, revised, id, revision)
      : await readRevision(client, revised, id, since);
  return { changes: changesOf(revised, before?.content, after.content) };
}

/** The number of the newest revision of an object; undefined if none is known. */
export async function newestRevision(client: Client, kind: Kind, id: string): Promise<number | undefined> {
  const [found] = await client.$queryRaw<{ revision: number }[]>`
    SELECT revision FROM ${kind.revisions} WHERE ${kind.id} = ${id}::uuid ORDER BY revision DESC LIMIT 1`;
  return found?.revision;
}

/** The deletions after which the object was not restored, as `r`. */
const deletions = ({ revisions, table, id }: Kind): Prisma.Sql => Prisma.sql`
  FROM ${revisions} r
  WHERE r.content IS NULL AND NOT EXISTS (SELECT FROM ${table} t WHERE t.id = r.${id})
    AND NOT EXISTS (SELECT FROM ${revisions} l WHERE l.${id} = r.${id} AND l.revision > r.revision)`;

interface DeletedObject extends ChangeColumns {
  readonly id: string;
  readonly slug: string;
  readonly name: string | null;
  readonly category_id: string | null;
  readonly last_revision: number | null;
}

/** A page of the deleted objects, the last deleted first. */
export async function listDeleted(client: Client, kind: Kind, { page, limit }: Page) {
  const { revisions, id } = kind;
  const deleted = await client.$queryRaw<DeletedObject[]>`
    SELECT r.${id} AS id, r.slug, ${changeColumns},
           p.content ->> 'name' AS name, p.content ->> 'category_id' AS category_id, p.revision AS last_revision
    FROM (SELECT r.* ${deletions(kind)} ORDER BY r.at DESC, r.${id}
          LIMIT ${limit} OFFSET ${offsetOf({ page, limit })}) r
    LEFT JOIN LATERAL (
      SELECT revision, content FROM ${revisions}
      WHERE ${id} = r.${id} AND revision < r.revision ORDER BY revision DESC LIMIT 1) p ON true
    ORDER BY r.at DESC, r.${id}`;
  const [counted] = await client.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${deletions(kind)}`;
  return { deleted, pagination: paginationOf({ page, limit }, counted?.total ?? 0) };
}
