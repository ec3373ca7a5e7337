import type { GeneratedValue } from '@svc/contract/fleet';
import { recordDownload } from '../../catalog/download-reports.ts';
import { authorOf } from '../../identity/actor.ts';
import { refuseUnknownTarget } from '../../resources/targets.ts';
import { insertRevision } from '../../resources/workloads.ts';
import type { DeploymentContext } from '../changes.ts';
import { type Decision, type DecisionContext, decide } from '../decision.ts';
import { type Draft, type DraftContext, type NewDeploymentRequest, type NewWorkload, newDraft } from '../draft.ts';
import type { Refusal } from '../refusals.ts';
import { allocate, insertDeployment } from '../store.ts';
import { recordAcknowledged } from '../templates/advice.ts';
import { generateValues } from '../values/generate.ts';

/** A new deployment as it was decided. */
export interface DecidedCreation {
  readonly kind: 'creation';
  readonly refusals: readonly Refusal[];
  readonly decision: Decision;
  /** The workload that is created with it; undefined for an existing one. */
  readonly created: NewWorkload | undefined;
}

/**
 * Decides a creation without writing anything. @throws 400, 404 and 422 for a request about which
 * nothing can be decided
 */
export async function decideCreation(
  context: DecisionContext & DraftContext,
  request: NewDeploymentRequest,
): Promise<DecidedCreation> {
  // A target is not deleted while the placement lock is held.
  await refuseUnknownTarget(context.transaction, request.target, { hold: false });
  const { draft, created } = await newDraft(context, request);
  const decision = await decide(context, draft);
  return { kind: 'creation', refusals: decision.refusals, decision, created };
}

interface StoredCreation {
  readonly id: string;
  readonly generated: GeneratedValue[];
  readonly isFirstOfTemplate: boolean;
}

/** Stores a creation that was decided under the placement lock, and not refused. */
export async function storeCreation(
  context: Omit<DeploymentContext, 'ifMatch'>,
  { decision, created }: DecidedCreation,
): Promise<StoredCreation> {
  const { transaction, principal } = context;
  const { draft } = decision;
  const { workload, replicas, labels } = draft;
  if (created) await createWorkload(context, draft, created);
  await recordAcknowledged(context, draft);
  await insertDeployment(context, decision, {
    labels,
    deletesWorkload: created !== undefined,
    message: `created from revision ${workload.revision}, replicas: ${replicas}`,
  });
  await allocate(transaction, decision, authorOf(principal));
  const generated = await generateValues(transaction, context.settings.sealer, draft);
  const isFirstOfTemplate = workload.templateId !== null && (await recordDownload(transaction, workload)) > 0;
  return { id: draft.id, generated, isFirstOfTemplate };
}

/** Creates a workload with the name of the deployment. */
async function createWorkload(
  { transaction, principal }: Omit<DeploymentContext, 'ifMatch'>,
  { name, workload }: Draft,
  { base, overrides }: NewWorkload,
): Promise<void> {
  const author = authorOf(principal);
  await transaction.workload.create({ data: { id: workload.workloadId, name, created_by: author } });
  await insertRevision(transaction, { workloadId: workload.workloadId, revision: 1, base, overrides, author });
}
