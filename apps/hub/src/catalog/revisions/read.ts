import { offsetOf, paginationOf } from '@svc/contract';
import { MAX_REVISIONS } from '@svc/contract/hub';
import { notFound, Problem } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { contentMembers, defaultContent, readContent } from './content.ts';

type Client = Pick<Database['client'], '$queryRaw'>;

interface Page {
  readonly page: number;
  readonly limit: number;
}

/** Who changed a template, when and why. */
interface ChangeColumns {
  readonly revision: number;
  readonly at: Date;
  readonly author: string | null;
  readonly author_id: string | null;
  readonly message: string;
}

const changeColumns = Prisma.sql`r.revision, r.at, r.author, r.author_id, r.message`;

/** The revision before `r` that is known, as `p`. */
export const previous = Prisma.sql`LEFT JOIN LATERAL (
  SELECT content, documentation FROM template_revisions
  WHERE template_id = r.template_id AND revision < r.revision ORDER BY revision DESC LIMIT 1) p ON true`;

const { documentation: _, ...withDefaults } = defaultContent;

/**
 * The members of the content that `r` changed, as an array in SQL. A member that is not stored has its default, and
 * what did not exist had the defaults.
 */
export const changedMembers = Prisma.sql`
  CASE WHEN r.content IS NULL THEN '{}' ELSE ARRAY(
    SELECT a.key FROM jsonb_each(${JSON.stringify(withDefaults)}::jsonb || r.content) a
    LEFT JOIN jsonb_each(${JSON.stringify(withDefaults)}::jsonb || coalesce(p.content, '{}')) b ON b.key = a.key
    WHERE a.value IS DISTINCT FROM b.value
    UNION ALL
    SELECT 'documentation' WHERE r.documentation <> coalesce(p.documentation, sha256('')))
  END`;

/** Names of members in the order of replies, without columns that a later version of the hub added. */
export const inOrder = (changed: readonly string[]): string[] =>
  contentMembers.filter((member) => changed.includes(member));

/** A page of the revisions of a template, newest first. @throws 404 if no revision is known */
export async function listRevisions(client: Client, id: string, { page, limit }: Page) {
  const rows = await client.$queryRaw<
    (ChangeColumns & { readonly deleted: boolean; readonly version: string | null; readonly changed: string[] })[]
  >`
    SELECT ${changeColumns}, r.content IS NULL AS deleted, r.content ->> 'version' AS version, ${changedMembers} AS changed
    FROM (SELECT * FROM template_revisions WHERE template_id = ${id}::uuid
          ORDER BY revision DESC LIMIT ${limit} OFFSET ${offsetOf({ page, limit })}) r ${previous}
    ORDER BY r.revision DESC`;
  const [counted] = await client.$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM template_revisions WHERE template_id = ${id}::uuid`;
  const total = counted?.total ?? 0;
  if (total === 0) throw notFound();
  return {
    revisions: rows.map((row) => ({ ...row, changed: inOrder(row.changed) })),
    pagination: paginationOf({ page, limit }, total),
  };
}

interface StoredRevision extends ChangeColumns {
  readonly content: unknown;
  readonly text: string | null;
}

const present = ({ content, text, ...change }: StoredRevision) => ({
  ...change,
  template: content === null ? undefined : readContent(content, text ?? ''),
});

/** A revision with its content; undefined: the template was deleted. */
export type Revision = ReturnType<typeof present>;

const select = (client: Client, condition: Prisma.Sql) => client.$queryRaw<StoredRevision[]>`
  SELECT ${changeColumns}, r.content, x.text
  FROM template_revisions r LEFT JOIN template_texts x ON x.sha256 = r.documentation WHERE ${condition}`;

/** A revision of a template. @throws 404; its detail states whether the revision can have been deleted */
export async function readRevision(client: Client, id: string, revision: number): Promise<Revision> {
  const [found] = await select(client, Prisma.sql`r.template_id = ${id}::uuid AND r.revision = ${revision}`);
  if (found) return present(found);
  const [known] = await client.$queryRaw<{ first: number | null; last: number | null }[]>`
    SELECT min(revision) AS first, max(revision) AS last FROM template_revisions WHERE template_id = ${id}::uuid`;
  if (known?.first == null || known.last === null) throw notFound();
  throw new Problem(
    'not_found',
    revision < known.first
      ? `The oldest revision that the hub has is ${known.first}. It keeps the newest ${MAX_REVISIONS} revisions of each template.`
      : `The template has no revision ${revision}. Its newest one is ${known.last}. The numbers have gaps.`,
  );
}

/** The revision before another one; undefined if none is known. */
export async function readPrevious(client: Client, id: string, revision: number): Promise<Revision | undefined> {
  const [found] = await select(
    client,
    Prisma.sql`r.template_id = ${id}::uuid AND r.revision = (
      SELECT max(revision) FROM template_revisions WHERE template_id = ${id}::uuid AND revision < ${revision})`,
  );
  return found && present(found);
}

/** The number of the newest revision of a template; undefined if none is known. */
export async function newestRevision(client: Client, id: string): Promise<number | undefined> {
  const [found] = await client.$queryRaw<{ revision: number }[]>`
    SELECT revision FROM template_revisions WHERE template_id = ${id}::uuid ORDER BY revision DESC LIMIT 1`;
  return found?.revision;
}

/** The deletions after which the template was not restored, as `r`. */
const deletions = Prisma.sql`
  FROM template_revisions r
  WHERE r.content IS NULL AND NOT EXISTS (SELECT FROM templates t WHERE t.id = r.template_id)
    AND NOT EXISTS (SELECT FROM template_revisions l WHERE l.template_id = r.template_id AND l.revision > r.revision)`;

interface DeletedTemplate extends ChangeColumns {
  readonly id: string;
  readonly slug: string;
  readonly name: string | null;
  readonly category_id: string | null;
  readonly last_revision: number | null;
}

/** A page of the deleted templates, the last deleted first. */
export async function listDeleted(client: Client, { page, limit }: Page) {
  const templates = await client.$queryRaw<DeletedTemplate[]>`
    SELECT r.template_id AS id, r.slug, ${changeColumns},
           p.content ->> 'name' AS name, p.content ->> 'category_id' AS category_id, p.revision AS last_revision
    FROM (SELECT r.* ${deletions} ORDER BY r.at DESC, r.template_id
          LIMIT ${limit} OFFSET ${offsetOf({ page, limit })}) r
    LEFT JOIN LATERAL (
      SELECT revision, content FROM template_revisions
      WHERE template_id = r.template_id AND revision < r.revision ORDER BY revision DESC LIMIT 1) p ON true
    ORDER BY r.at DESC, r.template_id`;
  const [counted] = await client.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${deletions}`;
  return { templates, pagination: paginationOf({ page, limit }, counted?.total ?? 0) };
}
