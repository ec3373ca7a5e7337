import type { Reply } from '@svc/contract';
import { DEFAULT_VOLUME_SIZE, type EnvRequest, type fleetEndpoints, type Target } from '@svc/contract/fleet';
import { notFound, Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { volumeName } from '../render/labels.ts';
import { readRow } from '../resources/kind.ts';
import { type OrphanRow, presentOrphan, readOrphan } from '../resources/orphans.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { presentVolume, volumes } from '../resources/storage.ts';
import { columnsOfTarget } from '../resources/targets.ts';
import { changeDeployment, type DeploymentContext } from './changes.ts';
import { type Draft, readWorkloadRevision } from './draft.ts';
import { recordGeneration } from './generations.ts';
import { isAllocatable } from './ports.ts';
import { recordTombstones } from './store.ts';

/**
 * Requests the removal of the objects of an orphan: the next check removes the objects of
 * tombstones. The check is due at once. @throws 404 if it is not an orphan, or no longer one
 */
export async function removeOrphan(
  { transaction }: DeploymentContext,
  target: Target,
  orphanId: string,
): Promise<Reply<typeof fleetEndpoints.removeHostOrphan>> {
  const orphan = await lockOrphan(transaction, target, orphanId);
  const columns = columnsOfTarget(target);
  await transaction.tombstone.deleteMany({ where: { id: orphan.id } });
  await recordTombstones(transaction, columns, [orphan.id]);
  const checkNow = { where: { id: target.id }, data: { check_at: new Date(0) } };
  if (target.kind === 'host') await transaction.host.update(checkNow);
  else await transaction.cluster.update(checkNow);
  return { orphan: presentOrphan({ ...orphan, removing: true }) };
}

interface Adoption {
  readonly target: Target;
  readonly orphanId: string;
  readonly env: EnvRequest;
  readonly volumes: Draft['volumes'];
}

/**
 * Creates the row of an orphan again, with its id, so that its objects belong to the fleet.
 * Everything that the objects do not state must be in the database or in the request; otherwise
 * running instances would be replaced by others.
 * @throws 404, 409 not_adoptable, and the refusals of a deployment
 */
export async function adoptOrphan(
  context: DeploymentContext,
  { target, orphanId, ...given }: Adoption,
): Promise<Reply<typeof fleetEndpoints.adoptHostOrphan>> {
  const { transaction } = context;
  const orphan = await lockOrphan(transaction, target, orphanId);
  if (orphan.removing) throw notAdoptable('its removal was requested');
  if (orphan.document.name === '') throw notAdoptable('its objects do not state its name');
  const adopted =
    orphan.kind === 'volume'
      ? { storage: await adoptVolume(context, target, orphan), deployment: null, generated: [] }
      : { storage: null, ...(await adoptDeployment(context, target, { orphan, ...given })) };
  await transaction.orphan.deleteMany({ where: { id: orphan.id } });
  return adopted;
}

/**
 * Acquires the placement lock, and reads an orphan. @throws 404 if its row exists now, for example
 * because it was adopted
 */
async function lockOrphan(transaction: Prisma.TransactionClient, target: Target, id: string): Promise<OrphanRow> {
  await acquirePlacementLock(transaction);
  const orphan = await readOrphan(transaction, target, id);
  const where = { id: orphan.id };
  const exists = (await transaction.deployment.count({ where })) + (await transaction.volume.count({ where }));
  if (exists > 0) throw notFound();
  return orphan;
}

const notAdoptable = (why: string) =>
  new Problem('not_adoptable', `The orphan cannot be adopted: ${why}. Remove it, or leave it as it is.`);

/**
 * The engine does not state everything about a volume: on a host, its size and access mode are the
 * defaults.
 */
async function adoptVolume(
  { transaction, principal }: DeploymentContext,
  target: Target,
  { id, document: { name, objects, volume } }: OrphanRow,
) {
  if (objects[0] !== volumeName({ id, name })) throw notAdoptable('its name on the engine is not that of its labels');
  const accessModes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'] as const;
  const data = {
    id,
    name,
    size: volume?.size || DEFAULT_VOLUME_SIZE,
    storage_class: volume?.storage_class ?? null,
    access_mode: accessModes.find((mode) => mode === volume?.access_mode) ?? 'ReadWriteOnce',
    reclaim: 'retain' as const,
    phase: 'bound' as const,
    sent_to_engine: true,
    created_by: authorOf(principal),
  };
  await transaction.volume.create({ data: { ...data, ...columnsOfTarget(target) } });
  return presentVolume(await readRow(transaction, volumes, id));
}

interface AdoptedDeployment extends Pick<Adoption, 'env' | 'volumes'> {
  readonly orphan: OrphanRow;
}

/**
 * Stores the deployment as stopped with the ports that its containers publish, and starts it. The
 * start makes the same decisions as for any other deployment, with the same refusals.
 */
async function adoptDeployment(
  context: DeploymentContext,
  target: Target,
  { orphan: { id, document }, env, volumes: given }: AdoptedDeployment,
) {
  const { transaction, principal } = context;
  const { name, workload_id, revision, replicas, generation } = document;
  if (workload_id === null || revision === null) {
    throw notAdoptable('its objects do not state their workload, because an earlier version of the fleet created them');
  }
  await refuseMissing(transaction, document, { env, volumes: given });
  const data = {
    id,
    name,
    workload_id,
    revision,
    desired_state: 'stopped' as const,
  };
  await transaction.deployment.create({
    data: {
      ...data,
      ...columnsOfTarget(target),
      replicas: Math.max(1, replicas),
      host_ports: replicas > 1 ? {} : requestedPortsOf(document),
      generation: generation + 1,
      phase: 'stopped',
      sent_to_engine: true,
      // Another manager can have set the number.
      handover: target.kind === 'cluster' ? 'keep' : null,
      created_by: authorOf(principal),
    },
  });
  if (target.kind === 'host') {
    const ports = document.ports.map((port) => ({ ...port, host_id: target.id, deployment_id: id }));
    await transaction.allocatedPort.createMany({ data: ports, skipDuplicates: true });
    await adoptAddresses(transaction, { hostId: target.id, deploymentId: id }, document);
  }
  await recordGeneration(context, { id, operation: 'adopt', message: `adopted with generation ${generation}` });
  const message = 'start requested by the adoption';
  return changeDeployment({ ...context, ifMatch: () => () => true }, id, () => ({
    operation: 'start',
    message,
    desiredState: 'running',
    env,
    volumes: given,
    isAdoption: true,
  }));
}

/**
 * Stores the network of all deployments without an application with the addresses of an orphan, unless the host has another
 * one by now: then the containers of the orphan are replaced, and get addresses there.
 */
async function adoptAddresses(
  transaction: Prisma.TransactionClient,
  { hostId, deploymentId }: { readonly hostId: string; readonly deploymentId: string },
  { addresses }: OrphanRow['document'],
): Promise<void> {
  const [first] = addresses;
  if (!first) return;
  await transaction.$executeRaw`
    INSERT INTO networks (id, host_id, subnet) VALUES (${first.network_id}::uuid, ${hostId}::uuid, ${first.subnet}::inet)
    ON CONFLICT DO NOTHING`;
  await transaction.$executeRaw`
    INSERT INTO network_addresses (network_id, address, deployment_id, ordinal)
    SELECT n.id, a.address, ${deploymentId}::uuid, a.ordinal
    FROM jsonb_to_recordset(${JSON.stringify(addresses)}::jsonb) AS a (network_id uuid, address inet, ordinal int)
    JOIN networks n ON n.id = a.network_id AND n.host_id = ${hostId}::uuid AND n.application_id IS NULL
    ON CONFLICT DO NOTHING`;
}

/** The ports of its host that a deployment must have requested, because the fleet allocates no such ports. */
const requestedPortsOf = ({ ports }: OrphanRow['document']) =>
  Object.fromEntries(
    ports
      .filter(({ host_port }) => !isAllocatable(host_port))
      .map(({ container_port, protocol, host_port }) => [`${container_port}/${protocol.toLowerCase()}`, host_port]),
  );

/** @throws 409 if the database and the request do not contain what the deployment runs */
async function refuseMissing(
  transaction: Prisma.TransactionClient,
  { workload_id, revision, variables }: OrphanRow['document'],
  { env, volumes: given }: Pick<Adoption, 'env' | 'volumes'>,
): Promise<void> {
  const where = { workload_id: workload_id ?? '', revision: revision ?? 0 };
  if (!(await transaction.workloadRevision.findFirst({ where }))) {
    throw notAdoptable(`revision ${revision} of its workload ${workload_id} does not exist`);
  }
  const { spec } = await readWorkloadRevision(transaction, where.workload_id, where.revision);
  const unset = variables.filter((name) => env[name] === undefined);
  if (unset.length > 0) throw notAdoptable(`env must contain its variables ${unset.join(', ')}`);
  const mounts = spec.volume_mounts.map(({ name }) => name).filter((name) => given[name]?.storage_id === undefined);
  if (mounts.length > 0) {
    throw notAdoptable(
      `volumes must contain a storage_id for the mount ${mounts.join(', ')}; if its volume is an orphan as well, adopt it first`,
    );
  }
}
