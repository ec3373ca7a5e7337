import type { Prisma } from '../../generated/prisma/client.ts';
import { type Copy, readAdvice, refusalsOfAdvice, storeAcknowledged } from '../../resources/advice.ts';
import type { Draft } from '../draft.ts';
import type { Refusal } from '../refusals.ts';

type Transaction = Prisma.TransactionClient;

/** The copy of a template that a draft runs. */
export const copyOf = ({ workload, acknowledged }: Pick<Draft, 'workload' | 'acknowledged'>): Copy => ({
  template_id: workload.templateId,
  template_revision: workload.templateRevision,
  acknowledged: [...workload.acknowledged, ...acknowledged],
});

/**
 * The reasons against the template of a draft. A deployment that has run the same copy of the template can continue
 * with it: the means to react to a flaw, such as a revision of the workload with another setting, are never refused.
 */
export async function refusalsOfTemplate(transaction: Transaction, draft: Draft): Promise<Refusal[]> {
  if (!draft.isNewRevision) return [];
  const refusals = refusalsOfAdvice(await readAdvice(transaction, copyOf(draft)));
  return refusals.length > 0 && (await hasRun(transaction, draft)) ? [] : refusals;
}

async function hasRun(
  transaction: Transaction,
  { id, workload: { workloadId, templateId, templateHash, templateRevision } }: Draft,
): Promise<boolean> {
  const [row] = await transaction.$queryRaw<[{ has: boolean }]>`
    SELECT EXISTS (
      SELECT FROM deployment_revisions d
      JOIN workload_revisions v ON v.workload_id = ${workloadId}::uuid AND v.revision = d.revision
      WHERE d.deployment_id = ${id}::uuid AND v.template_id = ${templateId}::uuid AND v.template_hash = ${templateHash}
        AND v.template_revision IS NOT DISTINCT FROM ${templateRevision}::int) AS has`;
  return row.has;
}

/** What a request needs for the advisories that it acknowledges. */
interface Acknowledging {
  readonly transaction: Transaction;
  /** The audit entry of the request; absent if nobody makes it. */
  readonly recording?: { acknowledged: string[] };
}

/** Stores the advisories that a request for a draft acknowledges, in its revision and its audit entry. */
export async function recordAcknowledged(
  { transaction, recording }: Acknowledging,
  { workload, acknowledged }: Pick<Draft, 'workload' | 'acknowledged'>,
): Promise<void> {
  const ids = await storeAcknowledged(transaction, workload, acknowledged);
  if (recording) recording.acknowledged = [...recording.acknowledged, ...ids];
}
