import { setImmediate } from 'node:timers/promises';
import type { Reader, SnapshotReader } from '@svc/database';
import { Prisma } from '../../generated/prisma/client.ts';
import { type CatalogState, newestCommit } from '../../revision/revision.ts';
import type { Kind } from '../kinds.ts';
import type { TemplateKeys } from './entries.ts';
import type { CategoryKeys, Scope } from './groups.ts';
import { NO_ID } from './order.ts';

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

const PART = 1000;

/** Reads the changes after a state. */
export const readChanges = async (reader: Reader, kind: Kind, from: CatalogState): Promise<CatalogChanges> =>
  changesOf(await reader.read<Row>(changesSince(kind, from)));

/**
 * Reads the whole catalog, which continues from no state. The templates are read in parts, between which other work of
 * the process runs. `size` is the number of templates of a part.
 */
export const readCatalog = (reader: SnapshotReader, kind: Kind, size = PART): Promise<CatalogChanges> =>
  reader.inSnapshot(async (snapshot) => {
    const changes = changesOf(await snapshot.read<Row>(CATALOG));
    const templates: TemplateKeys[] = [];
    for (let isLast = false; !isLast; ) {
      const [row] = await snapshot.read<Pick<Row, 'templates'>>(partAfter(kind, templates.at(-1), size));
      templates.push(...(row?.templates ?? []));
      isLast = (row?.templates.length ?? 0) < size;
      await setImmediate();
    }
    return { ...changes, templates };
  });

function changesOf([row]: readonly Row[]): CatalogChanges {
  if (!row) throw new Error('catalog_clock or catalog_commits has no row');
  const { at, floor, commit, ...changes } = row;
  return { ...changes, state: { at, floor, commit: { at, commit } } };
}

/** A column with a time, in milliseconds. */
const milliseconds = (column: string) => Prisma.raw(`(extract(epoch FROM ${column}) * 1000)::float8`);

const categories = Prisma.sql`
  SELECT coalesce(json_agg(json_build_object('id', id, 'slug', slug, 'shownAt', ${milliseconds('shown_at')})), '[]')
  FROM categories`;

/** The templates of a table or subquery. */
const objects = ({ downloads, id, kindOf, hasGpu }: Kind, source: Prisma.Sql) => Prisma.sql`
  SELECT coalesce(json_agg(json_build_object(
    'id', t.id, 'slug', t.slug, 'sortName', t.sort_name, 'categoryId', t.category_id, 'ownerOrgId', t.owner_org_id,
    'isPublic', t.is_public, 'kind', ${kindOf}, 'minTier', t.min_tier, 'hasGpu', ${hasGpu},
    'createdAt', ${milliseconds('t.created_at')}, 'updatedAt', ${milliseconds('t.updated_at')},
    'downloads', coalesce(d.count, 0)) ORDER BY t.sort_name, t.id), '[]')
  FROM ${source} t LEFT JOIN ${downloads} d ON d.${id} = t.id`;

/**
 * `at` of the index is the stamp of the newest commit and not the clock, because the conditions
 * below compare it with stamps.
 */
const newest = Prisma.sql`
  FROM catalog_clock k, ${newestCommit} n`;

/** The catalog without its templates. */
const CATALOG = Prisma.sql`
  SELECT n.at, k.floor, n.commit, false AS continues, '[]'::json AS commits, (${categories}) AS categories,
    '[]'::json AS templates, ARRAY[]::uuid[] AS deleted, '[]'::json AS left, false AS "privacyChanged",
    ARRAY[]::uuid[] AS organizations
  ${newest}`;

/** The templates that follow one in the order of lists; without one, the first ones. */
function partAfter(kind: Kind, last: Pick<TemplateKeys, 'sortName' | 'id'> | undefined, size: number): Prisma.Sql {
  const { sortName, id } = last ?? { sortName: '', id: NO_ID };
  const part = Prisma.sql`(
    SELECT * FROM ${kind.table} WHERE (sort_name, id) > (${sortName}, ${id}::uuid) ORDER BY sort_name, id LIMIT ${size})`;
  return Prisma.sql`SELECT (${objects(kind, part)}) AS templates`;
}

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
    (${objects(kind, kind.table)} WHERE t.updated_at > ${at}) AS templates,
    ARRAY(SELECT s.${kind.id} FROM ${kind.scopes} s
      WHERE s.valid_to > ${at} AND NOT EXISTS (SELECT FROM ${kind.table} t WHERE t.id = s.${kind.id})) AS deleted,
    (SELECT coalesce(json_agg(DISTINCT jsonb_build_object(
        'categoryId', category_id, 'ownerOrgId', owner_org_id, 'isPublic', is_public)), '[]')
      FROM ${kind.scopes} WHERE valid_to > ${at}) AS left,
    EXISTS (SELECT FROM category_privacy WHERE valid_to > ${at}) AS "privacyChanged",
    ARRAY(SELECT org_id FROM catalog_access_periods WHERE valid_from > ${at}
      UNION SELECT org_id FROM catalog_access_periods WHERE valid_to > ${at}) AS organizations
  ${newest}`;
