import { withoutOldDigest } from '@svc/contract';
import { Problem, pickDefined } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { DefaultLimits } from '../../render/defaults.ts';
import { refuseDeviceVariables } from '../../render/unsupported-values.ts';
import { lockRow, readRow } from '../../resources/kind.ts';
import { type UpdateKind, updateKinds } from '../../resources/updates.ts';
import {
  differsFrom,
  keptOverrides,
  presentTemplateBase,
  type RevisionBase,
  type WorkloadRow,
  workloads,
} from '../../resources/workloads.ts';
import { changeDeployment, type DeploymentChange, type DeploymentContext } from '../changes.ts';
import { changedDraft, isSameImage, readWorkloadRevision, revisionOf } from '../draft.ts';
import type { WorkloadRevision } from '../plans/revision.ts';
import { refusalsOfDeletion, refuse } from '../refusals.ts';
import type { DeploymentRow } from '../rows.ts';
import { scalingAfter } from '../scaling/scaling.ts';
import { refuseSecretUses } from '../values/secret-uses.ts';
import { digestOfPlan } from './digest.ts';

type Transaction = Prisma.TransactionClient;

/** The present template of a deployment as a revision of its workload, and the latest known image of its tag. */
interface Upgrade {
  readonly workload: WorkloadRevision;
  /**
   * The revision and the image as members of a change: the number of a revision that is stored already, and no image if the tag
   * is not known to name another one.
   */
  readonly deploys: Pick<DeploymentChange, 'revision' | 'newRevision'> & { readonly imageDigest?: string | undefined };
  /** The versions of the template, of the deployment now and of the revision; undefined if the template stays. */
  readonly template: { readonly from_version: string | null; readonly to_version: string | null } | undefined;
}

const ALL_KINDS: readonly UpdateKind[] = ['template', 'image'];

/**
 * Determines what an upgrade leads to, without storing it: the present template with what the workload sets itself, and the
 * latest known image of the tag.
 * @throws 422 without a template and without another image, and for what a revision of the workload must not contain
 */
export const upgradeOf = async (
  transaction: Transaction,
  row: DeploymentRow,
  kinds?: readonly UpdateKind[],
): Promise<Upgrade> =>
  upgradeFrom(transaction, row, { latest: await readRow(transaction, workloads, row.workload_id), kinds });

/**
 * The digest of the plan of an upgrade without other changes.
 * @throws 422 as `upgradeOf`
 */
export async function digestOfUpgrade(
  transaction: Transaction,
  row: DeploymentRow,
  { defaultLimits, kinds }: { readonly defaultLimits: DefaultLimits; readonly kinds?: readonly UpdateKind[] },
): Promise<string> {
  const { workload, deploys } = await upgradeOf(transaction, row, kinds);
  const { replicas, autoscaling, scaledBy } = scalingAfter(row, {});
  const changes = { workload, replicas, autoscaling, scaledBy, ...pickDefined(deploys, ['imageDigest']) };
  return digestOfPlan(row, changedDraft(row, changes, defaultLimits));
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
    const { transaction } = context;
    // No other revision of the workload is stored before that of the upgrade.
    const latest = await lockRow(transaction, workloads, { id: before.workload_id, ifMatch: () => () => true });
    const upgrade = await upgradeFrom(transaction, before, { latest, kinds });
    const message = `updated to ${wordsOf(upgrade)}${by === undefined ? '' : ` ${by}`}`;
    return { operation: 'upgrade', message, ...upgrade.deploys, expected, env, volumes, acknowledged, force };
  });

/** The number of characters of a digest that identify an image to people. */
const SHORT_DIGEST = 'sha256:'.length + 12;

const wordsOf = ({ template, deploys: { imageDigest } }: Upgrade): string =>
  [
    ...(template || imageDigest === undefined ? ['the present template'] : []),
    ...(imageDigest === undefined ? [] : [`the image ${imageDigest.slice(0, SHORT_DIGEST)} of its tag`]),
  ].join(' and to ');

interface Wanted {
  /** The workload with its latest revision. */
  readonly latest: WorkloadRow;
  readonly kinds?: readonly UpdateKind[] | undefined;
}

async function upgradeFrom(
  transaction: Transaction,
  row: DeploymentRow,
  { latest, kinds = ALL_KINDS }: Wanted,
): Promise<Upgrade> {
  const newerDigest =
    kinds.includes('image') && updateKinds(row).includes('image') ? (row.image_check?.digest ?? undefined) : undefined;
  const keepsTemplate = row.template_state !== 'outdated' || !kinds.includes('template');
  if (newerDigest !== undefined && keepsTemplate) {
    const workload = await readWorkloadRevision(transaction, row.workload_id, row.revision);
    return { workload, deploys: { revision: row.revision, imageDigest: newerDigest }, template: undefined };
  }
  const upgrade = await upgradeOfTemplate(transaction, row, latest);
  const isSame = isSameImage(row, upgrade.workload.spec);
  return isSame ? { ...upgrade, deploys: { ...upgrade.deploys, imageDigest: newerDigest } } : upgrade;
}

async function upgradeOfTemplate(transaction: Transaction, row: DeploymentRow, latest: WorkloadRow): Promise<Upgrade> {
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
  const workload = revisionOf(content, { workloadId: latest.id, revision: latest.revision + (isNew ? 1 : 0) });
  return {
    workload,
    deploys: isNew ? { newRevision: { workload, content } } : { revision: workload.revision },
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
