import { Prisma } from '../../generated/prisma/client.ts';
import type { DecidedNetwork } from './decide.ts';
import { storedNameInApplication } from './membership.ts';

/** The networks of a deployment as they were decided. */
interface Decided {
  readonly deploymentId: string;
  readonly networks: readonly DecidedNetwork[];
}

/**
 * The parts of a statement that store new networks and the addresses of deployments, whatever their number. A name that is new in
 * an application makes its other deployments due.
 */
export function networkInsertions(decided: readonly Decided[]): Prisma.Sql[] {
  const all = decided.flatMap(({ deploymentId, networks }) => networks.map((each) => ({ deploymentId, ...each })));
  const created = all
    .filter(({ isNew }) => isNew)
    .map(({ id, hostId, application_id, subnet }) => ({ id, host_id: hostId, application_id, subnet }));
  const added = all.flatMap(({ deploymentId, id, joined, added }) =>
    added.map((address) => ({ network_id: id, deployment_id: deploymentId, joined, ...address })),
  );
  const named = all.filter(
    ({ application_id, isNew, joined, added }) =>
      application_id !== null && !isNew && !joined && added.some(({ ordinal }) => ordinal === 0),
  );
  return [
    ...(created.length === 0
      ? []
      : [
          Prisma.sql`
            INSERT INTO networks (id, host_id, application_id, subnet)
            SELECT id, host_id, application_id, subnet FROM jsonb_to_recordset(${JSON.stringify(created)}::jsonb)
              AS created (id uuid, host_id uuid, application_id uuid, subnet inet)`,
        ]),
    ...(added.length === 0
      ? []
      : [
          Prisma.sql`
            INSERT INTO network_addresses (network_id, address, deployment_id, ordinal, joined)
            SELECT network_id, address, deployment_id, ordinal, joined FROM jsonb_to_recordset(${JSON.stringify(added)}::jsonb)
              AS added (network_id uuid, address inet, deployment_id uuid, ordinal int, joined boolean)`,
        ]),
    // The hosts files of the others get its name.
    ...(named.length === 0
      ? []
      : [
          Prisma.sql`
            UPDATE deployments SET due_at = now()
            WHERE id IN (SELECT deployment_id FROM network_addresses WHERE NOT joined AND network_id = ANY (${named.map(({ id }) => id)}::uuid[]))
              AND id <> ALL (${named.map(({ deploymentId }) => deploymentId)}::uuid[])`,
        ]),
  ];
}

/** Keeps the name of a deployment that is removed in the network of its application. */
export const keepFormerName = (transaction: Prisma.TransactionClient, deploymentId: string) => transaction.$executeRaw`
  UPDATE networks n SET former_names = n.former_names || jsonb_build_object(${storedNameInApplication}, host(a.address))
  FROM network_addresses a JOIN deployments d ON d.id = a.deployment_id
  WHERE a.network_id = n.id AND d.id = ${deploymentId}::uuid AND a.ordinal = 0 AND NOT a.joined AND n.application_id IS NOT NULL`;

interface Stored {
  readonly deploymentId: string;
  readonly networks: readonly DecidedNetwork[];
  readonly instances: number;
  /** Whether instances that run are replaced. They keep their addresses until the rollout ends. */
  readonly isRollout: boolean;
}

/** Stores the networks of an existing deployment, and releases the addresses that it no longer needs. */
export async function storeNetworks(
  transaction: Prisma.TransactionClient,
  { deploymentId, networks, instances, isRollout }: Stored,
): Promise<void> {
  const [own] = networks;
  if (!own) return;
  const kept = networks.map(({ id }) => id);
  await transaction.$executeRaw`
    DELETE FROM network_addresses WHERE deployment_id = ${deploymentId}::uuid
      AND (ordinal >= ${instances} OR ${!isRollout} AND network_id <> ALL (${kept}::uuid[]))`;
  await transaction.$executeRaw`
    UPDATE network_addresses SET joined = (network_id <> ${own.id}::uuid)
    WHERE deployment_id = ${deploymentId}::uuid AND joined <> (network_id <> ${own.id}::uuid)`;
  for (const insertion of networkInsertions([{ deploymentId, networks }])) await transaction.$executeRaw(insertion);
}

/** A statement that releases the addresses that only a rollout needed. `networks` are the ids of those in which the deployment runs. */
export const addressesRelease = ({
  deploymentId,
  replicas,
  networks,
}: {
  readonly deploymentId: string;
  readonly replicas: number;
  readonly networks: readonly string[];
}): Prisma.Sql => Prisma.sql`
  DELETE FROM network_addresses WHERE deployment_id = ${deploymentId}::uuid
    AND (ordinal >= ${replicas} OR network_id <> ALL (${[...networks]}::uuid[]))`;
