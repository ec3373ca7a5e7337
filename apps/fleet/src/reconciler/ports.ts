import type { Database } from '../database/client.ts';
import { freePorts } from '../deployments/ports.ts';
import type { Instance } from '../engines/observation.ts';
import { decideAlone } from '../resources/placement-lock.ts';
import type { Claim } from './queue.ts';

/** Somebody who is not the fleet has a port that was given to what does not run: other ones are taken, further on. */
export async function movePorts(
  { client }: Database,
  { id, owner }: Claim,
  instances: readonly Instance[],
): Promise<void> {
  const down = instances.flatMap(({ phase }, ordinal) => (phase === 'missing' || phase === 'created' ? [ordinal] : []));
  await client.$transaction(async (transaction) => {
    await decideAlone(transaction);
    if (!(await transaction.deployment.findFirst({ where: { id, lease_owner: owner } }))) return;
    const ports = await transaction.allocatedPort.findMany({ where: { deployment_id: id, ordinal: { in: down } } });
    for (const { host_id, protocol, host_port } of ports) {
      const [next] = await freePorts(transaction, { hostId: host_id, protocol, count: 1, from: host_port + 1 });
      const host_id_protocol_host_port = { host_id, protocol, host_port };
      if (next === undefined) continue; // tried again with the one that it has
      await transaction.allocatedPort.update({ where: { host_id_protocol_host_port }, data: { host_port: next } });
    }
  });
}
