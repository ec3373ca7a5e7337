// The updates that are available to deployments: their template has changed since it was copied, or the tag of their image names
// another image.
import type { UpdateState } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { templateHash } from './workloads.ts';

const presentHash = templateHash(Prisma.sql`t.summary`);

/** A generation that ran what an update would run, and has failed. */
export const storedFailure = z
  .object({ generation: z.int(), reason: z.string().nullable(), at: z.iso.datetime({ offset: true }).nullable() })
  .nullable();

const failureOf = Prisma.sql`jsonb_build_object('generation', f.generation, 'reason', f.outcome_reason, 'at', f.outcome_at)`;

/**
 * The last failed generation of a deployment `r` that ran the latest revision of its workload with the present variables, if that
 * revision is a copy of the present template: an update leads to it. Few deployments have failed generations.
 */
export const failedUpdate = Prisma.sql`(
  SELECT ${failureOf}
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

/** Whether `c` is the check of the tag of a deployment `r` with the revision `v` of its workload. A digest names no tag. */
export const isCheckOf = Prisma.sql`(c.host_id = r.host_id AND c.registry_url = coalesce(v.spec->>'registry_url', '')
  AND c.image_name = v.spec->>'image_name' AND c.image_tag = v.spec->>'image_tag' AND v.spec->>'image_digest' IS NULL)`;

/** The digest that a deployment `r` on a host runs, or is about to run; null if it is not known. */
const runningDigest = Prisma.sql`coalesce(r.requested_digest, r.host_image->>'digest')`;

/**
 * Whether a check `c` has found another image than the deployment `r` runs. While it waits for its image, that is not known. The
 * same image can have several digests.
 */
const isNewer = Prisma.sql`(c.digest <> ${runningDigest} AND c.image_id IS DISTINCT FROM r.host_image->>'id'
  AND r.desired_state = 'running' AND NOT r.pull_requested AND r.pull <> 'never')`;

/** What the registry said about the tag of a deployment, as a list shows it. */
export const storedCheck = z
  .object({
    digest: z.string().nullable(),
    checked_at: z.iso.datetime({ offset: true }).nullable(),
    checking: z.boolean(),
    error: z.string().nullable(),
    /** Whether it has found another image than the deployment runs. */
    is_newer: z.boolean(),
  })
  .nullable();

/** The last check of the tag of a deployment `r` with the revision `v` of its workload; null if there is none. */
export const imageCheck = Prisma.sql`(
  SELECT jsonb_build_object('digest', CASE WHEN c.image_id = r.host_image->>'id' THEN ${runningDigest} ELSE c.digest END,
    'checked_at', c.checked_at, 'checking', c.requested OR coalesce(c.lease_until > now(), false), 'error', c.error,
    'is_newer', coalesce(${isNewer}, false))
  FROM image_checks c WHERE ${isCheckOf})`;

/** The digest of another image that the tag of a deployment `r` names now; null if none is known. */
const newerDigest = Prisma.sql`(
  SELECT c.digest FROM workload_revisions v JOIN image_checks c ON ${isCheckOf}
  WHERE v.workload_id = r.workload_id AND v.revision = r.revision AND ${isNewer})`;

/** The last failed generation of a deployment `r` that ran that image with the same revision and variables. */
export const failedImage = Prisma.sql`(
  SELECT ${failureOf}
  FROM deployment_revisions f
  WHERE f.deployment_id = r.id AND f.outcome = 'failed' AND f.revision = r.revision AND f.env = r.env
    AND f.requested_digest IS NOT NULL AND f.requested_digest = ${newerDigest}
  ORDER BY f.generation DESC LIMIT 1)`;

/** The deployments whose tag names another image, of the hosts with checks. `OFFSET 0`: each revision is read by its key. */
const withNewerImage = Prisma.sql`
  SELECT r.id
  FROM image_checks c JOIN deployments r ON r.host_id = c.host_id CROSS JOIN LATERAL (
    SELECT v.spec FROM workload_revisions v WHERE v.workload_id = r.workload_id AND v.revision = r.revision OFFSET 0) v
  WHERE c.digest IS NOT NULL AND ${isCheckOf} AND ${isNewer}`;

const isBlocked = Prisma.sql`EXISTS (
  SELECT FROM workload_revisions v JOIN catalog_advice a ON a.template_id = v.template_id
  WHERE v.workload_id = r.workload_id AND v.revision = r.revision AND a.status = 'blocked')`;

/** Why the last automatic update was not made. It counts until the deployment, its policy, its workload, the template or the tag changes. */
export const storedHold = z
  .object({ reason: z.string(), message: z.string(), at: z.iso.datetime({ offset: true }) })
  .nullable();

/** What a hold of a deployment `r` is about: its present state, and what an update would lead to. */
const subjectOfHold = Prisma.sql`jsonb_build_object('from', r.updates->>'from', 'generation', r.generation, 'revision', w.revision,
  'template_hash', (SELECT ${presentHash} FROM catalog_templates t WHERE t.id = v.template_id), 'digest', ${newerDigest})`;

/** The valid hold of a deployment `r`. Few deployments have one. */
export const automaticHold = Prisma.sql`(
  SELECT r.update_held
  FROM workloads w JOIN workload_revisions v ON v.workload_id = w.id AND v.revision = r.revision
  WHERE r.update_held IS NOT NULL AND w.id = r.workload_id AND r.update_held @> ${subjectOfHold})`;

/** What an update of a deployment `r` with the revision `v` of its workload leads to, as text. */
export const subjectOfUpdate = Prisma.sql`concat_ws(' ', (
  SELECT ${presentHash} FROM catalog_templates t WHERE t.id = v.template_id), ${newerDigest})`;

const isOutdated = Prisma.sql`(r.workload_id, r.revision) IN (${outdatedCopies})`;
const hasNewerImage = Prisma.sql`r.id IN (${withNewerImage})`;
const templateIsHeld = Prisma.sql`(${isBlocked} OR ${failedUpdate} IS NOT NULL)`;
const imageIsHeld = Prisma.sql`${failedImage} IS NOT NULL`;

const isHeld = Prisma.sql`(CASE WHEN ${isOutdated} THEN ${templateIsHeld} ELSE ${imageIsHeld} END OR ${automaticHold} IS NOT NULL)`;

/** Stores why an automatic update of a deployment is not made. */
export const storeHold = (
  client: Pick<Prisma.TransactionClient, '$executeRaw'>,
  id: string,
  { reason, message }: { readonly reason: string; readonly message: string },
) => client.$executeRaw`
  UPDATE deployments r SET update_held = ${subjectOfHold} || jsonb_build_object('reason', ${reason}::text, 'message', ${message}::text, 'at', now())
  FROM workloads w, workload_revisions v
  WHERE r.id = ${id}::uuid AND w.id = r.workload_id AND v.workload_id = w.id AND v.revision = r.revision`;

/** Whether a deployment `r` has an available update in one of these states. */
export function hasUpdate(states: readonly UpdateState[]): Prisma.Sql {
  const isAvailable = Prisma.sql`r.id IN (SELECT r.id FROM deployments r WHERE ${isOutdated} UNION ALL ${withNewerImage})`;
  if (states.includes('available') && states.includes('held')) return isAvailable;
  return Prisma.sql`(${isAvailable} AND ${isHeld} = ${states.includes('held')})`;
}

/** What can change by itself in a deployment. */
export type UpdateKind = 'template' | 'image';

/** What the policy of a deployment permits automatically. */
export const automaticKinds = (from: string): readonly UpdateKind[] => [
  ...(from === 'template' || from === 'all' ? (['template'] as const) : []),
  ...(from === 'image' || from === 'all' ? (['image'] as const) : []),
];

/** Whether the policy of a deployment `r` permits automatic updates. Literals, so that an index on the condition is used. */
export const isAutomatic = Prisma.sql`r.updates->>'from' IN ('template', 'image', 'all')`;

/** Whether the policy of a deployment `r` permits automatic updates to another image of its tag. */
export const followsImage = Prisma.sql`(${isAutomatic} AND r.updates->>'from' <> 'template')`;

/** Whether a deployment `r` has an update that its policy permits, and that nothing but the decision about it can hold. */
export const hasAutomaticUpdate = Prisma.sql`(${isAutomatic} AND CASE
  WHEN r.updates->>'from' <> 'image' AND ${isOutdated} THEN NOT ${templateIsHeld}
  WHEN r.updates->>'from' <> 'template' AND ${hasNewerImage} THEN NOT ${imageIsHeld}
  ELSE false END)`;

interface Row {
  readonly template_state: string | null;
  readonly present_version: string | null;
  readonly image_check: z.output<typeof storedCheck>;
  readonly failed_update: z.output<typeof storedFailure>;
  readonly failed_image: z.output<typeof storedFailure>;
  readonly automatic_hold: z.output<typeof storedHold>;
  readonly advice: { readonly status: string; readonly status_message: string } | null;
}

/** What has changed in a deployment. */
export const updateKinds = ({ template_state, image_check }: Pick<Row, 'template_state' | 'image_check'>) => [
  ...(template_state === 'outdated' ? (['template'] as const) : []),
  ...(image_check?.is_newer ? (['image'] as const) : []),
];

/** The update that is available to a deployment; null if there is none. */
export function presentUpdate(row: Row) {
  const kinds = updateKinds(row);
  if (kinds.length === 0) return null;
  return {
    kinds,
    to_version: kinds.includes('template') ? row.present_version : null,
    to_digest: kinds.includes('image') ? (row.image_check?.digest ?? null) : null,
    held: presentHeld(row),
  };
}

function presentHeld({ template_state, failed_update, failed_image, automatic_hold: hold, advice }: Row) {
  const isOfTemplate = template_state === 'outdated';
  if (isOfTemplate && advice?.status === 'blocked') {
    const message = `The template is blocked by the hub: ${advice.status_message}`;
    return { reason: 'TemplateBlocked', message, at: null, generation: null };
  }
  const failure = isOfTemplate ? failed_update : failed_image;
  if (failure === null)
    return hold && { reason: hold.reason, message: hold.message, at: new Date(hold.at), generation: null };
  const { generation, reason, at } = failure;
  const on = at === null ? '' : ` on ${at.slice(0, 10)}`;
  const message = `Generation ${generation} with the same configuration failed${on} (${reason ?? 'Failed'}).`;
  return { reason: reason ?? 'Failed', message, at: at === null ? null : new Date(at), generation };
}
