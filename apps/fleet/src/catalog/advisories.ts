// Advisories about what runs: their events and their numbers.
import { severities } from '@svc/contract/fleet';
import type { RecordedEvent } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { isAbout } from '../resources/advice.ts';

/**
 * A row for each advisory `x` of a template `a` and each deployment `d` that it is about, if the deployment should run and
 * nobody has acknowledged the advisory for its copy `v` of the template.
 */
const affected = Prisma.sql`catalog_advice a
  JOIN workload_revisions v ON v.template_id = a.template_id
  JOIN deployments d ON d.workload_id = v.workload_id AND d.revision = v.revision
  CROSS JOIN LATERAL jsonb_array_elements(a.advisories) x
  WHERE d.desired_state = 'running' AND ${isAbout} AND (x->>'id')::uuid <> ALL(v.acknowledged)`;

const REASON = 'TemplateAdvisory';

/** The number of characters of an advisory in the message of its event. */
const MAX_MESSAGE = 500;

/**
 * Records an event for each advisory of severity `warning` or `critical` that is about a deployment, once, and the end of those that
 * are about none, because they were withdrawn or because nothing that they are about runs. @returns the recorded events
 */
export async function recordAdvisories(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
): Promise<readonly RecordedEvent[]> {
  return transaction.$queryRaw<RecordedEvent[]>`
    WITH lasting AS (
      SELECT (x->>'id')::uuid AS id, min(v.template_slug) AS name, count(DISTINCT d.id) AS deployments,
        min(x->>'severity') AS severity, min(x->>'message') AS message
      FROM ${affected} AND x->>'severity' IN ('warning', 'critical') GROUP BY 1),
    opened AS (
      INSERT INTO events (id, kind, object_id, name, severity, reason, message)
      SELECT gen_random_uuid(), 'catalog', id, name, 'warning', ${REASON},
        format('A %s advisory is about %s of this template: %s', severity,
          CASE deployments WHEN 1 THEN '1 deployment' ELSE deployments || ' deployments' END, left(message, ${MAX_MESSAGE}::int))
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
    FROM (SELECT d.id, max(array_position(${[...severities]}::text[], x->>'severity')) AS rank FROM ${affected} GROUP BY d.id) ranked
    WHERE rank IS NOT NULL GROUP BY rank) counted)`;
