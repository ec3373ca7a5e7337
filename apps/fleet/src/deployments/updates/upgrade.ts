import { withoutOldDigest } from '@svc/contract';
import { Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import { authorOf } from '../../identity/actor.ts';
import type { DefaultLimits } from '../../render/defaults.ts';
import { refuseDeviceVariables } from '../../render/unsupported-values.ts';
import { lockRow, nextVersion, readRow } from '../../resources/kind.ts';
import {
  differsFrom,
  insertRevision,
  keptOverrides,
  presentTemplateBase,
  type RevisionBase,
  type StoredSpec,
  type WorkloadRow,
  workloads,
} from '../../resources/workloads.ts';
import { changeDeployment, type DeploymentChange, type DeploymentContext } from '../changes.ts';
import { changedDraft, revisionOf, type WorkloadRevision } from '../draft.ts';
import { refusalsOfDeletion, refuse } from '../refusals.ts';
import type { DeploymentRow } from '../rows.ts';
import { scalingAfter } from '../scaling/scaling.ts';
import { refuseSecretUses } from '../values/secret-uses.ts';
import { digestOfPlan } from './digest.ts';

type Transaction = Prisma.TransactionClient;

/** The present template of a deployment as a revision of its workload. */
interface Upgrade {
  readonly workload: WorkloadRevision;
  /** What the revision is made of; undefined if it is the latest one of the workload already. */
  readonly content: { readonly base: RevisionBase; readonly overrides: Partial<StoredSpec> } | undefined;
  /** The versions of the template, of the deployment now and of the revision. */
  readonly template: { readonly from_version: string | null; readonly to_version: string | null };
}

/**
 * Determines the revision to which an upgrade leads, without storing it: the present template with what the workload sets
 * itself.
 * @throws 422 without a template, and for what a revision of the workload must not contain
 */
export async function upgradeOf(transaction: Transaction, row: DeploymentRow): Promise<Upgrade> {
  return upgradeFrom(transaction, row, await readRow(transaction, workloads, row.workload_id));
}

/**
 * The digest of the plan of an upgrade without other changes.
 * @throws 422 as `upgradeOf`
 */
export async function digestOfUpgrade(
  transaction: Transaction,
  row: DeploymentRow,
  defaultLimits: DefaultLimits,
): Promise<string> {
  const { workload } = await upgradeOf(transaction, row);
  const { replicas, autoscaling, scaledBy } = scalingAfter(row, {});
  return digestOfPlan(row, changedDraft(row, { workload, replicas, autoscaling, scaledBy }, defaultLimits));
}

/** What an upgrade changes beside the revision, and the plan that it applies. */
type UpgradeRequest = Pick<DeploymentChange, 'env' | 'volumes' | 'acknowledged' | 'force'> & {
  readonly expected: string;
};

/** Stores the present template as a revision of the workload, and deploys it as it was planned. */
export const upgradeDeployment = (
  context: DeploymentContext,
  id: string,
  { expected, env, volumes, acknowledged, force }: UpgradeRequest,
  message = 'updated to the present template',
) =>
  changeDeployment(context, id, async (before) => {
    refuse(refusalsOfDeletion(before));
    const revision = await storeUpgrade(context.transaction, before, authorOf(context.principal));
    return { operation: 'upgrade', message, revision, expected, env, volumes, acknowledged, force };
  });

/** Stores the revision to which an upgrade leads, unless it exists. @returns its number */
async function storeUpgrade(transaction: Transaction, row: DeploymentRow, author: string): Promise<number> {
  const latest = await lockRow(transaction, workloads, { id: row.workload_id, ifMatch: () => () => true });
  const { workload, content } = await upgradeFrom(transaction, row, latest);
  const { workloadId, revision } = workload;
  if (content) {
    await insertRevision(transaction, { workloadId, revision, ...content, author });
    await transaction.workload.update({ where: { id: workloadId }, data: { revision, ...nextVersion() } });
  }
  return revision;
}

async function upgradeFrom(transaction: Transaction, row: DeploymentRow, latest: WorkloadRow): Promise<Upgrade> {
  const base = await presentBase(transaction, row, latest);
  const overrides = withoutOldDigest(keptOverrides(latest));
  const spec = { ...base.spec, ...overrides };
  const isNew = differsFrom(latest, base, spec);
  const content = { base, overrides };
  if (isNew) {
    refuseDeviceVariables(spec);
    await refuseSecretUses(transaction, latest.name, spec);
  }
  const before = await transaction.workloadRevision.findUnique({
    where: { workload_id_revision: { workload_id: row.workload_id, revision: row.revision } },
    select: { template_version: true },
  });
  return {
    workload: revisionOf(content, { workloadId: latest.id, revision: latest.revision + (isNew ? 1 : 0) }),
    content: isNew ? content : undefined,
    template: { from_version: before?.template_version ?? null, to_version: base.template_version },
  };
}

async function presentBase(
  transaction: Transaction,
  { name }: DeploymentRow,
  { template_id, template_slug }: WorkloadRow,
): Promise<RevisionBase> {
  if (template_id === null) throw noTemplate(`The deployment ${name} was not created from a template.`);
  const base = await presentTemplateBase(transaction, template_id);
  if (base) return base;
  throw noTemplate(`The template ${template_slug} of the deployment ${name} is no longer in the catalog.`);
}

const noTemplate = (reason: string) =>
  new Problem('no_template', `${reason} Change its workload instead, and deploy the new revision.`);
