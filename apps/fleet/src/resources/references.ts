import { Prisma } from '../generated/prisma/client.ts';

/**
 * The values and references of an environment, with the names of the variables, as a table with the columns `key` and
 * `value`: those of variables, and those of the placeholders in composed values.
 */
export const referencesIn = (env: Prisma.Sql): Prisma.Sql => Prisma.sql`LATERAL (
  SELECT v.key, v.value FROM jsonb_each(${env}) v
  UNION ALL
  SELECT v.key, w.value FROM jsonb_each(${env}) v, jsonb_each(v.value->'with') w)`;
