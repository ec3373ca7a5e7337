import type { Database } from '../database/client.ts';
import { renderingOf, storedOf } from '../deployments/manifest.ts';
import { allocatedGpus, allocatedPorts } from '../deployments/ports.ts';
import { type DeploymentRow, deployments } from '../deployments/rows.ts';
import type { Cluster, Host, Prisma } from '../generated/prisma/client.ts';
import { renderDocker } from '../render/docker.ts';
import { renderKubernetes } from '../render/kubernetes.ts';
import { volumeName } from '../render/labels.ts';
import { revealed } from '../render/secrets.ts';
import { readRow } from '../resources/kind.ts';
import { openValues } from '../resources/secrets.ts';
import type { Sealer } from '../sealing.ts';
import type { Claim } from './queue.ts';
import type { Assignment, Place } from './targets.ts';

type Transaction = Prisma.TransactionClient;

/** What is to be of a deployment, at one moment. */
export interface Desired {
  readonly row: Row;
  readonly assignment: Assignment;
  /** Its volumes, by what the engine calls them. */
  readonly volumes: ReadonlyMap<string, string>;
}

type Row = DeploymentRow & { readonly failures: number; readonly take_over: boolean };

/** Reads it all in one snapshot; undefined where it was moved on meanwhile. */
export function readDesired({ client }: Database, sealer: Sealer, claim: Claim): Promise<Desired | undefined> {
  return client.$transaction(
    async (transaction) => {
      const include = { host: true, cluster: true };
      const found = await transaction.deployment.findUnique({ where: { id: claim.id }, include });
      const place = found && placeOf(found);
      if (!place || found.lease_owner !== claim.owner || found.generation !== claim.generation) return undefined;
      const { failures, take_over } = found;
      const row = { ...(await readRow(transaction, deployments, claim.id)), failures, take_over };
      if (row.deleting) return withoutVolumes(row, { ...place, wanted: await goneOf(transaction, row) });
      if (row.desired_state === 'stopped') return withoutVolumes(row, { ...place, wanted: { kind: 'stopped' } });
      return { row, ...(await runningOf(transaction, sealer, { row, place })) };
    },
    { isolationLevel: 'RepeatableRead' },
  );
}

function placeOf({ host, cluster }: { host: Host | null; cluster: Cluster | null }): Place | undefined {
  if (host) return { kind: 'host', row: host };
  return cluster ? { kind: 'cluster', row: cluster } : undefined;
}

const withoutVolumes = (row: Row, assignment: Assignment): Desired => ({ row, assignment, volumes: new Map() });

/** The volumes that were made for it and are not to be retained go with it. */
async function goneOf(transaction: Transaction, { id }: DeploymentRow) {
  const own = await transaction.volume.findMany({
    where: { deployment_id: id, reclaim: 'delete', attachments: { every: { deployment_id: id } } },
  });
  return { kind: 'gone' as const, volumes: own.map(volumeName) };
}

async function runningOf(
  transaction: Transaction,
  sealer: Sealer,
  { row, place }: { readonly row: Row; readonly place: Place },
): Promise<Pick<Desired, 'assignment' | 'volumes'>> {
  const stored = await storedOf(transaction, row);
  const { draft, mounted } = stored;
  const secrets = revealed(await openValues(transaction, sealer, draft.runs.secretNames));
  const rendering = renderingOf(stored, secrets);
  const bound = await transaction.volume.findMany({
    where: { id: { in: mounted.map(({ id }) => id) }, phase: { in: ['bound', 'lost'] } },
  });
  const common = {
    kind: 'running' as const,
    settled: row.observed_generation === row.generation,
    bound: bound.map(volumeName),
  };
  const volumes = new Map(mounted.map((volume) => [volumeName(volume), volume.id]));
  if (place.kind === 'cluster') {
    const manifest = renderKubernetes(rendering, place.row);
    return { assignment: { ...place, wanted: { ...common, manifest, takeOver: row.take_over } }, volumes };
  }
  const given = { gpus: await allocatedGpus(transaction, row), ports: await allocatedPorts(transaction, row) };
  const manifest = renderDocker(rendering, { engine: place.row.engine, ...given });
  return { assignment: { ...place, wanted: { ...common, manifest, retry: row.failures > 0 } }, volumes };
}
