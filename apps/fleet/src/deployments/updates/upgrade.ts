import { withoutOldDigest } from '@svc/contract';
import { Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import { authorOf } from '../../identity/actor.ts';
import type { DefaultLimits } from '../../render/defaults.ts';
import { refuseDeviceVariables } from '../../render/unsupported-values.ts';
import { lockRow, nextVersion, readRow } from '../../resources/kind.ts';
import { type UpdateKind, updateKinds } from '../../resources/updates.ts';
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
import {
  changedDraft,
  type Draft,
  isSameImage,
  readWorkloadRevision,
  revisionOf,
  type WorkloadRevision,
} from '../draft.ts';
import { refusalsOfDeletion, refuse } from '../refusals.ts';
import type { DeploymentRow } from '../rows.ts';
import { scalingAfter } from '../scaling/scaling.ts';
import { refuseSecretUses } from '../values/secret-uses.ts';
import { digestOfPlan } from './digest.ts';

type Transaction = Prisma.TransactionClient;

/** The present template of a deployment as a revision of its workload, and the latest known image of its tag. */
interface Upgrade {
  readonly workload: WorkloadRevision;
  /** The digest of another image that the tag names; undefined if none is known. */
  readonly imageDigest: string | undefined;
  /** What the revision is made of; undefined if it is the latest one of the workload already. */
  readonly content: { readonly base: RevisionBase; readonly overrides: Partial<StoredSpec> } | undefined;
  /** The versions of the template, of the deployment now and of the revision; undefined if the template stays. */
  readonly template: { readonly from_version: string | null; readonly to_version: string | null } | undefined;
}

const ALL_KINDS: readonly UpdateKind[] = ['template', 'image'];

/**
 * Determines what an upgrade leads to, without storing it: the present template with what the workload sets itself, and the
 * latest known image of the tag.
 * @throws 422 without a template and without another image, and for what a revision of the workload must not contain
 */
export async function upgradeOf(transaction: Transaction, row: DeploymentRow, kinds = ALL_KINDS): Promise<Upgrade> {
  return upgradeFrom(transaction, row, { latest: await readRow(transaction, workloads, row.workload_id), kinds });
}

/** The members of a draft that an upgrade changes. */
export const upgradedMembers = ({ workload, imageDigest }: Upgrade): Pick<Draft, 'workload'> & Partial<Draft> => ({
  workload,
  ...(imageDigest !== undefined && { imageDigest }),
});

/**
 * The digest of the plan of an upgrade without other changes.
 * @throws 422 as `upgradeOf`
 */
export async function digestOfUpgrade(
  transaction: Transaction,
  row: DeploymentRow,
  { defaultLimits, kinds }: { readonly defaultLimits: DefaultLimits; readonly kinds?: readonly UpdateKind[] },
): Promise<string> {
  const upgraded = upgradedMembers(await upgradeOf(transaction, row, kinds));
  const { replicas, autoscaling, scaledBy } = scalingAfter(row, {});
  return digestOfPlan(row, changedDraft(row, { ...upgraded, replicas, autoscaling, scaledBy }, defaultLimits));
}

/** What an upgrade changes beside the revision and the image, and the plan that it applies. */
type UpgradeRequest = Pick<DeploymentChange, 'env' | 'volumes' | 'acknowledged' | 'force'> & {
  readonly expected: string;
  /** What it updates. Default: what has changed. */
  readonly kinds?: readonly UpdateKind[] | undefined;
  /** Added to the message of its event: by what it is made. */
  readonly by?: string | undefined;
};

/** Stores the present template as a revision of the workload, and deploys it with the latest known image as it was planned. */
export const upgradeDeployment = (
  context: DeploymentContext,
  id: string,
  { expected, env, volumes, acknowledged, force, kinds, by }: UpgradeRequest,
) =>
  changeDeployment(context, id, async (before) => {
    refuse(refusalsOfDeletion(before));
    const upgrade = await storeUpgrade(context.transaction, before, { author: authorOf(context.principal), kinds });
    const { workload, imageDigest } = upgrade;
    const message = `updated to ${wordsOf(upgrade)}${by === undefined ? '' : ` ${by}`}`;
    const members = { env, volumes, acknowledged, force, imageDigest };
    return { operation: 'upgrade', message, revision: workload.revision, expected, ...members };
  });

/** The number of characters of a digest that identify an image to people. */
const SHORT_DIGEST = 'sha256:'.length + 12;

const wordsOf = ({ template, imageDigest }: Upgrade): string =>
  [
    ...(template || imageDigest === undefined ? ['the present template'] : []),
    ...(imageDigest === undefined ? [] : [`the image ${imageDigest.slice(0, SHORT_DIGEST)} of its tag`]),
  ].join(' and to ');

interface Stored {
  readonly author: string;
  readonly kinds: readonly UpdateKind[] | undefined;
}

/** Stores the revision to which an upgrade leads, unless it exists. */
async function storeUpgrade(
  transaction: Transaction,
  row: DeploymentRow,
  { author, kinds = ALL_KINDS }: Stored,
): Promise<Upgrade> {
  const latest = await lockRow(transaction, workloads, { id: row.workload_id, ifMatch: () => () => true });
  const upgrade = await upgradeFrom(transaction, row, { latest, kinds });
  const { workload, content } = upgrade;
  const { workloadId, revision } = workload;
  if (content) {
    await insertRevision(transaction, { workloadId, revision, ...content, author });
    await transaction.workload.update({ where: { id: workloadId }, data: { revision, ...nextVersion() } });
  }
  return upgrade;
}

interface Wanted {
  /** The workload with its latest revision. */
  readonly latest: WorkloadRow;
  readonly kinds: readonly UpdateKind[];
}

async function upgradeFrom(transaction: Transaction, row: DeploymentRow, { latest, kinds }: Wanted): Promise<Upgrade> {
  const newerDigest =
    kinds.includes('image') && updateKinds(row).includes('image') ? (row.image_check?.digest ?? undefined) : undefined;
  const keepsTemplate = row.template_state !== 'outdated' || !kinds.includes('template');
  if (newerDigest !== undefined && keepsTemplate) {
    const workload = await readWorkloadRevision(transaction, row.workload_id, row.revision);
    return { workload, content: undefined, template: undefined, imageDigest: newerDigest };
  }
  const upgrade = await upgradeOfTemplate(transaction, row, latest);
  const isSame = isSameImage(row, upgrade.workload.spec);
  return { ...upgrade, imageDigest: isSame ? newerDigest : undefined };
}

async function upgradeOfTemplate(
  transaction: Transaction,
  row: DeploymentRow,
  latest: WorkloadRow,
): Promise<Omit<Upgrade, 'imageDigest'>> {
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
