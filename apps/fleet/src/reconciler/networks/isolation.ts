import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../database/client.ts';
import { removeNetwork } from '../../engines/docker/objects/networks.ts';
import type { ManagedObject } from '../../engines/managed.ts';
import type { Host } from '../../generated/prisma/client.ts';
import { networkName } from '../../render/labels.ts';
import { acquirePlacementLock } from '../../resources/placement-lock.ts';
import type { ReconcilerContext, TargetRow } from '../targets.ts';

/** Maximum number of deployments outside of the networks of the fleet that are stored per host. */
const MAX_OUTSIDE = 1000;

/** Stores which deployments have containers on a host outside of the networks of the fleet, if that has changed. */
export async function recordOutside(
  { client }: Database,
  { id, default_network_ids }: Pick<Host, 'id' | 'default_network_ids'>,
  managed: readonly ManagedObject[],
): Promise<void> {
  const outside = managed.flatMap((object) => (object.isOutside ? [object.id] : []));
  const ids = [...new Set(outside)].sort().slice(0, MAX_OUTSIDE);
  if (isDeepStrictEqual(default_network_ids, ids)) return;
  await client.$executeRaw`
    UPDATE hosts SET default_network_ids = ${ids}::uuid[]
    WHERE id = ${id}::uuid AND default_network_ids IS DISTINCT FROM ${ids}::uuid[]`;
}

type Unused = Pick<Parameters<typeof networkName>[0], 'id' | 'application_id'>;

/**
 * Removes networks without an address from their host, then their rows. A network in which an address is allocated during the removal keeps
 * its row, and is created again. One that the engine still uses stays until the next check.
 */
export async function removeUnused(
  { database: { client }, hosts, log }: ReconcilerContext,
  target: TargetRow,
  unused: readonly Unused[],
): Promise<void> {
  if (target.kind !== 'host') return;
  const engine = await hosts.of(target.row);
  for (const network of unused) {
    const name = networkName(network);
    if (!(await removeNetwork(engine, { Name: name, Id: network.id }))) continue;
    await client.$transaction(async (transaction) => {
      await acquirePlacementLock(transaction);
      await transaction.$executeRaw`
        DELETE FROM networks n WHERE id = ${network.id}::uuid
          AND NOT EXISTS (SELECT FROM network_addresses a WHERE a.network_id = n.id)`;
      // It was removed from the host, so that it is no loss if it is created again.
      await transaction.network.updateMany({ where: { id: network.id }, data: { isolation: null } });
    });
    log.info({ host: target.row.name, network: name }, 'removed an unused network');
  }
}
