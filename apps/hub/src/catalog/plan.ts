import { MAX_PLANNED_ORGANIZATIONS } from '@svc/contract/hub';
import type { Reader } from '@svc/database';
import { Prisma } from '../generated/prisma/client.ts';
import { visibleObjects, visibleToOrganization } from './visibility.ts';

interface Pair {
  readonly org_id: string;
  readonly category_id: string;
}

/** Changes that have not been made. */
export interface PlannedChanges {
  readonly grants: readonly Pair[];
  readonly revokes: readonly Pair[];
  readonly categories: readonly { readonly id: string; readonly is_private: boolean }[];
  /** The ids of templates that would be deleted. */
  readonly withdrawn: readonly string[];
}

/**
 * The number of templates of a category that an organization sees; `org_id` is null for everyone
 * else.
 */
interface Seen {
  readonly org_id: string | null;
  readonly category_id: string;
  readonly slug: string;
  /** Templates that the visibility rule treats alike: all of a group are visible, or none. */
  readonly group_key: string;
  readonly count: number;
}

interface Organization {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

interface Change {
  gained: number;
  lost: number;
}

const columns = (pairs: readonly Pair[]) =>
  Prisma.sql`SELECT * FROM unnest(${pairs.map(({ org_id }) => org_id)}::uuid[], ${pairs.map(({ category_id }) => category_id)}::uuid[])`;

/**
 * Replaces the tables that the visibility rule reads by the tables as they would be: a common table
 * expression hides the table of the same name. So the plan uses the rule itself, and locks and
 * writes nothing.
 */
const overlay = ({ grants, revokes, categories, withdrawn }: PlannedChanges) => Prisma.sql`
  WITH catalog_access AS (
    (SELECT org_id, category_id FROM catalog_access EXCEPT ${columns(revokes)}) UNION ${columns(grants)}),
  categories AS (
    SELECT c.id, c.slug, coalesce(p.is_private, c.is_private) AS is_private FROM categories c
    LEFT JOIN (SELECT DISTINCT ON (id) id, is_private FROM unnest(
      ${categories.map(({ id }) => id)}::uuid[], ${categories.map(({ is_private }) => is_private)}::boolean[]) AS p(id, is_private)
    ) p ON p.id = c.id),
  templates AS (SELECT * FROM templates WHERE NOT id = ANY (${[...withdrawn]}::uuid[]))`;

/** The templates of the categories, by group, that each organization and everyone else sees. */
const seen = (categoryIds: readonly string[], orgIds: readonly string[]) => Prisma.sql`
  , groups AS (
    SELECT category_id, owner_org_id, is_public, count(*)::int AS count FROM templates
    WHERE category_id = ANY (${[...categoryIds]}::uuid[]) GROUP BY category_id, owner_org_id, is_public)
  SELECT o.id AS org_id, c.id AS category_id, c.slug, concat_ws(' ', t.owner_org_id, t.is_public) AS group_key, t.count
  FROM groups t JOIN categories c ON c.id = t.category_id
  JOIN unnest(${[...orgIds]}::uuid[]) AS o(id) ON ${visibleToOrganization(Prisma.sql`o.id`)}
  UNION ALL
  SELECT NULL, c.id, c.slug, concat_ws(' ', t.owner_org_id, t.is_public), t.count
  FROM groups t JOIN categories c ON c.id = t.category_id WHERE ${visibleObjects({ kind: 'anonymous' })}`;

/** No change. */
const NOTHING: PlannedChanges = { grants: [], revokes: [], categories: [], withdrawn: [] };

/** Compares what organizations see with what they would see. The statements read one snapshot. */
export async function planVisibility(reader: Reader, changes: PlannedChanges) {
  const categoryIds = await affectedCategories(reader, changes);
  const { organizations, total } = await affectedOrganizations(reader, changes, categoryIds);
  const orgIds = organizations.map(({ id }) => id);
  const read = (planned: PlannedChanges) =>
    reader.read<Seen>(Prisma.sql`${overlay(planned)} ${seen(categoryIds, orgIds)}`);
  const changed = compare(await read(NOTHING), await read(changes));
  return {
    everyone: sumOf(changed.get(null)),
    organizations: organizations.map((organization) => {
      const categories = [...(changed.get(organization.id)?.values() ?? [])];
      return { ...organization, ...sumOf(changed.get(organization.id)), categories };
    }),
    total,
  };
}

async function affectedCategories(
  reader: Reader,
  { grants, revokes, categories, withdrawn }: PlannedChanges,
): Promise<string[]> {
  const rows = await reader.read<{ category_id: string }>(
    Prisma.sql`SELECT DISTINCT category_id FROM templates WHERE id = ANY (${[...withdrawn]}::uuid[])`,
  );
  const named = [...grants, ...revokes, ...rows].map(({ category_id }) => category_id);
  return [...new Set([...named, ...categories.map(({ id }) => id)])];
}

/**
 * The organizations with a grant for one of the categories, now or then, or with a template in one.
 * The others see what everyone sees.
 */
async function affectedOrganizations(
  reader: Reader,
  { grants }: PlannedChanges,
  categoryIds: readonly string[],
): Promise<{ readonly organizations: readonly Organization[]; readonly total: number }> {
  const affected = Prisma.sql`
    SELECT id, slug, name FROM organizations WHERE id IN (
      SELECT org_id FROM catalog_access WHERE category_id = ANY (${[...categoryIds]}::uuid[])
      UNION SELECT owner_org_id FROM templates WHERE category_id = ANY (${[...categoryIds]}::uuid[])
      UNION SELECT unnest(${grants.map(({ org_id }) => org_id)}::uuid[]))`;
  const organizations = await reader.read<Organization>(
    Prisma.sql`${affected} ORDER BY slug LIMIT ${MAX_PLANNED_ORGANIZATIONS}`,
  );
  const [counted] = await reader.read<{ total: number }>(
    Prisma.sql`SELECT count(*)::int AS total FROM (${affected}) o`,
  );
  return { organizations, total: counted?.total ?? 0 };
}

type ByCategory = Map<string, Change & { readonly id: string; readonly slug: string }>;

function compare(before: readonly Seen[], after: readonly Seen[]): Map<string | null, ByCategory> {
  const keyOf = ({ org_id, category_id, group_key }: Seen) => JSON.stringify([org_id, category_id, group_key]);
  const was = new Map(before.map((row) => [keyOf(row), row]));
  const is = new Map(after.map((row) => [keyOf(row), row]));
  const changed = new Map<string | null, ByCategory>();
  for (const [key, row] of new Map([...was, ...is])) {
    const difference = (is.get(key)?.count ?? 0) - (was.get(key)?.count ?? 0);
    if (difference === 0) continue;
    const categories: ByCategory = changed.get(row.org_id) ?? new Map();
    changed.set(row.org_id, categories);
    const { category_id: id, slug } = row;
    const category = categories.get(id) ?? { id, slug, gained: 0, lost: 0 };
    categories.set(id, category);
    if (difference > 0) category.gained += difference;
    else category.lost -= difference;
  }
  return changed;
}

const sumOf = (categories: ByCategory | undefined): Change =>
  [...(categories?.values() ?? [])].reduce(
    (sum, { gained, lost }) => ({ gained: sum.gained + gained, lost: sum.lost + lost }),
    { gained: 0, lost: 0 },
  );
