import { Prisma } from '../generated/prisma/client.ts';
import type { Viewer } from '../identity/principal.ts';
import type { Kind } from './kinds.ts';

// The visibility rule of the catalog: which templates, applications and categories a viewer sees, now and in the
// past. It is the same for each kind of objects. Aliases: t objects (or their scopes), c categories (or their privacy), g grants.

/** The objects that a viewer sees, as a condition on `Kind.sources`. */
export function visibleObjects(viewer: Viewer): Prisma.Sql {
  switch (viewer.kind) {
    case 'administrator':
      return Prisma.sql`true`;
    case 'organization':
      return visibleToOrganization(viewer.orgId);
    case 'anonymous':
      return openToAll;
  }
}

/** The objects that an organization sees. Its id can be an expression, such as a column. */
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
 * The time since which a viewer sees an object, as an expression on `Kind.sources`. An object can be visible for several reasons: public, owned, granted. A reason holds since
 * the latest start of its conditions, and the object is visible since the earliest of these
 * times. The result can be later than the true start, if a condition changed in between. The
 * object is then sent once more than necessary.
 */
export function visibleFrom(kind: Kind, viewer: Viewer): Prisma.Sql {
  const scopeFrom = Prisma.sql`(SELECT valid_from FROM ${kind.scopes} WHERE ${kind.id} = t.id AND valid_to IS NULL)`;
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
 * A query of all intervals in which a viewer saw an object, with one row (id, since, until)
 * for each interval and reason. `until` is infinity if the interval has not ended.
 */
export function visiblePeriods({ scopes, id }: Kind, viewer: Viewer): Prisma.Sql {
  const publicPeriods = Prisma.sql`
    SELECT t.${id}, greatest(t.valid_from, c.valid_from) AS since, least(${end('t')}, ${end('c')}) AS until
    FROM ${scopes} t JOIN category_privacy c ON c.category_id = t.category_id
    WHERE t.is_public AND NOT c.is_private AND ${overlap}`;
  switch (viewer.kind) {
    case 'administrator':
      return Prisma.sql`SELECT t.${id}, t.valid_from AS since, ${end('t')} AS until FROM ${scopes} t`;
    case 'anonymous':
      return publicPeriods;
    case 'organization':
      return Prisma.sql`${publicPeriods}
        UNION ALL SELECT t.${id}, t.valid_from, ${end('t')} FROM ${scopes} t WHERE ${ownedBy(viewer.orgId)}
        UNION ALL SELECT t.${id}, greatest(t.valid_from, c.valid_from, g.valid_from), least(${end('t')}, ${end('c')}, ${end('g')})
          FROM ${scopes} t
          JOIN category_privacy c ON c.category_id = t.category_id
          JOIN catalog_access_periods g ON g.category_id = t.category_id AND g.org_id = ${viewer.orgId}::uuid
          WHERE ${grantable(viewer.orgId)}
            AND greatest(t.valid_from, c.valid_from, g.valid_from) < least(${end('t')}, ${end('c')}, ${end('g')})`;
  }
}

/**
 * A condition that narrows a query of changes to the objects that an index finds, before the
 * history of each row is read. It holds if the stamp of the object, or a stamp that `visibleFrom`
 * uses, is later than `since`. The start of a scope needs no condition of its own: a scope starts
 * with a change of its object.
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
 * Narrows a query of removals to the objects of which an interval in `visiblePeriods` ended after
 * `since`.
 */
export function endedSince(kind: Kind, viewer: Viewer, since: Date): Prisma.Sql {
  const scopes = Prisma.sql`SELECT ${kind.id} FROM ${kind.scopes} WHERE valid_to > ${since}`;
  const inCategories = (ended: Prisma.Sql) =>
    Prisma.sql`UNION SELECT ${kind.id} FROM ${kind.scopes} WHERE category_id IN (${ended})`;
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
 * The objects that a grant for a private category shows: all except hidden objects of other
 * organizations.
 */
const grantable = (orgId: OrgId) =>
  Prisma.sql`(c.is_private AND (t.is_public OR t.owner_org_id IS NULL OR t.owner_org_id = ${orgId}::uuid))`;

const granted = (orgId: OrgId) =>
  Prisma.sql`EXISTS (SELECT FROM catalog_access g WHERE g.category_id = c.id AND g.org_id = ${orgId}::uuid)`;

const privacyFrom = Prisma.sql`(SELECT valid_from FROM category_privacy WHERE category_id = c.id AND valid_to IS NULL)`;

const grantFrom = (orgId: string) => Prisma.sql`(
  SELECT valid_from FROM catalog_access_periods
  WHERE category_id = c.id AND org_id = ${orgId}::uuid AND valid_to IS NULL)`;

const end = (alias: 't' | 'c' | 'g') => Prisma.sql`coalesce(${Prisma.raw(alias)}.valid_to, 'infinity')`;

const overlap = Prisma.sql`greatest(t.valid_from, c.valid_from) < least(${end('t')}, ${end('c')})`;
