import { isDeepStrictEqual } from 'node:util';
import type { Reply } from '@svc/contract';
import { type fleetEndpoints, workloadMembers, workloadSpec } from '@svc/contract/fleet';
import { Prisma } from '../../generated/prisma/client.ts';
import { presentAdvice, readAdvice } from '../../resources/advice.ts';
import { presentSpec, templateHash, withoutSealed } from '../../resources/workloads.ts';
import { type Draft, readWorkloadRevision } from '../draft.ts';
import { copyOf } from './advice.ts';
import { type CopyChange, changelogOf } from './changelog.ts';

type Transaction = Prisma.TransactionClient;
type Plan = Reply<typeof fleetEndpoints.planDeployment>;

/** What a plan says about the template of a draft. */
export async function planTemplate(
  transaction: Transaction,
  draft: Draft,
): Promise<Pick<Plan, 'advice' | 'changelog' | 'template_changes'>> {
  const copy = copyOf(draft);
  const { advice } = presentAdvice({ ...copy, advice: await readAdvice(transaction, copy) });
  const change = await changeOf(transaction, draft);
  return {
    advice,
    changelog: change ? await changelogOf(transaction, change) : null,
    template_changes: change ? await changesOf(transaction, change) : [],
  };
}

/** The revision that a deployment runs, and the copy of a template to which a draft moves it; undefined for another draft. */
async function changeOf(
  transaction: Transaction,
  { before, workload, isNewRevision }: Draft,
): Promise<CopyChange | undefined> {
  if (!before || !isNewRevision || workload.templateId === null) return undefined;
  const present = await readWorkloadRevision(transaction, workload.workloadId, before.revision);
  return { present, workload, templateId: workload.templateId };
}

/**
 * The members of the template of the mirror that differ from what a deployment runs, if the draft moves it to a copy of this
 * template. The workload sets a member itself if its value in the draft is not that of the template.
 */
async function changesOf(
  transaction: Transaction,
  { present, workload, templateId }: CopyChange,
): Promise<Plan['template_changes']> {
  const [row] = await transaction.$queryRaw<{ summary: unknown }[]>`
    SELECT t.summary FROM catalog_templates t
    WHERE t.id = ${templateId}::uuid AND ${templateHash(Prisma.sql`t.summary`)} = ${workload.templateHash}`;
  if (!row) return [];
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
