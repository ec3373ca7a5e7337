import type { Database } from '../database/client.ts';
import { allocatedGpus, allocatedPorts } from '../deployments/allocated.ts';
import { type DeploymentRow, deployments } from '../deployments/rows.ts';
import { renderingOf, storedOf } from '../deployments/stored.ts';
import type { Wanted } from '../engines/docker/wanted.ts';
import type { Host, Prisma } from '../generated/prisma/client.ts';
import { renderDocker } from '../render/docker.ts';
import { volumeName } from '../render/names.ts';
import { revealed } from '../render/secrets.ts';
import { readRow } from '../resources/rows.ts';
import type { Sealer } from '../sealing.ts';
import { openValues } from '../secrets/values.ts';
import type { Claim } from './queue.ts';

type Transaction = Prisma.TransactionClient;

/** What is to be of a deployment, at one moment. */
export interface Desired {
  readonly row: DeploymentRow & { readonly failures: number };
  readonly host: Host;
  readonly wanted: Wanted;
  /** Its volumes, by what the engine calls them. */
  readonly volumes: ReadonlyMap<string, string>;
}

/** Reads it all in one snapshot; undefined where it was moved on meanwhile. */
export function readDesired({ client }: Database, sealer: Sealer, claim: Claim): Promise<Desired | undefined> {
  return client.$transaction(
    async (transaction) => {
      const found = await transaction.deployment.findUnique({ where: { id: claim.id }, include: { host: true } });
      if (!found?.host || found.lease_owner !== claim.owner || found.generation !== claim.generation) return undefined;
      const { host, failures } = found;
      const row = { ...(await readRow<DeploymentRow>(transaction, deployments, claim.id)), failures };
      if (row.deleting) return { row, host, wanted: await goneOf(transaction, row), volumes: new Map() };
      if (row.desired_state === 'stopped') return { row, host, wanted: { kind: 'stopped' }, volumes: new Map() };
      return { row, host, ...(await runningOf(transaction, sealer, { row, host })) };
    },
    { isolationLevel: 'RepeatableRead' },
  );
}

/** The volumes that were made for it and are not to be retained go with it. */
async function goneOf(transaction: Transaction, { id }: DeploymentRow): Promise<Wanted> {
  const own = await transaction.volume.findMany({
    where: { deployment_id: id, reclaim: 'delete', attachments: { every: { deployment_id: id } } },
  });
  return { kind: 'gone', volumes: own.map(volumeName) };
}

async function runningOf(
  transaction: Transaction,
  sealer: Sealer,
  { row, host }: { readonly row: Desired['row']; readonly host: Host },
): Promise<Pick<Desired, 'wanted' | 'volumes'>> {
  const stored = await storedOf(transaction, row);
  const { draft, mounted } = stored;
  const secrets = revealed(await openValues(transaction, sealer, draft.runs.secretNames));
  const gpus = await allocatedGpus(transaction, row);
  const ports = await allocatedPorts(transaction, row);
  const manifest = renderDocker(renderingOf(stored, secrets), { engine: host.engine, gpus, ports });
  const bound = await transaction.volume.findMany({
    where: { id: { in: mounted.map(({ id }) => id) }, phase: { in: ['bound', 'lost'] } },
  });
  const wanted: Wanted = {
    kind: 'running',
    manifest,
    retry: row.failures > 0,
    settled: row.observed_generation === row.generation,
    bound: bound.map(volumeName),
  };
  return { wanted, volumes: new Map(mounted.map((volume) => [volumeName(volume), volume.id])) };
}
