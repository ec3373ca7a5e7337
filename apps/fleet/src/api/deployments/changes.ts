import { isDeepStrictEqual } from 'node:util';
import type { Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { given, invalid, Problem } from '@svc/http';
import { authorOf } from '../../audit/recording.ts';
import { decide } from '../../deployments/decision.ts';
import { type Draft, draftOf, runsOf } from '../../deployments/draft.ts';
import { refuse } from '../../deployments/refusals.ts';
import { type DeploymentRow, deployments, presentDeployment } from '../../deployments/rows.ts';
import { allocate, allocationOf } from '../../deployments/store.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { changedNow, holdRow, readRow } from '../../resources/kind.ts';
import { decideAlone } from '../../resources/placement-lock.ts';
import type { ChangeContext } from '../change.ts';
import { NOW, type Operation, PENDING, recordGeneration } from './generations.ts';

type Answer = Reply<typeof fleetEndpoints.getDeployment>;

/** What somebody wants of a deployment; what is left out stays as it is. */
export interface Wanted {
  readonly operation: Operation;
  readonly message: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly revision?: number | undefined;
  readonly replicas?: number | undefined;
  readonly env?: Draft['env'] | undefined;
  readonly volumes?: Draft['volumes'] | undefined;
  readonly desired?: Draft['desired'] | undefined;
  /** Every replica begins anew, though nothing else changes. */
  readonly restart?: boolean;
  /** Take fields that somebody else has set. */
  readonly takeOver?: boolean | undefined;
  /** It was entitled to this revision before. */
  readonly isRollback?: boolean;
}

/** Changes a deployment by one more generation, or not at all where it is so already. @throws 404, 412, 422 */
export async function alter(
  context: ChangeContext,
  id: string,
  wish: (before: DeploymentRow) => Wanted | Promise<Wanted>,
): Promise<Answer> {
  const { transaction, principal, seen } = context;
  await decideAlone(transaction);
  const before = await holdRow(transaction, deployments, { id, seen });
  const wanted = await wish(before);
  const runs = await runsOf(transaction, before.workload_id, wanted.revision ?? before.revision);
  const isNewRevision = runs.revision !== before.revision && !wanted.isRollback;
  const draft = draftOf(before, { runs, isNewRevision, ...given(wanted, ['replicas', 'env', 'volumes', 'desired']) });
  const labels = wanted.labels === undefined ? {} : { labels: wanted.labels };
  if (before.deleting) throw new Problem('deployment_refused', 'It is being deleted: nothing else becomes of it.');
  refuseTakeOver(before, wanted);
  if (!wanted.restart && !wanted.takeOver && isSame(before, draft)) {
    if (wanted.labels !== undefined) await update(transaction, id, labels);
    return present(transaction, id);
  }
  const decision = await decide(transaction, draft);
  refuse(decision.refusals);
  await update(transaction, id, {
    ...labels,
    ...{ revision: runs.revision, replicas: draft.replicas, env: { ...draft.env }, desired_state: draft.desired },
    ...(wanted.restart ? { restarted_at: new Date() } : {}),
    ...allocationOf(decision),
    ...(draft.desired === 'running' ? PENDING : before.touched ? STOPPING : STOPPED),
    ...NOW,
    take_over: wanted.takeOver === true,
    generation: { increment: 1 },
  });
  await allocate(transaction, decision, authorOf(principal));
  await recordGeneration(context, { id, operation: wanted.operation, message: wanted.message });
  return present(transaction, id);
}

/** @throws 400 where there is nothing to take over: objects of hosts have no fields that others set */
function refuseTakeOver({ cluster_id }: DeploymentRow, { takeOver }: Wanted): void {
  if (!takeOver || cluster_id !== null) return;
  throw invalid([{ path: 'take_over', message: 'is for deployments on a cluster' }]);
}

/** An engine has it. */
const STOPPING = { phase: 'stopping', reason: null, message: '' } as const;

/** No engine has it, so nothing is left to be done. */
const STOPPED = { phase: 'stopped', reason: null, message: '' } as const;

const update = (transaction: Prisma.TransactionClient, id: string, data: Prisma.DeploymentUncheckedUpdateInput) =>
  transaction.deployment.update({ where: { id }, data: { ...data, ...changedNow() } });

const present = async (transaction: Prisma.TransactionClient, id: string): Promise<Answer> => ({
  deployment: presentDeployment(await readRow(transaction, deployments, id)),
});

/** Nothing of what runs would change: a mount keeps the volume that it has. */
export function isSame(before: DeploymentRow, draft: Draft): boolean {
  return (
    isDeepStrictEqual(draft.env, before.env) &&
    draft.runs.revision === before.revision &&
    draft.replicas === before.replicas &&
    draft.desired === before.desired_state &&
    Object.entries(draft.volumes).every(([mount, { storage_id }]) => {
      const present = Object.hasOwn(before.volumes, mount) ? before.volumes[mount] : undefined;
      return present !== undefined && (storage_id ?? present.storage_id) === present.storage_id;
    })
  );
}

/** What a generation of it was; unless one is said, the last one that ran something else than now. */
export async function formerGeneration(
  transaction: Prisma.TransactionClient,
  before: DeploymentRow,
  wanted: number | undefined,
) {
  const generation = wanted === undefined ? { lt: before.generation } : Math.min(wanted, before.generation + 1);
  const past = await transaction.deploymentRevision.findMany({
    where: { deployment_id: before.id, generation },
    orderBy: { generation: 'desc' },
  });
  const former = wanted === undefined ? past.find((was) => !isNow(before, was)) : past[0];
  if (former) return { ...former, env: former.env as Record<string, string> }; // as recordGeneration stored it
  if (wanted === undefined)
    throw new Problem('deployment_refused', 'There is nothing to go back to: it never was anything else.');
  throw invalid([{ path: 'generation', message: `must be one of its generations, 1 to ${before.generation}` }]);
}

const isNow = (before: DeploymentRow, was: { revision: number; replicas: number; env: unknown }) =>
  was.revision === before.revision && was.replicas === before.replicas && isDeepStrictEqual(was.env, before.env);
