// Advisories about what runs: their events and their numbers.
import { severities } from '@svc/contract/fleet';
import type { RecordedEvent } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { isAbout } from '../resources/advice.ts';
import { copyInSpec } from '../resources/application-copies.ts';

/**
 * A row for each advisory `x` of a template or an application of the catalog and each deployment that it is about, if the deployment should
 * run and nobody has acknowledged the advisory for its copy `v`. `object_id` is what was made from the copy: the deployment, or the application
 * of which it is a part.
 */
const affected = Prisma.sql`(
  SELECT x, 'deployment' AS kind, v.template_slug AS name, d.id AS object_id, d.id AS deployment_id
  FROM catalog_advice a
  JOIN workload_revisions v ON v.template_id = a.template_id
  JOIN deployments d ON d.workload_id = v.workload_id AND d.revision = v.revision
  CROSS JOIN LATERAL jsonb_array_elements(a.advisories) x
  WHERE d.desired_state = 'running' AND ${isAbout} AND (x->>'id')::uuid <> ALL(v.acknowledged)
  UNION ALL
  SELECT x, 'application', s.catalog_slug, r.id, d.id
  FROM catalog_application_advice a
  JOIN application_specs s ON s.catalog_id = a.application_id
  JOIN application_generations g ON g.application_id = s.application_id AND g.spec_version = s.spec_version
  JOIN applications r ON r.id = g.application_id AND r.generation = g.generation
  JOIN deployments d ON d.application_id = r.id
  CROSS JOIN ${copyInSpec}
  CROSS JOIN LATERAL jsonb_array_elements(a.advisories) x
  WHERE r.desired_state = 'running' AND ${isAbout} AND (x->>'id')::uuid <> ALL(v.acknowledged)) affected`;

const REASON = 'TemplateAdvisory';

/** The number of characters of an advisory in the message of its event. */
const MAX_MESSAGE = 500;

/**
 * Records an event for each advisory of severity `warning` or `critical` that is about a deployment or an application, once, and the end of those that
 * are about none, because they were withdrawn or because nothing that they are about runs. @returns the recorded events
 */
export async function recordAdvisories(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
): Promise<readonly RecordedEvent[]> {
  return transaction.$queryRaw<RecordedEvent[]>`
    WITH lasting AS (
      SELECT (x->>'id')::uuid AS id, min(name) AS name, min(kind) AS kind, count(DISTINCT object_id) AS copies,
        min(x->>'severity') AS severity, min(x->>'message') AS message
      FROM ${affected} WHERE x->>'severity' IN ('warning', 'critical') GROUP BY 1),
    opened AS (
      INSERT INTO events (id, kind, object_id, name, severity, reason, message)
      SELECT gen_random_uuid(), 'catalog', id, name, 'warning', ${REASON},
        format('A %s advisory is about %s %s: %s', severity, CASE copies WHEN 1 THEN '1 ' || kind ELSE copies || ' ' || kind || 's' END,
          CASE kind WHEN 'deployment' THEN 'of this template' ELSE 'made from this one' END, left(message, ${MAX_MESSAGE}::int))
      FROM lasting
      ON CONFLICT (object_id, reason) WHERE severity = 'warning' AND resolved_at IS NULL DO NOTHING
      RETURNING id, kind, name, severity, reason, message),
    resolved AS (
      UPDATE events SET resolved_at = clock_timestamp()
      WHERE reason = ${REASON} AND severity = 'warning' AND resolved_at IS NULL AND object_id NOT IN (SELECT id FROM lasting)
      RETURNING object_id, name, at),
    recovered AS (
      INSERT INTO events (id, kind, object_id, name, severity, reason, message)
      SELECT gen_random_uuid(), 'catalog', object_id, name, 'normal', 'Recovered',
        format('It recovered after %s s: %s.', round(extract(epoch FROM clock_timestamp() - at)), ${REASON}::text)
      FROM resolved
      RETURNING id, kind, name, severity, reason, message)
    SELECT * FROM opened UNION ALL SELECT * FROM recovered`;
}

/** An expression for the numbers of these deployments by the rank of their highest severity, as JSON. */
export const countsBySeverity = Prisma.sql`(
  SELECT coalesce(json_object_agg(rank, count), '{}') FROM (
    SELECT rank, count(*)::int AS count
    FROM (SELECT deployment_id, max(array_position(${[...severities]}::text[], x->>'severity')) AS rank
          FROM ${affected} GROUP BY deployment_id) ranked
    WHERE rank IS NOT NULL GROUP BY rank) counted)`;

/** The numbers of deployments and of applications with critical advisories. Parts are counted with their application. */
export async function countCritical(
  client: Pick<Prisma.TransactionClient, '$queryRaw'>,
): Promise<{ readonly deployments: number; readonly applications: number }> {
  const [counted] = await client.$queryRaw<[{ deployments: number; applications: number }]>`
    SELECT count(DISTINCT object_id) FILTER (WHERE kind = 'deployment')::int AS deployments,
      count(DISTINCT object_id) FILTER (WHERE kind = 'application')::int AS applications
    FROM ${affected} WHERE x->>'severity' = 'critical'`;
  return counted;
}
