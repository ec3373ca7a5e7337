import type { Target } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { columnsOfLimits } from '../render/defaults.ts';
import { refuseInUse } from '../resources/field-errors.ts';
import { nextVersion } from '../resources/kind.ts';
import { columnsOfTarget } from '../resources/targets.ts';
import { bindingsOf, readDependentsOfTarget } from './bindings.ts';
import type { Decision } from './decision.ts';
import { type Author, columnsOfGeneration, generationRecord, PENDING } from './generations.ts';
import { portsInsertion, storePorts } from './ports.ts';
import { isUnchangedWorkload } from './rows.ts';
import { countedReplicas } from './scaling/scaling.ts';
import { fingerprintOf } from './updates/digest.ts';

type Transaction = Prisma.TransactionClient;

/**
 * The columns of the allocation that a decision makes. A stopped deployment has no resources, but
 * keeps its target.
 */
export function allocationOf({ draft, allocated, extra, chosen }: Decision) {
  const target = columnsOfTarget(chosen ?? draft.target);
  if (draft.desiredState === 'stopped') return { ...target, cpu_millis: 0, memory_bytes: 0, gpu_count: 0 };
  const { cpu_millis, memory_bytes, gpu_count } = allocated.per_replica;
  const replicas = countedReplicas(draft) + extra.instances;
  return {
    ...target,
    cpu_millis: BigInt(cpu_millis) * BigInt(replicas),
    memory_bytes: BigInt(memory_bytes) * BigInt(replicas),
    gpu_count: gpu_count * replicas,
  };
}

/** The columns of a new deployment, without those of its allocation. */
interface NewDeployment {
  readonly labels: Readonly<Record<string, string>>;
  readonly deletesWorkload: boolean;
  /** The message of the event of its creation. */
  readonly message: string;
}

/**
 * Stores a new deployment with its host ports, and records its first generation, in one statement.
 */
export async function insertDeployment(
  { transaction, principal }: Author,
  decision: Decision,
  { labels, deletesWorkload, message }: NewDeployment,
): Promise<void> {
  const { draft, chosen, ports } = decision;
  const { host_id, cluster_id, cpu_millis, memory_bytes, gpu_count } = allocationOf(decision);
  const { default_memory_bytes, default_processes } = columnsOfLimits(draft.defaultLimits);
  const isRunning = draft.desiredState === 'running';
  const newPorts =
    chosen?.kind === 'host' && ports && ports.added.length > 0
      ? Prisma.sql`, ports AS (${portsInsertion({ hostId: chosen.id, deploymentId: draft.id }, ports.added)})`
      : Prisma.empty;
  await transaction.$executeRaw`
    WITH deployment AS (
      INSERT INTO deployments (id, name, labels, replicas, autoscaling, scaled_by, env, desired_state, pull, pull_requested, created_by,
        bindings, workload_id, revision, deletes_workload, defaults_version, default_memory_bytes, default_processes, pod_settings, updates,
        host_id, cluster_id, cpu_millis, memory_bytes, gpu_count, phase)
      VALUES (${draft.id}::uuid, ${draft.name}, ${JSON.stringify(labels)}::jsonb, ${draft.replicas},
        ${draft.autoscaling && JSON.stringify(draft.autoscaling)}::jsonb, ${draft.scaledBy}, ${JSON.stringify(draft.env)}::jsonb, ${draft.desiredState}::"DesiredState", ${draft.pull}, ${isRunning},
        ${authorOf(principal)}, ${bindingsOf(draft.env)}::text[], ${draft.workload.workloadId}::uuid,
        ${draft.workload.revision}, ${deletesWorkload}, ${draft.defaultsVersion}, ${default_memory_bytes},
        ${default_processes}, ${draft.podSettings && JSON.stringify(draft.podSettings)}::jsonb, ${JSON.stringify(draft.updates)}::jsonb, ${host_id}::uuid, ${cluster_id}::uuid, ${cpu_millis}, ${memory_bytes}, ${gpu_count},
        ${isRunning ? PENDING.phase : 'stopped'})
      RETURNING ${columnsOfGeneration})
    ${newPorts}
    ${generationRecord(principal, { operation: 'create', message, fingerprint: fingerprintOf(decision) })}`;
}

/**
 * Stores the GPUs and volumes that a decision allocates, and the host ports of an existing
 * deployment. The new GPUs replace the earlier ones.
 */
export async function allocate(transaction: Transaction, decision: Decision, author: string): Promise<void> {
  const { draft, chosen, mounted, ports, extra } = decision;
  const isNew = draft.creates.includes('deployment');
  if (!isNew) await transaction.allocatedGpu.deleteMany({ where: { deployment_id: draft.id } });
  if (chosen?.kind === 'host') {
    const data = chosen.gpus.flatMap((gpus, ordinal) =>
      gpus.map((gpu_id) => ({ host_id: chosen.id, gpu_id, deployment_id: draft.id, ordinal })),
    );
    await transaction.allocatedGpu.createMany({ data });
    const { workload } = draft;
    const replicas = draft.replicas + extra.instances;
    const isRollout = draft.before?.desired_state === 'running' && draft.replacesInstances;
    const request = { hostId: chosen.id, deploymentId: draft.id, replicas, spec: workload.spec, isRollout };
    if (ports && !isNew) await storePorts(transaction, request, ports);
  }
  const target = columnsOfTarget(chosen ?? draft.target);
  const defaultStorageClass = await defaultStorageClassOf(transaction, target.cluster_id);
  for (const { id, name, size, access_mode, storage_class, labels, isNew: isNewVolume } of mounted) {
    if (!isNewVolume) continue;
    const volume = {
      id,
      name,
      labels,
      size,
      access_mode,
      storage_class: storage_class ?? defaultStorageClass,
      reclaim: 'delete' as const,
      created_by: author,
    };
    await transaction.volume.create({ data: { ...volume, ...target, deployment_id: draft.id } });
  }
  for (const { mount, replaces } of mounted) {
    if (replaces) await detachLost(transaction, { deploymentId: draft.id, mount, id: replaces.id });
  }
  // A mount that this revision no longer has keeps its attachment, because a later revision can
  // have the mount again.
  const attached = mounted.map(({ id, mount }) => ({ deployment_id: draft.id, mount, volume_id: id }));
  await transaction.attachment.createMany({ data: attached, skipDuplicates: true });
  await bindVolumes(
    transaction,
    mounted.map(({ id }) => id),
    { target, defaultStorageClass },
  );
}

interface LostMount {
  readonly deploymentId: string;
  readonly mount: string;
  readonly id: string;
}

/**
 * Detaches a lost volume. It is deleted if it was created for the deployment, has the reclaim policy
 * `delete`, and no other mount has it, because the cluster can still have its claim.
 */
async function detachLost(transaction: Transaction, { deploymentId, mount, id }: LostMount): Promise<void> {
  await transaction.attachment.deleteMany({ where: { deployment_id: deploymentId, mount } });
  const where = { id, deployment_id: deploymentId, reclaim: 'delete' as const, attachments: { none: {} } };
  await transaction.volume.updateMany({ where, data: { phase: 'deleting', ...nextVersion() } });
}

interface VolumePlacement {
  readonly target: ReturnType<typeof columnsOfTarget>;
  readonly defaultStorageClass: string | null;
}

/**
 * Binds volumes without a target to `target`, with its default storage class. Later changes of that
 * default have no effect.
 */
async function bindVolumes(
  transaction: Transaction,
  ids: readonly string[],
  { target, defaultStorageClass }: VolumePlacement,
): Promise<void> {
  if (ids.length === 0) return;
  const unbound = { id: { in: [...ids] }, host_id: null, cluster_id: null };
  if (defaultStorageClass !== null) {
    await transaction.volume.updateMany({
      where: { ...unbound, storage_class: null },
      data: { storage_class: defaultStorageClass },
    });
  }
  await transaction.volume.updateMany({ where: unbound, data: target });
}

async function defaultStorageClassOf(transaction: Transaction, clusterId: string | null): Promise<string | null> {
  if (clusterId === null) return null;
  const { default_storage_class } = await transaction.cluster.findUniqueOrThrow({ where: { id: clusterId } });
  return default_storage_class;
}

/**
 * Deletes a deployment of which no engine has objects, with the volumes that were created for it,
 * have the reclaim policy `delete` and are not attached to another deployment, and with the
 * workload that it created, unless another deployment uses the workload, or it was changed in
 * another way than by updates from a template.
 */
export async function removeDeployment(transaction: Transaction, id: string): Promise<void> {
  await transaction.attachment.deleteMany({ where: { deployment_id: id } });
  const own = { deployment_id: id, reclaim: 'delete' as const, attachments: { none: {} } };
  const volumes = await transaction.volume.findMany({ where: own, select: { id: true } });
  await transaction.volume.deleteMany({ where: own });
  const { deletes_workload, workload_id, ...target } = await transaction.deployment.delete({ where: { id } });
  if (deletes_workload) {
    await transaction.$executeRaw`
      DELETE FROM workloads w WHERE w.id = ${workload_id}::uuid AND ${isUnchangedWorkload}
        AND NOT EXISTS (SELECT FROM deployments WHERE workload_id = w.id)`;
  }
  await recordTombstones(transaction, target, [id, ...volumes.map((volume) => volume.id)]);
}

/** What a caller can do about a target that has dependents and is not online. */
export const remedyFor = (reachability: AbandonedTarget['reachability']): string =>
  reachability === 'online'
    ? ''
    : 'If the target no longer exists, abandon it, which also deletes the records of everything on it.';

interface AbandonedTarget {
  readonly target: Target;
  readonly reachability: 'unknown' | 'online' | 'unreachable';
}

/**
 * Deletes the records of everything on a target that no longer exists, without connecting to it.
 * What runs there continues to run.
 * @throws 409 if the target is online, or if deployments elsewhere bind values of a deployment on
 * it
 */
export async function abandon(
  transaction: Prisma.TransactionClient,
  { target, reachability }: AbandonedTarget,
): Promise<void> {
  if (reachability === 'online') {
    throw new Problem('in_use', 'The target is online. Delete the deployments and volumes on it first.');
  }
  const { host_id, cluster_id } = columnsOfTarget(target);
  const where = { host_id, cluster_id };
  refuseInUse(await readDependentsOfTarget(transaction, where));
  // A deployment that created a workload is deleted after the others, which can use the same
  // workload.
  const orderBy = { deletes_workload: 'asc' as const };
  for (const { id } of await transaction.deployment.findMany({ where, orderBy, select: { id: true } })) {
    await removeDeployment(transaction, id);
  }
  await transaction.volume.deleteMany({ where });
}

/**
 * Records what was removed from its target. A worker checks its lease before each request, but the
 * process can be suspended right after the check and send the request when the deployment no longer
 * exists.
 */
export const recordTombstones = (
  transaction: Pick<Prisma.TransactionClient, 'tombstone'>,
  { host_id, cluster_id }: ReturnType<typeof columnsOfTarget>,
  ids: readonly string[],
) =>
  transaction.tombstone.createMany({
    data: ids.map((id) => ({ id, host_id, cluster_id })),
    skipDuplicates: true,
  });
