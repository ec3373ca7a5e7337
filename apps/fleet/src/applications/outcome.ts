import { unmetWaits } from '../deployments/waits.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** A part of the present generation of an application, with how it is. */
export interface OpenPart {
  readonly part: string;
  readonly state: 'open' | 'good' | 'failed';
  /** Why it has failed. */
  readonly reason: string;
  /** Whether an instance of the generation has run with a volume to which it can write. */
  readonly has_written: boolean;
  /** Whether it is a job that has completed for the version of this generation. */
  readonly has_migrated: boolean;
}

/**
 * The parts of the present generation of an application. A service is good when its rollout has ended well, a job when it has
 * completed. A part that waits for another one longer than its deadline has failed.
 */
export const readOpenParts = (
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  id: string,
): Promise<OpenPart[]> => reader.$queryRaw<OpenPart[]>`
  SELECT d.part, how.reason,
    CASE
      WHEN d.waits_for IS NOT NULL AND how.waits THEN CASE WHEN how.is_overdue THEN 'failed' ELSE 'open' END
      WHEN d.good_generation = d.generation THEN 'good'
      WHEN d.rollout->>'generation' = d.generation::text AND d.rollout->>'state' IN ('held', 'failed') THEN 'failed'
      WHEN d.observed_generation = d.generation AND d.phase = 'failed' THEN 'failed'
      WHEN d.observed_generation = d.generation AND d.phase = 'stopped' THEN 'good'
      WHEN d.observed_generation = d.generation AND d.phase = 'running' AND d.rollout IS NULL THEN 'good'
      ELSE 'open'
    END AS state,
    (d.good_generation IS DISTINCT FROM d.generation AND d.rollout->>'generation' = d.generation::text
      AND coalesce((d.rollout->>'has_run')::boolean, false)
      AND EXISTS (SELECT FROM attachments a JOIN volumes v ON v.id = a.volume_id
        WHERE a.deployment_id = d.id AND v.access_mode <> 'ReadOnlyMany')) AS has_written,
    (d.phase = 'stopped' AND d.desired_state = 'running' AND d.observed_generation = d.generation
      AND d.generation::text IS DISTINCT FROM (SELECT gg.parts->d.part->>'generation' FROM application_generations gg
        WHERE gg.application_id = a.id AND gg.generation = a.good_generation)
      AND EXISTS (SELECT FROM application_specs s, jsonb_array_elements(s.spec->'parts') p
        WHERE s.application_id = a.id AND s.spec_version = g.spec_version
          AND p->>'name' = d.part AND p->>'run' = 'each_version')) AS has_migrated
  FROM applications a
    JOIN application_generations g ON g.application_id = a.id AND g.generation = a.generation
    JOIN deployments d ON d.application_id = a.id AND g.parts ? d.part AND NOT d.deleting
    CROSS JOIN LATERAL (SELECT
      EXISTS (SELECT FROM ${unmetWaits(Prisma.sql`d.waits_for`)}) AS waits,
      coalesce(now() - (d.waits_for->>'since')::timestamptz
        > make_interval(secs => coalesce((d.updates->>'deadline_seconds')::int, 1800)), false) AS is_overdue,
      coalesce(d.rollout->>'reason', d.reason, CASE WHEN d.waits_for IS NOT NULL THEN 'DeadlineExceeded' END, 'Failed') AS reason) how
  WHERE a.id = ${id}::uuid ORDER BY d.part`;

/** Records how the present generation of an application has ended, or that it continues. */
export const recordOutcome = (
  transaction: Prisma.TransactionClient,
  { id, generation }: { readonly id: string; readonly generation: number },
  data: Pick<Prisma.ApplicationGenerationUpdateManyMutationInput, 'outcome' | 'outcome_reason'>,
) =>
  transaction.applicationGeneration.updateMany({
    where: { application_id: id, generation },
    data: { ...data, outcome_at: data.outcome === null ? null : new Date() },
  });

/** How a generation has ended: the part that has failed, or `good` if all parts are; undefined if it has not. */
export function settled(parts: readonly OpenPart[]): OpenPart | 'good' | undefined {
  const failed = parts.find(({ state }) => state === 'failed');
  if (failed) return failed;
  return parts.length > 0 && parts.every(({ state }) => state === 'good') ? 'good' : undefined;
}
