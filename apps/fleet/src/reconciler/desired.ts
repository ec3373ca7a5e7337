import { registryHost } from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import type { Database } from '../database/client.ts';
import { type Renderable, readRenderable, renderingOf, sealedIdsOf } from '../deployments/manifest.ts';
import { hostNetworksOf } from '../deployments/networks/attached.ts';
import { workloadRevisionOf } from '../deployments/plans/revision.ts';
import { gpusByReplica, portsByReplica } from '../deployments/ports.ts';
import { scalerOf } from '../deployments/scaling/scaling.ts';
import { namesOfSecrets } from '../deployments/values/secret-metadata.ts';
import type { MountedVolume } from '../deployments/volumes.ts';
import { Permanent } from '../engines/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { gpuCountOf } from '../placement/candidates.ts';
import { CONTAINERS_ARE_ISOLATED } from '../render/defaults.ts';
import { renderDocker } from '../render/docker.ts';
import { pullPolicyOf } from '../render/image.ts';
import { renderKubernetes } from '../render/kubernetes.ts';
import { volumeName } from '../render/labels.ts';
import { mountsOf, type Rendering } from '../render/rendering.ts';
import { secretsWithValues } from '../render/secrets.ts';
import { openSealedValues } from '../resources/sealed-values.ts';
import { openValues } from '../resources/secrets.ts';
import { type Claim, type ClaimedRow, rowOf } from './queue.ts';
import { rolloutRules } from './rollout/rules.ts';
import type { DesiredOnTarget, TargetOfDeployment } from './targets.ts';
import { backoffOf, DEFAULT_TIMINGS, type ReconcilerTimings } from './timings.ts';

type Client = Database['client'];
type OnHost = Extract<TargetOfDeployment, { kind: 'host' }>;
type OnCluster = Extract<TargetOfDeployment, { kind: 'cluster' }>;

/** The desired state of a deployment. */
export interface Desired {
  readonly row: ClaimedRow;
  readonly assignment: DesiredOnTarget;
  /** Ids of its volumes by their names on the engine. */
  readonly volumes: ReadonlyMap<string, string>;
  /** Whether it is a service that must run. */
  readonly isService: boolean;
  /** Whether its instances can write to volumes. */
  readonly canWrite: boolean;
}

/**
 * Reads the desired state. The row of the claim has everything that a change of the generation
 * replaces. What is read afterwards stays for as long as the deployment exists. Returns undefined
 * if the worker lost its lease or the generation is superseded before the row was read.
 */
export async function readDesired(
  database: Database,
  sealer: Sealer,
  claim: Claim,
  timings: ReconcilerTimings = DEFAULT_TIMINGS,
): Promise<Desired | undefined> {
  const { client } = database;
  const row = await rowOf(database, claim);
  const target = row && targetOf(row);
  if (!target) return undefined;
  if (row.deleting) return withoutVolumes(row, { ...target, desired: await removal(client, row) });
  if (row.desired_state === 'stopped') return withoutVolumes(row, { ...target, desired: { kind: 'stopped' } });
  return readRunning({ client, sealer, timings }, row, target);
}

function targetOf({ host, cluster }: ClaimedRow): TargetOfDeployment | undefined {
  if (host) return { kind: 'host', row: host };
  return cluster ? { kind: 'cluster', row: cluster } : undefined;
}

const withoutVolumes = (row: ClaimedRow, assignment: DesiredOnTarget): Desired => ({
  row,
  assignment,
  volumes: new Map(),
  isService: false,
  canWrite: false,
});

/**
 * A deployment is deleted with the volumes that were created for it, unless their reclaim policy is
 * retain or another deployment uses them.
 */
async function removal(client: Client, { id, application_id: application }: ClaimedRow) {
  const own = await client.volume.findMany({
    where: { deployment_id: id, reclaim: 'delete', attachments: { every: { deployment_id: id } } },
  });
  return { kind: 'gone' as const, volumes: own.map(volumeName), application };
}

/** The volumes that existed before. */
function readBoundVolumes(client: Client, mounted: readonly MountedVolume[]) {
  if (mounted.length === 0) return [];
  const where = {
    id: { in: mounted.map(({ id }) => id) },
    phase: { in: ['bound', 'lost'] },
  } satisfies Prisma.VolumeWhereInput;
  return client.volume.findMany({ where });
}

interface RunningContext {
  readonly client: Client;
  readonly sealer: Sealer;
  readonly timings: ReconcilerTimings;
}

async function readRunning(context: RunningContext, row: ClaimedRow, target: TargetOfDeployment): Promise<Desired> {
  const { client, sealer, timings } = context;
  const stored = await readRenderable(client, row, workloadRevisionOf(row));
  const admitted = { ...stored, admission: row.admission ?? undefined };
  const rendering = renderingOf(admitted, await openSecrets(client, sealer, stored));
  const bound = await readBoundVolumes(client, stored.mounted);
  const common = {
    kind: 'running' as const,
    settled: row.observed_generation === row.generation,
    bound: bound.map(volumeName),
  };
  const assignment =
    target.kind === 'cluster'
      ? { ...target, desired: { ...common, ...desiredOnCluster(rendering, row, target) } }
      : {
          ...target,
          desired: { ...common, ...desiredOnHost(rendering, row, target), ...rolloutOf(row, rendering, timings) },
        };
  return {
    row,
    assignment,
    volumes: new Map(stored.mounted.map((volume) => [volumeName(volume), volume.id])),
    isService: stored.draft.workload.spec.kind !== 'job',
    canWrite: mountsOf(rendering).some(({ isReadOnly }) => !isReadOnly),
  };
}

/**
 * The secrets of a deployment with their values. @throws Permanent for a pull secret of another
 * registry
 */
async function openSecrets(client: Client, sealer: Sealer, stored: Renderable) {
  const { draft, bound } = stored;
  const opened = await openValues(client, sealer, namesOfSecrets(draft, bound));
  refuseOtherRegistry(draft.workload.spec, opened);
  const sealed = await openSealedValues(client, sealer, sealedIdsOf(stored));
  return secretsWithValues([...opened, ...sealed]);
}

const desiredOnCluster = (rendering: Rendering<'values'>, row: ClaimedRow, { row: cluster }: OnCluster) => ({
  manifest: renderKubernetes(rendering, cluster),
  takeOver: row.take_over,
  scaling: {
    by: scalerOf(row.autoscaling, row.scaled_by),
    handover: row.handover,
    minimum: row.autoscaling?.min_replicas ?? 1,
  },
});

function desiredOnHost(rendering: Rendering<'values'>, row: ClaimedRow, { row: host }: OnHost) {
  const instances = row.replicas + row.extra_instances;
  if (row.gpus.length < gpuCountOf(rendering.spec) * instances) {
    const message = 'Its GPUs were released, because it could not start with them. Restart it to allocate GPUs again.';
    throw new Permanent('GpuMissing', message);
  }
  const networks = hostNetworksOf(row.networks, row.env);
  if (rendering.defaults >= CONTAINERS_ARE_ISOLATED && networks.length === 0)
    throw new Error('no network is allocated, so that the containers would be in the default network');
  const manifest = renderDocker(rendering, {
    engine: host.engine,
    gpus: gpusByReplica(instances, row.gpus),
    ports: portsByReplica(instances, row.ports),
    networks,
    extra: row.extra_instances,
  });
  const image = row.host_image?.reference === manifest.image ? row.host_image : undefined;
  const pull = pullPolicyOf(rendering.spec, row.pull);
  const areKnown = areKnownOf(row, manifest.containers);
  const { addresses } = host;
  return {
    ...{ manifest, addresses, areKnown, pull, requestsPull: row.pull_requested, image },
    networks: row.networks.flatMap(({ id, isolation }) => (isolation === null ? [] : [id])),
  };
}

/** When crashed containers are started again, and how the rollout in progress replaces outdated ones. */
const rolloutOf = (row: ClaimedRow, { spec }: Rendering, timings: ReconcilerTimings) => ({
  ...retryOf(row, timings),
  rollout: spec.kind === 'job' ? undefined : rolloutRules(row, timings),
});

/**
 * Whether the last pass has observed these containers and no others, and they only have to finish their start, or wait for the
 * rollout.
 */
const areKnownOf = (row: ClaimedRow, containers: readonly { readonly name: string }[]): boolean =>
  (row.phase === 'starting' || row.rollout?.state === 'progressing') &&
  row.observed_generation === row.generation &&
  row.instances.length === containers.length &&
  row.instances.every(
    ({ name, phase }, index) => ['starting', 'running'].includes(phase) && name === containers[index]?.name,
  );

/**
 * When crashed containers are started again: at the next try of the crash loop. One that has crashed
 * in the second half of the wait before it waits for the following one.
 */
const retryOf = ({ failures, crash_loop, now }: ClaimedRow, timings: ReconcilerTimings) =>
  crash_loop?.next_try_at && new Date(crash_loop.next_try_at) <= now
    ? { retryAfter: backoffOf(failures, timings) / 2 }
    : {};

/**
 * @throws Permanent if the pull secret is for another registry; only a previous version stores such
 * a deployment
 */
export function refuseOtherRegistry(
  spec: Pick<WorkloadSpec, 'registry_credentials' | 'registry_url'>,
  secrets: readonly { readonly name: string; readonly server: string | null }[],
): void {
  const server = secrets.find(({ name }) => name === spec.registry_credentials)?.server ?? null;
  if (server === null || server === registryHost(spec)) return;
  const message = `The secret ${spec.registry_credentials} is for the registry ${server} and is not sent to ${registryHost(spec)}.`;
  throw new Permanent('InvalidSpec', message);
}
