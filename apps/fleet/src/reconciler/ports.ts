import type { Database } from '../database/client.ts';
import { freePorts } from '../deployments/ports.ts';
import type { Instance } from '../engines/observation.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import type { Claim } from './queue.ts';

/**
 * Allocates other host ports to the instances that do not run, because a process outside the fleet uses one of their ports. The
 * next free port above the previous one is allocated.
 */
export async function reassignPorts(
  { client }: Database,
  { id, owner }: Claim,
  instances: readonly Instance[],
): Promise<void> {
  const down = instances.flatMap(({ phase }, ordinal) => (phase === 'missing' || phase === 'created' ? [ordinal] : []));
  await client.$transaction(async (transaction) => {
    await acquirePlacementLock(transaction);
    if (!(await transaction.deployment.findFirst({ where: { id, lease_owner: owner } }))) return;
    const ports = await transaction.allocatedPort.findMany({ where: { deployment_id: id, ordinal: { in: down } } });
    for (const { host_id, protocol, host_port } of ports) {
      const [next] = await freePorts(transaction, { hostId: host_id, protocol, count: 1, from: host_port + 1 });
      const host_id_protocol_host_port = { host_id, protocol, host_port };
      if (next === undefined) continue; // no other port is free: retry with the same port
      await transaction.allocatedPort.update({ where: { host_id_protocol_host_port }, data: { host_port: next } });
    }
  });
}
