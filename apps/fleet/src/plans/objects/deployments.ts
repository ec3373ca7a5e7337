import type { DeploymentDocument } from '@svc/contract/fleet';
import { pickDefined } from '@svc/http';
import { z } from 'zod';
import type { NewDeploymentRequest } from '../../deployments/draft.ts';
import { readWorkloadRevision } from '../../deployments/draft.ts';
import {
  revisionColumns,
  revisionRow,
  type WorkloadRevision,
  workloadRevisionOf,
} from '../../deployments/plans/revision.ts';
import type { Refusal } from '../../deployments/refusals.ts';
import { type DeploymentRow, deployments } from '../../deployments/rows.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readRows } from '../../resources/kind.ts';
import type { PlacedDocument } from '../documents.ts';
import { type Names, targetNamed, unknownNames, volumesNamed } from '../names.ts';
import { namesNeeded } from '../order.ts';
import { causeOf, type Existing, refusalsIn, removalOf, type Step, stepOf } from '../step.ts';
import type { ManagedObject } from '../stored.ts';
import { compareDeployment } from './compare-deployment.ts';

type Transaction = Prisma.TransactionClient;
type Placed = PlacedDocument<DeploymentDocument>;

/** The step of a document whose deployment does not exist. */
export function deploymentCreation(placed: Placed, names: Names): Step {
  const { document } = placed;
  const problems = unknownNames(document, names);
  const requested = { kind: 'creation', request: requestOf(document, names) } as const;
  return {
    ...common(placed),
    id: null,
    action: 'create',
    cause: 'file',
    problems,
    request: problems.length > 0 ? undefined : { kind: 'deployment', requested },
  };
}

const common = (placed: Placed) => ({
  ...stepOf(placed),
  needs: namesNeeded(placed.document.env ?? {}),
  runs: [placed.document.name],
});

/** The members of a document that a request has under the same name. */
const SAME = [
  'name',
  'labels',
  'template',
  'spec',
  'revision',
  'replicas',
  'autoscaling',
  'scaled_by',
  'env',
  'host_ports',
  'desired_state',
  'pull',
  'acknowledge',
  'updates',
] as const;

/** The request of a new deployment that a document describes. Its names exist. */
function requestOf(document: DeploymentDocument, names: Names): NewDeploymentRequest {
  const { workload } = document;
  return {
    replicas: 1,
    autoscaling: null,
    scaled_by: 'fleet',
    env: {},
    desired_state: 'running',
    pull: 'auto',
    ...pickDefined(document, SAME),
    ...(workload !== undefined && { workload_id: names.idOf('workload', workload) }),
    target: targetNamed(document, names),
    volumes: volumesNamed(document, names),
  };
}

/** The steps of documents whose deployments exist, and differ from them. All their rows are read at once. */
export async function deploymentChanges(
  transaction: Transaction,
  existing: readonly Existing<DeploymentDocument>[],
  names: Names,
): Promise<Step[]> {
  const byId = new Map(existing.map((each) => [each.object.id, each]));
  const rows = await readRows(transaction, deployments, [...byId.keys()]);
  const revisions = await readRevisions(transaction, rows);
  const steps: Step[] = [];
  for (const row of rows) {
    const each = byId.get(row.id);
    const step = each && (await changeStep(transaction, { ...each, row, runs: revisions.get(row.id), names }));
    if (step) steps.push(step);
  }
  return steps;
}

interface Changed extends Existing<DeploymentDocument> {
  readonly row: DeploymentRow;
  readonly runs: WorkloadRevision | undefined;
  readonly names: Names;
}

/** The step of a document whose deployment exists; undefined if they match. */
async function changeStep(transaction: Transaction, changed: Changed): Promise<Step | undefined> {
  const { placed, previous, row, runs: known, names } = changed;
  const { document } = placed;
  const step = { ...common(placed), id: row.id, action: 'change', cause: causeOf(changed) } as const;
  const refused = (problems: readonly Refusal[]): Step => ({ ...step, problems, request: undefined });
  // What it runs is compared by name; a template of the past need not be in the catalog.
  const unknown = unknownNames(document, names, ['template', 'workload']);
  if (unknown.length > 0) return refused(unknown);
  const runs = known ?? (await readWorkloadRevision(transaction, row.workload_id, row.revision));
  const latest =
    document.spec === undefined ? runs : await readWorkloadRevision(transaction, row.workload_id, undefined);
  try {
    const { change, problems } = compareDeployment({ document, previous, row, runs, latest, names });
    if (problems.length > 0) return refused(problems);
    if (change === undefined) return undefined;
    return { ...step, problems, request: { kind: 'deployment', requested: { kind: 'change', before: row, change } } };
  } catch (error) {
    return refused(refusalsIn(error));
  }
}

const ofDeployment = revisionRow.extend({ deployment_id: z.string() });

/** The revisions that deployments run, by the id of the deployment. */
async function readRevisions(
  transaction: Transaction,
  rows: readonly DeploymentRow[],
): Promise<Map<string, WorkloadRevision>> {
  if (rows.length === 0) return new Map();
  const found = await transaction.$queryRaw<unknown[]>`
    SELECT d.id AS deployment_id, ${revisionColumns} FROM deployments d
    JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
    WHERE d.id = ANY(${rows.map(({ id }) => id)}::uuid[])`;
  return new Map(
    found.map((row) => {
      const { deployment_id, ...revision } = ofDeployment.parse(row);
      return [deployment_id, workloadRevisionOf(revision)];
    }),
  );
}

/** The steps that remove deployments, or release them. */
export async function deploymentRemovals(transaction: Transaction, gone: readonly ManagedObject[]): Promise<Step[]> {
  const rows = await readRows(
    transaction,
    deployments,
    gone.map(({ id }) => id),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return gone.flatMap((object): Step[] => {
    const row = byId.get(object.id);
    if (!row) return [];
    const { on_removal = 'keep_data' } = object.document ?? {};
    const isKept = on_removal === 'keep' || row.deleting;
    const { id, name } = row;
    const requested = { kind: 'deletion', before: row, keepsWorkload: false } as const;
    return [
      {
        ...removalOf(object),
        action: isKept ? 'release' : 'delete',
        request: isKept ? undefined : { kind: 'deployment', requested },
        removed: isKept ? [] : [{ id, name }],
        deletesData: on_removal === 'delete_all',
        needs: namesNeeded(row.env),
        runs: [name],
      },
    ];
  });
}
