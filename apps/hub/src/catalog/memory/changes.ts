import type { Reader } from '@svc/database';
import { Prisma } from '../../generated/prisma/client.ts';
import { type CatalogState, newestCommit } from '../../revision/revision.ts';
import type { Kind } from '../kinds.ts';
import type { TemplateKeys } from './entries.ts';
import type { CategoryKeys, Scope } from './groups.ts';

/** What changed in the catalog after a state, read in one snapshot. */
export interface CatalogChanges {
  readonly state: CatalogState;
  /**
   * The changes continue from the given state. If not, the database was restored from a backup, or
   * its history was pruned.
   */
  readonly continues: boolean;
  /** The commits since then, with their stamps in milliseconds. */
  readonly commits: readonly { readonly commit: string; readonly at: number }[];
  readonly categories: readonly CategoryKeys[];
  /** New and changed templates, in the order of lists. */
  readonly templates: readonly TemplateKeys[];
  /** The ids of templates that were deleted. */
  readonly deleted: readonly string[];
  /** What the scopes were of templates that were deleted, or that have another scope now. */
  readonly left: readonly Scope[];
  /** A category became private or public, or was deleted. */
  readonly privacyChanged: boolean;
  /** The organizations that gained or lost a grant. */
  readonly organizations: readonly string[];
}

interface Row extends Omit<CatalogChanges, 'state'> {
  readonly at: Date;
  readonly floor: Date | null;
  readonly commit: string;
}

/** Reads the changes after a state; without one, the whole catalog. */
export async function readChanges(reader: Reader, kind: Kind, from: CatalogState | undefined): Promise<CatalogChanges> {
  const [row] = await reader.read<Row>(from ? changesSince(kind, from) : everything(kind));
  if (!row) throw new Error('catalog_clock or catalog_commits has no row');
  const { at, floor, commit, ...changes } = row;
  return { ...changes, state: { at, floor, commit: { at, commit } } };
}

const milliseconds = (column: string) => Prisma.raw(`(extract(epoch FROM ${column}) * 1000)::float8`);

const categories = Prisma.sql`
  SELECT coalesce(json_agg(json_build_object('id', id, 'slug', slug, 'shownAt', ${milliseconds('shown_at')})), '[]')
  FROM categories`;

const objects = ({ table, downloads, id, kindOf, hasGpu }: Kind, condition: Prisma.Sql) => Prisma.sql`
  SELECT coalesce(json_agg(json_build_object(
    'id', t.id, 'slug', t.slug, 'sortName', t.sort_name, 'categoryId', t.category_id, 'ownerOrgId', t.owner_org_id,
    'isPublic', t.is_public, 'kind', ${kindOf}, 'minTier', t.min_tier, 'hasGpu', ${hasGpu},
    'createdAt', ${milliseconds('t.created_at')}, 'updatedAt', ${milliseconds('t.updated_at')},
    'downloads', coalesce(d.count, 0)) ORDER BY t.sort_name, t.id), '[]')
  FROM ${table} t LEFT JOIN ${downloads} d ON d.${id} = t.id WHERE ${condition}`;

/**
 * `at` of the index is the stamp of the newest commit and not the clock, because the conditions
 * below compare it with stamps.
 */
const newest = Prisma.sql`
  FROM catalog_clock k, ${newestCommit} n`;

const everything = (kind: Kind): Prisma.Sql => Prisma.sql`
  SELECT n.at, k.floor, n.commit, false AS continues, '[]'::json AS commits, (${categories}) AS categories,
    (${objects(kind, Prisma.sql`true`)}) AS templates, ARRAY[]::uuid[] AS deleted, '[]'::json AS left, false AS "privacyChanged",
    ARRAY[]::uuid[] AS organizations
  ${newest}`;

/**
 * Each condition on a stamp has an index, so that the cost depends on the number of changes only.
 */
const changesSince = (kind: Kind, { at, commit }: CatalogState): Prisma.Sql => Prisma.sql`
  SELECT n.at, k.floor, n.commit,
    coalesce(k.floor <= ${at}, true)
      AND EXISTS (SELECT FROM catalog_commits WHERE at = ${commit.at} AND commit = ${commit.commit}::uuid) AS continues,
    (SELECT coalesce(json_agg(json_build_object('commit', commit, 'at', ${milliseconds('at')})), '[]')
      FROM catalog_commits WHERE at > ${at}) AS commits,
    (${categories} WHERE updated_at > ${at}) AS categories,
    (${objects(kind, Prisma.sql`t.updated_at > ${at}`)}) AS templates,
    ARRAY(SELECT s.${kind.id} FROM ${kind.scopes} s
      WHERE s.valid_to > ${at} AND NOT EXISTS (SELECT FROM ${kind.table} t WHERE t.id = s.${kind.id})) AS deleted,
    (SELECT coalesce(json_agg(DISTINCT jsonb_build_object(
        'categoryId', category_id, 'ownerOrgId', owner_org_id, 'isPublic', is_public)), '[]')
      FROM ${kind.scopes} WHERE valid_to > ${at}) AS left,
    EXISTS (SELECT FROM category_privacy WHERE valid_to > ${at}) AS "privacyChanged",
    ARRAY(SELECT org_id FROM catalog_access_periods WHERE valid_from > ${at}
      UNION SELECT org_id FROM catalog_access_periods WHERE valid_to > ${at}) AS organizations
  ${newest}`;
