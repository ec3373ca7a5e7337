import { isDeepStrictEqual } from 'node:util';
import type { Reply } from '@svc/contract';
import { type fleetEndpoints, workloadMembers, workloadSpec } from '@svc/contract/fleet';
import { Prisma } from '../../generated/prisma/client.ts';
import { presentAdvice, readAdvice } from '../../resources/advice.ts';
import { presentSpec, templateHash, withoutSealed } from '../../resources/workloads.ts';
import { type Draft, readWorkloadRevision } from '../draft.ts';
import { copyOf } from './advice.ts';

type Transaction = Prisma.TransactionClient;
type Plan = Reply<typeof fleetEndpoints.planDeployment>;

/** What a plan says about the template of a draft. */
export async function planTemplate(
  transaction: Transaction,
  draft: Draft,
): Promise<Pick<Plan, 'advice' | 'template_changes'>> {
  const copy = copyOf(draft);
  const { advice } = presentAdvice({ ...copy, advice: await readAdvice(transaction, copy) });
  return { advice, template_changes: await changesOf(transaction, draft) };
}

/**
 * The members of the template of the mirror that differ from what a deployment runs, if the draft moves it to a copy of this
 * template. The workload sets a member itself if its value in the draft is not that of the template.
 */
async function changesOf(
  transaction: Transaction,
  { before, workload, isNewRevision }: Draft,
): Promise<Plan['template_changes']> {
  if (!before || !isNewRevision || workload.templateId === null) return [];
  const [row] = await transaction.$queryRaw<{ summary: unknown }[]>`
    SELECT t.summary FROM catalog_templates t
    WHERE t.id = ${workload.templateId}::uuid AND ${templateHash(Prisma.sql`t.summary`)} = ${workload.templateHash}`;
  if (!row) return [];
  const present = await readWorkloadRevision(transaction, workload.workloadId, before.revision);
  const runs = presentSpec(present.spec, present.secretVariables);
  const template = workloadSpec.parse(row.summary);
  const resulting = withoutSealed(workload.spec);
  return workloadMembers
    .filter((member) => !isDeepStrictEqual(template[member], runs[member]))
    .map((member) => ({
      member,
      before: runs[member],
      after: template[member],
      overridden: !isDeepStrictEqual(template[member], resulting[member]),
    }));
}
