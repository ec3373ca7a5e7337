import type { Input } from '@svc/contract';
import { type fleetEndpoints, fleetRoles } from '@svc/contract/fleet';
import { z } from 'zod';
import { by, byNullable, isOneOf, isText, type List } from '../database/lists.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { claimPaths, ROLES_ASCENDING } from './roles.ts';
import type { Mapping } from './users.ts';

/** A user as the list reads it: without password. */
export const listedUser = z.object({
  id: z.string(),
  source: z.enum(['local', 'oidc']),
  email: z.string().nullable(),
  name: z.string(),
  role: z.enum(fleetRoles).nullable(),
  iss: z.string().nullable(),
  sub: z.string().nullable(),
  claims: z.unknown(),
  created_at: z.date(),
  updated_at: z.date(),
  last_sign_in_at: z.date().nullable(),
  blocked_at: z.date().nullable(),
});

/** The list of users. `mapping` is the current mapping of claims to roles. */
export const userList = (mapping: Mapping): List<Input<typeof fleetEndpoints.listUsers>['query']> => ({
  table: Prisma.sql`users`,
  columns: Prisma.sql`r.id, r.source::text, r.email, r.name, r.role::text, r.iss, r.sub, r.claims, r.created_at, r.updated_at, r.last_sign_in_at, r.blocked_at`,
  always: Prisma.sql`r.removed_at IS NULL`,
  rules: {
    filters: {
      email: isText(Prisma.sql`r.email`),
      name: isText(Prisma.sql`r.name`),
      role: isOneOf(roleIn(mapping)),
      source: isOneOf(Prisma.sql`r.source::text`),
    },
    sorts: {
      created_at: by(Prisma.sql`r.created_at`),
      updated_at: by(Prisma.sql`r.updated_at`),
      name: by(Prisma.sql`lower(r.name COLLATE "C")`),
      email: byNullable(Prisma.sql`r.email COLLATE "C"`),
      last_sign_in_at: byNullable(Prisma.sql`r.last_sign_in_at`),
    },
  },
});

/** The role of a user `r`, as `roleOf` computes it from the claims. A test compares both. */
function roleIn({ role_claim, role_map, default_role }: Mapping): Prisma.Sql {
  const map = role_map ?? Object.fromEntries(fleetRoles.map((role) => [role, role]));
  const values = claimPaths(role_claim).map((path) => path.reduce(memberOf, Prisma.sql`r.claims`));
  const claim = Prisma.sql`coalesce(${Prisma.join(values.map((value) => Prisma.sql`nullif(${value}, 'null')`))})`;
  return Prisma.sql`CASE WHEN r.source = 'local' THEN r.role::text ELSE coalesce((
    SELECT m.value FROM (SELECT ${claim} AS claim) c,
      jsonb_array_elements(CASE jsonb_typeof(c.claim) WHEN 'array' THEN c.claim ELSE jsonb_build_array(c.claim) END) given,
      jsonb_each_text(${JSON.stringify(map)}::jsonb) m,
      LATERAL (SELECT given #>> '{}' AS text WHERE jsonb_typeof(given) = 'string') g
    WHERE m.key = g.text OR m.key = ANY (regexp_split_to_array(g.text, '[ ,\\t\\r\\n]+'))
    ORDER BY array_position(${ROLES_ASCENDING}::text[], m.value) DESC LIMIT 1), ${default_role}::text) END`;
}

/** A member of a JSON value, or an element of an array. */
const memberOf = (value: Prisma.Sql, name: string): Prisma.Sql =>
  /^(?:0|[1-9]\d{0,8})$/.test(name)
    ? Prisma.sql`(${value} #> ARRAY[${name}::text])`
    : Prisma.sql`(${value} -> ${name}::text)`;
