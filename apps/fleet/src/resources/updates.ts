// The updates that are available to deployments: their template has changed since it was copied.
import type { UpdateState } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { templateHash } from './workloads.ts';

const presentHash = templateHash(Prisma.sql`t.summary`);

/** A generation that ran what an update would run, and has failed. */
export const storedFailure = z
  .object({ generation: z.int(), reason: z.string().nullable(), at: z.iso.datetime({ offset: true }).nullable() })
  .nullable();

/**
 * The last failed generation of a deployment `r` that ran the latest revision of its workload with the present variables, if that
 * revision is a copy of the present template: an update leads to it. Few deployments have failed generations.
 */
export const failedUpdate = Prisma.sql`(
  SELECT jsonb_build_object('generation', f.generation, 'reason', f.outcome_reason, 'at', f.outcome_at)
  FROM deployment_revisions f
    JOIN workloads w ON w.id = r.workload_id AND w.revision = f.revision
    JOIN workload_revisions u ON u.workload_id = w.id AND u.revision = w.revision
    JOIN catalog_templates t ON t.id = u.template_id
  WHERE f.deployment_id = r.id AND f.outcome = 'failed' AND f.revision <> r.revision AND f.env = r.env
    AND u.template_hash = ${presentHash}
  ORDER BY f.generation DESC LIMIT 1)`;

/** The version that the template of a revision `v` of a workload has now; null if it is not in the mirror. */
export const presentVersion = Prisma.sql`(SELECT t.summary->>'version' FROM catalog_templates t WHERE t.id = v.template_id)`;

/**
 * The revisions of workloads that are outdated copies. The hash of each template is computed once, and the copies with another
 * one are read from an index.
 */
const outdatedCopies = Prisma.sql`
  WITH present AS MATERIALIZED (
    SELECT t.id, ${presentHash} AS hash FROM catalog_templates t
    WHERE EXISTS (SELECT FROM workload_revisions v WHERE v.template_id = t.id))
  SELECT copy.workload_id, copy.revision
  FROM present CROSS JOIN LATERAL (
    SELECT v.workload_id, v.revision FROM workload_revisions v
    WHERE v.template_id = present.id AND v.template_hash < present.hash
    UNION ALL
    SELECT v.workload_id, v.revision FROM workload_revisions v
    WHERE v.template_id = present.id AND v.template_hash > present.hash) copy`;

const isBlocked = Prisma.sql`EXISTS (
  SELECT FROM workload_revisions v JOIN catalog_advice a ON a.template_id = v.template_id
  WHERE v.workload_id = r.workload_id AND v.revision = r.revision AND a.status = 'blocked')`;

const isHeld = Prisma.sql`(${isBlocked} OR ${failedUpdate} IS NOT NULL)`;

/** Whether a deployment `r` has an available update in one of these states. */
export function hasUpdate(states: readonly UpdateState[]): Prisma.Sql {
  const isOutdated = Prisma.sql`(r.workload_id, r.revision) IN (${outdatedCopies})`;
  if (states.includes('available') && states.includes('held')) return isOutdated;
  return Prisma.sql`(${isOutdated} AND ${isHeld} = ${states.includes('held')})`;
}

interface Row {
  readonly template_state: string | null;
  readonly present_version: string | null;
  readonly failed_update: z.output<typeof storedFailure>;
  readonly advice: { readonly status: string; readonly status_message: string } | null;
}

/** The update that is available to a deployment; null if there is none. */
export function presentUpdate(row: Row) {
  if (row.template_state !== 'outdated') return null;
  return { kinds: ['template' as const], to_version: row.present_version, to_digest: null, held: presentHeld(row) };
}

function presentHeld({ failed_update: failure, advice }: Row) {
  if (advice?.status === 'blocked') {
    const message = `The template is blocked by the hub: ${advice.status_message}`;
    return { reason: 'TemplateBlocked', message, at: null, generation: null };
  }
  if (failure === null) return null;
  const { generation, reason, at } = failure;
  const on = at === null ? '' : ` on ${at.slice(0, 10)}`;
  const message = `Generation ${generation} with the same configuration failed${on} (${reason ?? 'Failed'}).`;
  return { reason: reason ?? 'Failed', message, at: at === null ? null : new Date(at), generation };
}
