import type { Target } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { columnsOfTarget } from '../resources/targets.ts';
import type { Decision } from './decision.ts';
import { allocatePorts } from './ports.ts';
import { noteDeparted } from './tombstones.ts';

type Transaction = Prisma.TransactionClient;

/** What a decision allocates, as columns: nothing for what is stopped. It keeps its place while it is stopped. */
export function allocationOf({ draft, needs, chosen }: Decision) {
  const target = columnsOfTarget(chosen ?? draft.target);
  if (draft.desired === 'stopped') return { ...target, cpu_millis: 0, memory_bytes: 0, gpu_count: 0 };
  const { cpu_millis, memory_bytes, gpu_count } = needs.per_replica;
  return {
    ...target,
    cpu_millis: BigInt(cpu_millis) * BigInt(draft.replicas),
    memory_bytes: BigInt(memory_bytes) * BigInt(draft.replicas),
    gpu_count: gpu_count * draft.replicas,
  };
}

/** Gives a deployment its GPUs by name, and its volumes; what it had of GPUs before is free again. */
export async function allocate(transaction: Transaction, decision: Decision, author: string): Promise<void> {
  const { draft, chosen, mounted } = decision;
  await transaction.allocatedGpu.deleteMany({ where: { deployment_id: draft.id } });
  if (chosen?.kind === 'host') {
    const data = chosen.gpus.flatMap((gpus, ordinal) =>
      gpus.map((gpu_id) => ({ host_id: chosen.id, gpu_id, deployment_id: draft.id, ordinal })),
    );
    await transaction.allocatedGpu.createMany({ data });
    const { replicas, runs } = draft;
    await allocatePorts(transaction, { hostId: chosen.id, deploymentId: draft.id, replicas, spec: runs.spec });
  }
  const target = columnsOfTarget(chosen ?? draft.target);
  const byDefault = await defaultClassOf(transaction, target.cluster_id);
  for (const { id, name, size, access_mode, storage_class, isNew } of mounted) {
    if (!isNew) continue;
    const made = {
      id,
      name,
      size,
      access_mode,
      storage_class: storage_class ?? byDefault,
      reclaim: 'delete' as const,
      created_by: author,
    };
    await transaction.volume.create({ data: { ...made, ...target, deployment_id: draft.id } });
  }
  // A mount that a revision drops keeps its volume: a later one may have the mount again.
  const attached = mounted.map(({ id, mount }) => ({ deployment_id: draft.id, mount, volume_id: id }));
  await transaction.attachment.createMany({ data: attached, skipDuplicates: true });
  await settle(
    transaction,
    mounted.map(({ id }) => id),
    { target, byDefault },
  );
}

interface Place {
  readonly target: ReturnType<typeof columnsOfTarget>;
  readonly byDefault: string | null;
}

/** A volume is where it was first used, of the class that was the default there: another default changes it no more. */
async function settle(transaction: Transaction, ids: readonly string[], { target, byDefault }: Place): Promise<void> {
  const unsettled = { id: { in: [...ids] }, host_id: null, cluster_id: null };
  if (byDefault !== null) {
    await transaction.volume.updateMany({
      where: { ...unsettled, storage_class: null },
      data: { storage_class: byDefault },
    });
  }
  await transaction.volume.updateMany({ where: unsettled, data: target });
}

async function defaultClassOf(transaction: Transaction, clusterId: string | null): Promise<string | null> {
  if (clusterId === null) return null;
  const { default_storage_class } = await transaction.cluster.findUniqueOrThrow({ where: { id: clusterId } });
  return default_storage_class;
}

/** Deletes what no engine has anything of any more, with the volumes that were made for it and are not to be retained. */
export async function removeDeployment(transaction: Transaction, id: string): Promise<void> {
  await transaction.attachment.deleteMany({ where: { deployment_id: id } });
  const own = { deployment_id: id, reclaim: 'delete' as const, attachments: { none: {} } };
  const volumes = await transaction.volume.findMany({ where: own, select: { id: true } });
  await transaction.volume.deleteMany({ where: own });
  const target = await transaction.deployment.delete({ where: { id } });
  await noteDeparted(transaction, target, [id, ...volumes.map((volume) => volume.id)]);
}

interface Abandoned {
  readonly target: Target;
  readonly reachability: 'unknown' | 'online' | 'unreachable';
}

/** Forgets all that is on a host or cluster that is gone for good: what runs there goes on. @throws 409 where it answers */
export async function abandon(
  transaction: Prisma.TransactionClient,
  { target, reachability }: Abandoned,
): Promise<void> {
  if (reachability === 'online') {
    throw new Problem('in_use', 'It answers, so what is on it can be ended there: delete that first.');
  }
  const { host_id, cluster_id } = columnsOfTarget(target);
  const where = { host_id, cluster_id };
  for (const { id } of await transaction.deployment.findMany({ where, select: { id: true } })) {
    await removeDeployment(transaction, id);
  }
  await transaction.volume.deleteMany({ where });
}
