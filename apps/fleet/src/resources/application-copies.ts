// The copies of applications of the catalog that applications run.
import type { Severity } from '@svc/contract/fleet';
import { Prisma } from '../generated/prisma/client.ts';
import { applicationAdvice, atLeast, isAbout } from './advice.ts';

/** Identifies what an application in a document of the mirror consists of. */
export const applicationHash = (document: Prisma.Sql): Prisma.Sql => Prisma.sql`encode(sha256(convert_to(
  jsonb_build_array(${document}->'inputs', ${document}->'generated', ${document}->'parts')::text, 'UTF8')), 'hex')`;

/** An expression about the specification `s` of the present generation `g` of an application `r`. */
export const ofPresentSpec = (
  expression: Prisma.Sql,
): Prisma.Sql => Prisma.sql`(SELECT ${expression} FROM application_specs s
  JOIN application_generations g ON g.application_id = s.application_id AND g.spec_version = s.spec_version
  WHERE s.application_id = r.id AND g.generation = r.generation)`;

/** The copy `v` of an application of the catalog in a specification `s`, with the columns of a copy of a template. */
export const copyInSpec = Prisma.sql`LATERAL (
  SELECT s.catalog_id, s.catalog_revision, s.acknowledged) v (template_id, template_revision, acknowledged)`;

/** The applications in one of these states. The hash of each application of the catalog is computed once, not for each of its copies. */
const amongStates = (states: readonly string[]) => Prisma.sql`r.id IN (
  WITH present AS MATERIALIZED (
    SELECT c.id, ${applicationHash(Prisma.sql`c.document`)} AS hash FROM catalog_applications c
    WHERE c.id IN (SELECT s.catalog_id FROM application_specs s))
  SELECT p.id FROM applications p
  JOIN application_generations g ON g.application_id = p.id AND g.generation = p.generation
  JOIN application_specs s ON s.application_id = p.id AND s.spec_version = g.spec_version
  LEFT JOIN present c ON c.id = s.catalog_id
  WHERE s.catalog_id IS NOT NULL AND
    CASE WHEN c.id IS NULL THEN 'withdrawn' WHEN c.hash = s.catalog_hash THEN 'current' ELSE 'outdated' END
      = ANY(${states}::text[]))`;

/** What is known about the application of which a specification `s` is a copy. */
export const adviceOfSpec = Prisma.sql`(SELECT ${applicationAdvice} FROM ${copyInSpec})`;

/** The bytes of what is known about it. */
export const adviceBytesOfSpec = Prisma.sql`coalesce((
  SELECT a.bytes FROM catalog_application_advice a WHERE a.application_id = s.catalog_id), 0)`;

/** The filters of a list of applications `r` by the application of the catalog from which they were made. */
export const ofCatalogApplication = {
  application_state: amongStates,
  application_status: (statuses: readonly string[]) =>
    Prisma.sql`coalesce(${ofPresentSpec(Prisma.sql`s.catalog_id IS NOT NULL AND coalesce((
      SELECT a.status FROM catalog_application_advice a WHERE a.application_id = s.catalog_id), 'active') = ANY(${statuses}::text[])`)}, false)`,
  advisory: (severity: Severity) =>
    Prisma.sql`coalesce(${ofPresentSpec(Prisma.sql`EXISTS (
      SELECT FROM ${copyInSpec}, catalog_application_advice a, jsonb_array_elements(a.advisories) x
      WHERE a.application_id = v.template_id AND x->>'severity' = ANY(${atLeast(severity)}) AND ${isAbout})`)}, false)`,
};
