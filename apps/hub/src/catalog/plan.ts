import { MAX_PLANNED_ORGANIZATIONS } from '@svc/contract/hub';
import type { Reader } from '@svc/database';
import { Prisma } from '../generated/prisma/client.ts';
import { applications, type Kind, templates } from './kinds.ts';
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
  /** The ids of templates and applications that would be deleted. */
  readonly withdrawn: readonly string[];
}

/** The number of objects of a kind and a category that an organization sees; `org_id` is null for everyone else. */
interface Seen {
  readonly kind: Kind['noun'];
  readonly org_id: string | null;
  readonly category_id: string;
  readonly slug: string;
  /** Objects that the visibility rule treats alike: all of a group are visible, or none. */
  readonly group_key: string;
  readonly count: number;
}

interface Organization {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/** Of templates, and of applications. */
interface Change {
  gained: number;
  lost: number;
  readonly applications: { gained: number; lost: number };
}

const noChange = (): Change => ({ gained: 0, lost: 0, applications: { gained: 0, lost: 0 } });

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
  objects AS (SELECT * FROM (${OBJECTS}) o WHERE NOT id = ANY (${[...withdrawn]}::uuid[]))`;

/** The members of templates and applications that the rule reads. */
const OBJECTS = Prisma.join(
  [templates, applications].map(
    ({ noun, table }) =>
      Prisma.sql`SELECT ${noun}::text AS kind, id, category_id, owner_org_id, is_public FROM ${table}`,
  ),
  ' UNION ALL ',
);

/** The objects of the categories, by group, that each organization and everyone else sees. */
const seen = (categoryIds: readonly string[], orgIds: readonly string[]) => Prisma.sql`
  , groups AS (
    SELECT kind, category_id, owner_org_id, is_public, count(*)::int AS count FROM objects
    WHERE category_id = ANY (${[...categoryIds]}::uuid[]) GROUP BY kind, category_id, owner_org_id, is_public)
  SELECT t.kind, o.id AS org_id, c.id AS category_id, c.slug, concat_ws(' ', t.owner_org_id, t.is_public) AS group_key, t.count
  FROM groups t JOIN categories c ON c.id = t.category_id
  JOIN unnest(${[...orgIds]}::uuid[]) AS o(id) ON ${visibleToOrganization(Prisma.sql`o.id`)}
  UNION ALL
  SELECT t.kind, NULL, c.id, c.slug, concat_ws(' ', t.owner_org_id, t.is_public), t.count
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
    Prisma.sql`SELECT DISTINCT category_id FROM (${OBJECTS}) o WHERE id = ANY (${[...withdrawn]}::uuid[])`,
  );
  const named = [...grants, ...revokes, ...rows].map(({ category_id }) => category_id);
  return [...new Set([...named, ...categories.map(({ id }) => id)])];
}

/**
 * The organizations with a grant for one of the categories, now or then, or with a template or an application in one.
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
      UNION SELECT owner_org_id FROM (${OBJECTS}) o WHERE category_id = ANY (${[...categoryIds]}::uuid[])
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
  const keyOf = ({ kind, org_id, category_id, group_key }: Seen) =>
    JSON.stringify([kind, org_id, category_id, group_key]);
  const was = new Map(before.map((row) => [keyOf(row), row]));
  const is = new Map(after.map((row) => [keyOf(row), row]));
  const changed = new Map<string | null, ByCategory>();
  for (const [key, row] of new Map([...was, ...is])) {
    const difference = (is.get(key)?.count ?? 0) - (was.get(key)?.count ?? 0);
    if (difference === 0) continue;
    const categories: ByCategory = changed.get(row.org_id) ?? new Map();
    changed.set(row.org_id, categories);
    const { category_id: id, slug } = row;
    const category = categories.get(id) ?? { id, slug, ...noChange() };
    categories.set(id, category);
    const counts = row.kind === 'template' ? category : category.applications;
    if (difference > 0) counts.gained += difference;
    else counts.lost -= difference;
  }
  return changed;
}

const sumOf = (categories: ByCategory | undefined): Change =>
  [...(categories?.values() ?? [])].reduce(
    (sum, { gained, lost, applications }) => ({
      gained: sum.gained + gained,
      lost: sum.lost + lost,
      applications: {
        gained: sum.applications.gained + applications.gained,
        lost: sum.applications.lost + applications.lost,
      },
    }),
    noChange(),
  );
