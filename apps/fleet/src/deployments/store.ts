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
import { admit } from './networks/admission.ts';
import { keepFormerName, networkInsertions, storeNetworks } from './networks/store.ts';
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

/** A new deployment, and what its decision does not state. */
interface NewDeployment {
  readonly decision: Decision;
  readonly deletesWorkload: boolean;
  /** The message of the event of its creation. */
  readonly message: string;
}

/**
 * Stores new deployments with their host ports and addresses, and records their first generations,
 * in one statement.
 */
export async function insertDeployments(
  { transaction, principal }: Author,
  created: readonly NewDeployment[],
): Promise<void> {
  const rows = created.map(({ decision, deletesWorkload }) => ({
    ...columnsOfNew(decision),
    deletes_workload: deletesWorkload,
  }));
  const ports = created.flatMap(({ decision: { draft, chosen, ports: decided } }) =>
    chosen?.kind === 'host' && decided && decided.added.length > 0
      ? [{ hostId: chosen.id, deploymentId: draft.id, added: decided.added }]
      : [],
  );
  const networks = created.map(({ decision: { draft, networks: decided } }) => ({
    deploymentId: draft.id,
    networks: decided?.networks ?? [],
  }));
  const records = created.map(({ decision, message }) => ({
    id: decision.draft.id,
    message,
    fingerprint: fingerprintOf(decision),
  }));
  await transaction.$executeRaw`
    WITH deployment AS (
      INSERT INTO deployments (id, name, labels, replicas, autoscaling, scaled_by, env, host_ports, desired_state, pull, pull_requested, created_by,
        bindings, workload_id, revision, deletes_workload, defaults_version, default_memory_bytes, default_processes, pod_settings, updates,
        host_id, cluster_id, cpu_millis, memory_bytes, gpu_count, phase)
      SELECT id, name, labels, replicas, autoscaling, scaled_by, env, host_ports, desired_state::"DesiredState", pull, pull_requested, ${authorOf(principal)},
        bindings, workload_id, revision, deletes_workload, defaults_version, default_memory_bytes, default_processes, pod_settings, updates,
        host_id, cluster_id, cpu_millis, memory_bytes, gpu_count, phase
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS n (id uuid, name text, labels jsonb, replicas int, autoscaling jsonb,
        scaled_by text, env jsonb, host_ports jsonb, desired_state text, pull text, pull_requested boolean, bindings text[], workload_id uuid, revision int,
        deletes_workload boolean, defaults_version int, default_memory_bytes bigint, default_processes int, pod_settings jsonb, updates jsonb,
        host_id uuid, cluster_id uuid, cpu_millis bigint, memory_bytes bigint, gpu_count int, phase text)
      RETURNING ${columnsOfGeneration})
    ${ports.length > 0 ? Prisma.sql`, ports AS (${portsInsertion(ports)})` : Prisma.empty} ${withInsertions(networks)}
    ${generationRecord(principal, 'create', records)}`;
  await admit(
    transaction,
    created.map(({ decision }) => decision),
  );
}

/** The parts of a statement that store networks and addresses. */
const withInsertions = (networks: Parameters<typeof networkInsertions>[0]): Prisma.Sql =>
  Prisma.join(
    [
      Prisma.empty,
      ...networkInsertions(networks).map(
        (insertion, index) => Prisma.sql`, ${Prisma.raw(`network_${index}`)} AS (${insertion})`,
      ),
    ],
    '',
  );

/** The columns of a new deployment, as JSON. Numbers that JSON does not keep exactly are texts. */
function columnsOfNew(decision: Decision) {
  const { draft } = decision;
  const { cpu_millis, memory_bytes, ...allocation } = allocationOf(decision);
  const { default_memory_bytes, default_processes } = columnsOfLimits(draft.defaultLimits);
  const isRunning = draft.desiredState === 'running';
  return {
    id: draft.id,
    name: draft.name,
    labels: draft.labels,
    replicas: draft.replicas,
    autoscaling: draft.autoscaling,
    scaled_by: draft.scaledBy,
    env: draft.env,
    host_ports: draft.hostPorts,
    desired_state: draft.desiredState,
    pull: draft.pull,
    pull_requested: isRunning,
    bindings: bindingsOf(draft.env),
    workload_id: draft.workload.workloadId,
    revision: draft.workload.revision,
    defaults_version: draft.defaultsVersion,
    default_memory_bytes: default_memory_bytes === null ? null : `${default_memory_bytes}`,
    default_processes,
    pod_settings: draft.podSettings,
    updates: draft.updates,
    ...allocation,
    cpu_millis: `${cpu_millis}`,
    memory_bytes: `${memory_bytes}`,
    phase: isRunning ? PENDING.phase : 'stopped',
  };
}

/**
 * Stores the GPUs and volumes that decisions allocate, and the host ports and addresses of existing
 * deployments. The new GPUs of a deployment replace the earlier ones.
 */
export async function allocate(
  transaction: Transaction,
  decisions: readonly Decision[],
  author: string,
): Promise<void> {
  const existing = decisions.filter(({ draft }) => !draft.creates.includes('deployment'));
  for (const { draft } of existing) await transaction.allocatedGpu.deleteMany({ where: { deployment_id: draft.id } });
  const gpus = decisions.flatMap(gpusOf);
  if (gpus.length > 0) await transaction.allocatedGpu.createMany({ data: gpus });
  for (const decision of existing) await storeChangedPlaces(transaction, decision);
  const placed = await readPlaces(transaction, decisions);
  const volumes = placed.flatMap((place) => newVolumesOf(place, author));
  if (volumes.length > 0) await transaction.volume.createMany({ data: volumes });
  for (const { decision } of placed) {
    for (const { mount, replaces } of decision.mounted) {
      if (replaces) await detachLost(transaction, { deploymentId: decision.draft.id, mount, id: replaces.id });
    }
  }
  // A mount that this revision no longer has keeps its attachment, because a later revision can
  // have the mount again.
  const attached = decisions.flatMap(({ draft, mounted }) =>
    mounted.map(({ id, mount }) => ({ deployment_id: draft.id, mount, volume_id: id })),
  );
  if (attached.length > 0) await transaction.attachment.createMany({ data: attached, skipDuplicates: true });
  for (const place of byTarget(placed)) await bindVolumes(transaction, place.ids, place);
}

const gpusOf = ({ draft, chosen }: Decision) =>
  chosen?.kind !== 'host'
    ? []
    : chosen.gpus.flatMap((gpus, ordinal) =>
        gpus.map((gpu_id) => ({ host_id: chosen.id, gpu_id, deployment_id: draft.id, ordinal })),
      );

/** Stores the host ports and addresses of an existing deployment. */
async function storeChangedPlaces(
  transaction: Transaction,
  { draft, chosen, ports, networks, extra }: Decision,
): Promise<void> {
  if (chosen?.kind !== 'host') return;
  const { spec } = draft.workload;
  const replicas = draft.replicas + extra.instances;
  const isRollout = draft.before?.desired_state === 'running' && draft.replacesInstances;
  const request = { hostId: chosen.id, deploymentId: draft.id, replicas, spec, isRollout };
  if (ports) await storePorts(transaction, request, ports);
  if (networks) await storeNetworks(transaction, { ...request, instances: replicas, networks: networks.networks });
}

/** A decision with volumes, and where they are. */
interface Place extends VolumePlacement {
  readonly decision: Decision;
}

async function readPlaces(transaction: Transaction, decisions: readonly Decision[]): Promise<Place[]> {
  const classes = new Map<string | null, string | null>();
  const places: Place[] = [];
  for (const decision of decisions) {
    if (decision.mounted.length === 0) continue;
    const target = columnsOfTarget(decision.chosen ?? decision.draft.target);
    const known = classes.get(target.cluster_id);
    const defaultStorageClass =
      known === undefined ? await defaultStorageClassOf(transaction, target.cluster_id) : known;
    classes.set(target.cluster_id, defaultStorageClass);
    places.push({ decision, target, defaultStorageClass });
  }
  return places;
}

const newVolumesOf = ({ decision: { draft, mounted }, target, defaultStorageClass }: Place, author: string) =>
  mounted.flatMap(({ id, name, size, access_mode, storage_class, labels, isNew }) =>
    isNew
      ? [
          {
            id,
            name,
            labels,
            size,
            access_mode,
            storage_class: storage_class ?? defaultStorageClass,
            reclaim: 'delete' as const,
            created_by: author,
            ...target,
            deployment_id: draft.id,
          },
        ]
      : [],
  );

/** The volumes of all places with the same target. */
function byTarget(places: readonly Place[]): (VolumePlacement & { readonly ids: string[] })[] {
  const found = new Map<string, VolumePlacement & { readonly ids: string[] }>();
  for (const { decision, target, defaultStorageClass } of places) {
    const key = `${target.host_id} ${target.cluster_id}`;
    const place = found.get(key) ?? { target, defaultStorageClass, ids: [] };
    place.ids.push(...decision.mounted.map(({ id }) => id));
    found.set(key, place);
  }
  return [...found.values()];
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
  await keepFormerName(transaction, id);
  const own = { deployment_id: id, reclaim: 'delete' as const, attachments: { none: {} } };
  const volumes = await transaction.volume.findMany({ where: own, select: { id: true } });
  await transaction.volume.deleteMany({ where: own });
  const { deletes_workload, workload_id, application_id, ...target } = await transaction.deployment.delete({
    where: { id },
  });
  if (application_id !== null) await removeEmptyApplication(transaction, application_id);
  if (deletes_workload) {
    await transaction.$executeRaw`
      DELETE FROM workloads w WHERE w.id = ${workload_id}::uuid AND ${isUnchangedWorkload}
        AND NOT EXISTS (SELECT FROM deployments WHERE workload_id = w.id)`;
  }
  await recordTombstones(transaction, target, [id, ...volumes.map((volume) => volume.id)]);
}

/** An application is deleted with its last part. */
const removeEmptyApplication = (transaction: Transaction, id: string) => transaction.$executeRaw`
  DELETE FROM applications a WHERE a.id = ${id}::uuid AND NOT EXISTS (SELECT FROM deployments WHERE application_id = a.id)`;

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
