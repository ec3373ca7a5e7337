import { z } from 'zod';
import { Prisma } from '../../generated/prisma/client.ts';
import { type StoredSpec, secretVariables, storedSpec } from '../../resources/workloads.ts';
import type { Evidence } from '../../trust/evidence.ts';

/** The part of a revision of a workload that a deployment needs. */
export interface WorkloadRevision {
  readonly workloadId: string;
  readonly revision: number;
  readonly spec: StoredSpec;
  /** The template that the revision was made from; null without one. */
  readonly templateId: string | null;
  /** Those of the copy; null without a template, and if the revision is not known. */
  readonly templateHash: string | null;
  readonly templateRevision: number | null;
  /** The ids of the advisories that were acknowledged for it. */
  readonly acknowledged: readonly string[];
  readonly minTier: string | null;
  /** Of a revision that is not stored yet: what was signed of its template, and the members that it sets itself. */
  readonly evidence?: Evidence | null;
  readonly overridden?: readonly string[];
  readonly secretNames: readonly string[];
  /** The names of the secret variables. */
  readonly secretVariables: readonly string[];
}

/** The columns of a revision `v` of a workload. */
export const revisionRow = z.object({
  workload_id: z.string(),
  revision: z.int(),
  spec: storedSpec,
  template_id: z.string().nullable(),
  template_hash: z.string().nullable(),
  template_revision: z.int().nullable(),
  acknowledged: z.array(z.string()),
  min_tier: z.string().nullable(),
  secret_names: z.array(z.string()),
  secret_variables: z.array(z.string()),
});
export const revisionColumns = Prisma.sql`v.workload_id, v.revision, v.spec, v.template_id, v.template_hash, v.template_revision,
  v.acknowledged::text[] AS acknowledged, v.min_tier, v.secret_names,
  ${secretVariables} AS secret_variables`;

export const workloadRevisionOf = (row: z.output<typeof revisionRow>): WorkloadRevision => ({
  workloadId: row.workload_id,
  revision: row.revision,
  spec: row.spec,
  templateId: row.template_id,
  templateHash: row.template_hash,
  templateRevision: row.template_revision,
  acknowledged: row.acknowledged,
  minTier: row.min_tier,
  secretNames: row.secret_names,
  secretVariables: row.secret_variables,
});
