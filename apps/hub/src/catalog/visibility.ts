import { template } from '@svc/contract';
import type { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import type { Viewer } from '../identity/principal.ts';

// The visibility rule of the catalog: which templates and categories a viewer sees, now and in the
// past. Aliases: t templates (or their scopes), c categories (or their privacy), g grants.

/** The templates that a viewer sees, as a condition on `templates t JOIN categories c`. */
export function visibleTemplates(viewer: Viewer): Prisma.Sql {
  switch (viewer.kind) {
    case 'administrator':
      return Prisma.sql`true`;
    case 'organization':
      return visibleToOrganization(viewer.orgId);
    case 'anonymous':
      return openToAll;
  }
}

/** The templates that an organization sees. Its id can be an expression, such as a column. */
export const visibleToOrganization = (orgId: OrgId): Prisma.Sql =>
  Prisma.sql`(${openToAll} OR ${ownedBy(orgId)} OR (${grantable(orgId)} AND ${granted(orgId)}))`;

type OrgId = string | Prisma.Sql;

/** The categories that a viewer sees, as a condition on `categories c`. */
export function visibleCategories(viewer: Viewer): Prisma.Sql {
  switch (viewer.kind) {
    case 'administrator':
      return Prisma.sql`true`;
    case 'organization':
      return Prisma.sql`(NOT c.is_private OR ${granted(viewer.orgId)})`;
    case 'anonymous':
      return Prisma.sql`NOT c.is_private`;
  }
}

/**
 * The time since which a viewer sees a template, as an expression on `templates t JOIN categories
 * c`. A template can be visible for several reasons: public, owned, granted. A reason holds since
 * the latest start of its conditions, and the template is visible since the earliest of these
 * times. The result can be later than the true start, if a condition changed in between. The
 * template is then sent once more than necessary.
 */
export function visibleFrom(viewer: Viewer): Prisma.Sql {
  switch (viewer.kind) {
    case 'administrator':
      return Prisma.sql`t.created_at`;
    case 'anonymous':
      return Prisma.sql`greatest(${scopeFrom}, ${privacyFrom})`;
    case 'organization':
      return Prisma.sql`least(
        CASE WHEN ${openToAll} THEN greatest(${scopeFrom}, ${privacyFrom}) END,
        CASE WHEN ${ownedBy(viewer.orgId)} THEN ${scopeFrom} END,
        CASE WHEN ${grantable(viewer.orgId)} AND ${granted(viewer.orgId)}
          THEN greatest(${scopeFrom}, ${privacyFrom}, ${grantFrom(viewer.orgId)}) END)`;
  }
}

/**
 * A query of all intervals in which a viewer saw a template, with one row (template_id, since, until)
 * for each interval and reason. `until` is infinity if the interval has not ended.
 */
export function visiblePeriods(viewer: Viewer): Prisma.Sql {
  const publicPeriods = Prisma.sql`${scopesInCategories} WHERE t.is_public AND NOT c.is_private AND ${overlap}`;
  switch (viewer.kind) {
    case 'administrator':
      return Prisma.sql`SELECT t.template_id, t.valid_from AS since, ${end('t')} AS until FROM template_scopes t`;
    case 'anonymous':
      return publicPeriods;
    case 'organization':
      return Prisma.sql`${publicPeriods}
        UNION ALL SELECT t.template_id, t.valid_from, ${end('t')} FROM template_scopes t WHERE ${ownedBy(viewer.orgId)}
        UNION ALL SELECT t.template_id, greatest(t.valid_from, c.valid_from, g.valid_from), least(${end('t')}, ${end('c')}, ${end('g')})
          FROM template_scopes t
          JOIN category_privacy c ON c.category_id = t.category_id
          JOIN catalog_access_periods g ON g.category_id = t.category_id AND g.org_id = ${viewer.orgId}::uuid
          WHERE ${grantable(viewer.orgId)}
            AND greatest(t.valid_from, c.valid_from, g.valid_from) < least(${end('t')}, ${end('c')}, ${end('g')})`;
  }
}

/**
 * A condition that narrows a query of changes to the templates that an index finds, before the
 * history of each row is read. It holds if the stamp of the template, or a stamp that `visibleFrom`
 * uses, is later than `since`. The start of a scope needs no condition of its own: a scope starts
 * with a change of its template.
 */
export function touchedSince(viewer: Viewer, since: Date): Prisma.Sql {
  const shown = Prisma.sql`SELECT id FROM categories WHERE shown_at > ${since}`;
  const newPrivacy = Prisma.sql`SELECT category_id FROM category_privacy WHERE valid_from > ${since} AND valid_to IS NULL`;
  const newGrants = (orgId: string) => Prisma.sql`
    SELECT category_id FROM catalog_access_periods
    WHERE org_id = ${orgId}::uuid AND valid_from > ${since} AND valid_to IS NULL`;
  const within = (categories: Prisma.Sql) =>
    // PostgreSQL uses an index for an array.
    Prisma.sql`(t.updated_at > ${since} OR t.category_id = ANY (ARRAY(${categories})))`;
  switch (viewer.kind) {
    case 'administrator':
      return within(shown);
    case 'anonymous':
      return within(Prisma.sql`${shown} UNION ${newPrivacy}`);
    case 'organization':
      return within(Prisma.sql`${shown} UNION ${newPrivacy} UNION ${newGrants(viewer.orgId)}`);
  }
}

/**
 * Narrows a query of removals to the templates of which an interval in `visiblePeriods` ended after
 * `since`.
 */
export function endedSince(viewer: Viewer, since: Date): Prisma.Sql {
  const scopes = Prisma.sql`SELECT template_id FROM template_scopes WHERE valid_to > ${since}`;
  const inCategories = (ended: Prisma.Sql) =>
    Prisma.sql`UNION SELECT template_id FROM template_scopes WHERE category_id IN (${ended})`;
  const endedPrivacy = inCategories(Prisma.sql`SELECT category_id FROM category_privacy WHERE valid_to > ${since}`);
  switch (viewer.kind) {
    case 'administrator':
      return scopes;
    case 'anonymous':
      return Prisma.sql`${scopes} ${endedPrivacy}`;
    case 'organization':
      return Prisma.sql`${scopes} ${endedPrivacy} ${inCategories(Prisma.sql`
        SELECT category_id FROM catalog_access_periods WHERE org_id = ${viewer.orgId}::uuid AND valid_to > ${since}`)}`;
  }
}

const openToAll = Prisma.sql`(t.is_public AND NOT c.is_private)`;

const ownedBy = (orgId: OrgId) => Prisma.sql`(t.owner_org_id = ${orgId}::uuid)`;

/**
 * The templates that a grant for a private category shows: all except hidden templates of other
 * organizations.
 */
const grantable = (orgId: OrgId) =>
  Prisma.sql`(c.is_private AND (t.is_public OR t.owner_org_id IS NULL OR t.owner_org_id = ${orgId}::uuid))`;

const granted = (orgId: OrgId) =>
  Prisma.sql`EXISTS (SELECT FROM catalog_access g WHERE g.category_id = c.id AND g.org_id = ${orgId}::uuid)`;

const scopeFrom = Prisma.sql`(SELECT valid_from FROM template_scopes WHERE template_id = t.id AND valid_to IS NULL)`;

const privacyFrom = Prisma.sql`(SELECT valid_from FROM category_privacy WHERE category_id = c.id AND valid_to IS NULL)`;

const grantFrom = (orgId: string) => Prisma.sql`(
  SELECT valid_from FROM catalog_access_periods
  WHERE category_id = c.id AND org_id = ${orgId}::uuid AND valid_to IS NULL)`;

const end = (alias: 't' | 'c' | 'g') => Prisma.sql`coalesce(${Prisma.raw(alias)}.valid_to, 'infinity')`;

const overlap = Prisma.sql`greatest(t.valid_from, c.valid_from) < least(${end('t')}, ${end('c')})`;

const scopesInCategories = Prisma.sql`
  SELECT t.template_id, greatest(t.valid_from, c.valid_from) AS since, least(${end('t')}, ${end('c')}) AS until
  FROM template_scopes t JOIN category_privacy c ON c.category_id = t.category_id`;

/** A template as a catalog query returns it. */
export type TemplateRow = z.input<typeof template>;

/** The members of a template that are not columns of `templates`. */
const joined = {
  category_name: Prisma.sql`c.name`,
  category_slug: Prisma.sql`c.slug`,
  category_icon: Prisma.sql`c.icon`,
  download_count: Prisma.sql`coalesce((SELECT d.count FROM template_downloads d WHERE d.template_id = t.id), 0)::int`,
};

type Column = Exclude<keyof TemplateRow, keyof typeof joined>;
const isColumn = (member: string): member is Column => !(member in joined);

/**
 * All other members. This does not compile while a member of the contract lacks a column in
 * `schema.prisma`.
 */
const columns: readonly Prisma.TemplateScalarFieldEnum[] = Object.keys(template.shape).filter(isColumn);

const joinedColumns = Object.entries(joined).map(
  ([member, expression]) => Prisma.sql`${expression} AS ${Prisma.raw(member)}`,
);

/** The select list of a query of templates, for `FROM templateSources`. */
export const templateColumns = Prisma.join([...columns.map((column) => Prisma.raw(`t.${column}`)), ...joinedColumns]);

/** What a summary has instead of long columns. */
const SHORTENED: Readonly<Partial<Record<string, string>>> = { documentation: "''", signatures: "'{}'::text[]" };

/** The same columns, without reading the documentation, which is most of a template, and the signatures. */
export const summaryColumns = Prisma.join([
  ...columns.map((column) =>
    column in SHORTENED ? Prisma.raw(`${SHORTENED[column]} AS ${column}`) : Prisma.raw(`t.${column}`),
  ),
  ...joinedColumns,
]);

/** The FROM clause of a query of templates. `visibility.ts` uses the same aliases. */
export const templateSources = Prisma.sql`templates t JOIN categories c ON c.id = t.category_id`;
