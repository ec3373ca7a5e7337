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
export const outdatedCopies = Prisma.sql`
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

/** Why the last automatic update was not made. It counts until the deployment, its workload or the template changes. */
export const storedHold = z
  .object({ reason: z.string(), message: z.string(), at: z.iso.datetime({ offset: true }) })
  .nullable();

/** The valid hold of a deployment `r`. Few deployments have one. */
export const automaticHold = Prisma.sql`(
  SELECT r.update_held
  FROM workloads w
    JOIN workload_revisions v ON v.workload_id = w.id AND v.revision = r.revision
    JOIN catalog_templates t ON t.id = v.template_id
  WHERE r.update_held IS NOT NULL AND r.updates->>'from' = 'template' AND w.id = r.workload_id
    AND (r.update_held->>'generation')::int = r.generation AND (r.update_held->>'revision')::int = w.revision
    AND r.update_held->>'template_hash' = ${presentHash})`;

const isHeld = Prisma.sql`(${isBlocked} OR ${failedUpdate} IS NOT NULL OR ${automaticHold} IS NOT NULL)`;

/** Stores why an automatic update of a deployment is not made. */
export const storeHold = (
  client: Pick<Prisma.TransactionClient, '$executeRaw'>,
  id: string,
  { reason, message }: { readonly reason: string; readonly message: string },
) => client.$executeRaw`
  UPDATE deployments r SET update_held = jsonb_build_object('generation', r.generation, 'revision', w.revision,
    'template_hash', ${presentHash}, 'reason', ${reason}::text, 'message', ${message}::text, 'at', now())
  FROM workloads w, workload_revisions v, catalog_templates t
  WHERE r.id = ${id}::uuid AND w.id = r.workload_id AND v.workload_id = w.id AND v.revision = r.revision AND t.id = v.template_id`;

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
  readonly automatic_hold: z.output<typeof storedHold>;
  readonly advice: { readonly status: string; readonly status_message: string } | null;
}

/** The update that is available to a deployment; null if there is none. */
export function presentUpdate(row: Row) {
  if (row.template_state !== 'outdated') return null;
  return { kinds: ['template' as const], to_version: row.present_version, to_digest: null, held: presentHeld(row) };
}

function presentHeld({ failed_update: failure, automatic_hold: hold, advice }: Row) {
  if (advice?.status === 'blocked') {
    const message = `The template is blocked by the hub: ${advice.status_message}`;
    return { reason: 'TemplateBlocked', message, at: null, generation: null };
  }
  if (failure === null)
    return hold && { reason: hold.reason, message: hold.message, at: new Date(hold.at), generation: null };
  const { generation, reason, at } = failure;
  const on = at === null ? '' : ` on ${at.slice(0, 10)}`;
  const message = `Generation ${generation} with the same configuration failed${on} (${reason ?? 'Failed'}).`;
  return { reason: reason ?? 'Failed', message, at: at === null ? null : new Date(at), generation };
}
