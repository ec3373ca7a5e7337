import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';
import { namesOfSecrets } from '../deployments/decision.ts';
import { type Renderable, readRenderable, renderingOf } from '../deployments/manifest.ts';
import { allocatedGpus, allocatedPorts } from '../deployments/ports.ts';
import { type DeploymentRow, deployments } from '../deployments/rows.ts';
import type { MountedVolume } from '../deployments/volumes.ts';
import { Permanent } from '../engines/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { AddressesByType } from '../placement/addresses.ts';
import { gpuCountOf } from '../placement/candidates.ts';
import { renderDocker } from '../render/docker.ts';
import { registryHost } from '../render/image.ts';
import { renderKubernetes } from '../render/kubernetes.ts';
import { volumeName } from '../render/labels.ts';
import { idOfSealedName, secretsWithValues } from '../render/secrets.ts';
import { readRow } from '../resources/kind.ts';
import { openSealedValues } from '../resources/sealed-values.ts';
import { openValues } from '../resources/secrets.ts';
import type { Sealer } from '../sealing.ts';
import type { Claim } from './queue.ts';
import type { DesiredOnTarget, TargetRow } from './targets.ts';

type Transaction = Prisma.TransactionClient;

/** The desired state of a deployment, read in one snapshot. */
export interface Desired {
  readonly row: Row;
  readonly assignment: DesiredOnTarget;
  /** Ids of its volumes by their names on the engine. */
  readonly volumes: ReadonlyMap<string, string>;
}

type Row = DeploymentRow & { readonly failures: number; readonly take_over: boolean };

/** Reads the desired state in one snapshot. Returns undefined if the worker lost its lease or the generation is superseded. */
export function readDesired({ client }: Database, sealer: Sealer, claim: Claim): Promise<Desired | undefined> {
  return client.$transaction(
    async (transaction) => {
      const where = { id: claim.id, lease_owner: claim.owner, generation: claim.generation };
      const found = await transaction.deployment.findFirst({ where, select: CLAIMED });
      const target = found && (await readTarget(transaction, found));
      if (!target) return undefined;
      const { failures, take_over } = found;
      const row = { ...(await readRow(transaction, deployments, claim.id)), failures, take_over };
      if (row.deleting) return withoutVolumes(row, { ...target, desired: await removal(transaction, row) });
      if (row.desired_state === 'stopped') return withoutVolumes(row, { ...target, desired: { kind: 'stopped' } });
      return { row, ...(await runningState(transaction, sealer, { row, target })) };
    },
    { isolationLevel: 'RepeatableRead' },
  );
}

/** What is read beside the row that the API returns. */
const CLAIMED = { host_id: true, cluster_id: true, failures: true, take_over: true } as const;

async function readTarget(
  transaction: Transaction,
  { host_id, cluster_id }: { readonly host_id: string | null; readonly cluster_id: string | null },
): Promise<TargetRow | undefined> {
  if (host_id !== null) {
    return { kind: 'host', row: await transaction.host.findUniqueOrThrow({ where: { id: host_id } }) };
  }
  if (cluster_id === null) return undefined;
  return { kind: 'cluster', row: await transaction.cluster.findUniqueOrThrow({ where: { id: cluster_id } }) };
}

const withoutVolumes = (row: Row, assignment: DesiredOnTarget): Desired => ({ row, assignment, volumes: new Map() });

/**
 * A deployment is deleted with the volumes that were created for it, unless their reclaim policy is retain or another
 * deployment uses them.
 */
async function removal(transaction: Transaction, { id }: DeploymentRow) {
  const own = await transaction.volume.findMany({
    where: { deployment_id: id, reclaim: 'delete', attachments: { every: { deployment_id: id } } },
  });
  return { kind: 'gone' as const, volumes: own.map(volumeName) };
}

/** The volumes that existed before. */
function readBoundVolumes(transaction: Transaction, mounted: readonly MountedVolume[]) {
  if (mounted.length === 0) return [];
  const where = {
    id: { in: mounted.map(({ id }) => id) },
    phase: { in: ['bound', 'lost'] },
  } satisfies Prisma.VolumeWhereInput;
  return transaction.volume.findMany({ where });
}

async function runningState(
  transaction: Transaction,
  sealer: Sealer,
  { row, target }: { readonly row: Row; readonly target: TargetRow },
): Promise<Pick<Desired, 'assignment' | 'volumes'>> {
  const stored = await readRenderable(transaction, row);
  const { draft, mounted } = stored;
  const opened = await openValues(transaction, sealer, namesOfSecrets(draft, stored.bound));
  refuseOtherRegistry(draft.workload.spec, opened);
  const sealed = await openSealedValues(transaction, sealer, sealedIdsOf(stored));
  const secrets = secretsWithValues([...opened, ...sealed]);
  const rendering = renderingOf(stored, secrets);
  const bound = await readBoundVolumes(transaction, mounted);
  const common = {
    kind: 'running' as const,
    settled: row.observed_generation === row.generation,
    bound: bound.map(volumeName),
  };
  const volumes = new Map(mounted.map((volume) => [volumeName(volume), volume.id]));
  if (target.kind === 'cluster') {
    const manifest = renderKubernetes(rendering, target.row);
    return { assignment: { ...target, desired: { ...common, manifest, takeOver: row.take_over } }, volumes };
  }
  const { ports } = draft.workload.spec;
  const none: never[][] = Array.from({ length: row.replicas }, () => []);
  const allocated = {
    gpus: gpuCountOf(draft.workload.spec) === 0 ? none : await allocatedGpus(transaction, row),
    ports: ports.length === 0 ? none : await allocatedPorts(transaction, row),
  };
  const addresses = target.row.addresses as AddressesByType; // validated by the contract
  const manifest = renderDocker(rendering, { engine: target.row.engine, ...allocated });
  return { assignment: { ...target, desired: { ...common, manifest, addresses, retry: row.failures > 0 } }, volumes };
}

const sealedIdsOf = ({ env, bound }: Renderable): string[] => [
  ...env.flatMap(({ sealed }) => sealed ?? []),
  ...bound.flatMap(({ name }) => idOfSealedName(name) ?? []),
];

/** @throws Permanent if the pull secret is for another registry; only a previous version stores such a deployment */
function refuseOtherRegistry(
  spec: Pick<WorkloadSpec, 'registry_credentials' | 'registry_url'>,
  secrets: readonly { readonly name: string; readonly server: string | null }[],
): void {
  const server = secrets.find(({ name }) => name === spec.registry_credentials)?.server ?? null;
  if (server === null || server === registryHost(spec)) return;
  const message = `The secret ${spec.registry_credentials} is for the registry ${server} and is not sent to ${registryHost(spec)}.`;
  throw new Permanent('InvalidSpec', message);
}
