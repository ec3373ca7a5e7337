import type { GeneratedValue } from '@svc/contract/fleet';
import { recordDownload } from '../../catalog/download-reports.ts';
import { authorOf } from '../../identity/actor.ts';
import { refuseUnknownTarget } from '../../resources/targets.ts';
import { insertRevisions } from '../../resources/workloads.ts';
import type { DeploymentContext } from '../changes.ts';
import { type Decision, type DecisionContext, decide } from '../decision.ts';
import { type DraftContext, type NewDeploymentRequest, type NewWorkload, newDraft } from '../draft.ts';
import type { Refusal } from '../refusals.ts';
import { allocate, insertDeployments } from '../store.ts';
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
  if (!request.membership) await refuseUnknownTarget(context.transaction, request.target, { hold: false });
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
export async function storeCreation(context: CreationContext, creation: DecidedCreation): Promise<StoredCreation> {
  const [stored] = await storeCreations(context, [creation]);
  if (!stored) throw new Error('a creation was not stored');
  return stored;
}

type CreationContext = Omit<DeploymentContext, 'ifMatch'>;

/**
 * Stores creations that were decided under the placement lock, and not refused, with statements for
 * all of them.
 */
export async function storeCreations(
  context: CreationContext,
  creations: readonly DecidedCreation[],
): Promise<StoredCreation[]> {
  const { transaction, principal } = context;
  await createWorkloads(context, creations);
  for (const { decision } of creations) await recordAcknowledged(context, decision.draft);
  await insertDeployments(
    context,
    creations.map(({ decision, created }) => ({
      decision,
      deletesWorkload: created !== undefined,
      message: `created from revision ${decision.draft.workload.revision}, replicas: ${decision.draft.replicas}`,
    })),
  );
  const decisions = creations.map(({ decision }) => decision);
  await allocate(transaction, decisions, authorOf(principal));
  const stored: StoredCreation[] = [];
  const templates = new Set<string>();
  for (const { draft } of decisions) {
    const generated = await generateValues(transaction, context.settings.sealer, draft);
    const { templateId } = draft.workload;
    const isDue = templateId !== null && !templates.has(templateId);
    const isFirstOfTemplate = isDue && (await recordDownload(transaction, draft.workload)) > 0;
    if (templateId !== null) templates.add(templateId);
    stored.push({ id: draft.id, generated, isFirstOfTemplate });
  }
  return stored;
}

/** Creates the workloads of new deployments, with their names. */
async function createWorkloads(
  { transaction, principal }: CreationContext,
  creations: readonly DecidedCreation[],
): Promise<void> {
  const author = authorOf(principal);
  const described = creations.flatMap(({ decision: { draft }, created }) => (created ? [{ draft, created }] : []));
  if (described.length === 0) return;
  await transaction.workload.createMany({
    data: described.map(({ draft: { name, workload } }) => ({ id: workload.workloadId, name, created_by: author })),
  });
  await insertRevisions(
    transaction,
    described.map(({ draft: { workload }, created: { base, overrides } }) => ({
      workloadId: workload.workloadId,
      revision: 1,
      base,
      overrides,
      author,
    })),
  );
}
