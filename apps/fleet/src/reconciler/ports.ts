import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';
import { refuse } from '../deployments/refusals.ts';
import type { Instance } from '../engines/observation.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { portsOf } from '../render/rendering.ts';
import { decideAlone } from '../resources/decisions.ts';
import type { Claim } from './queue.ts';

type Transaction = Prisma.TransactionClient;

/** Host ports that the fleet gives away: below the range from which systems take ports of their own. */
const FIRST = 20_000;
const LAST = 29_999;

interface Wished {
  readonly hostId: string;
  readonly deploymentId: string;
  readonly replicas: number;
  readonly spec: WorkloadSpec;
}

/** Gives each port of each replica a port of the host; what it has already it keeps. @throws 422 where too few are left */
export async function allocatePorts(
  transaction: Transaction,
  { hostId, deploymentId, replicas, spec }: Wished,
): Promise<void> {
  const present = await transaction.allocatedPort.findMany({ where: { deployment_id: deploymentId } });
  for (const { containerPort, protocol } of portsOf(spec)) {
    const mine = present.filter((port) => port.protocol === protocol && port.container_port === containerPort);
    const lacking = Array.from({ length: replicas }, (_, ordinal) => ordinal).filter(
      (ordinal) => !mine.some((port) => port.ordinal === ordinal),
    );
    const free = await freePorts(transaction, { hostId, protocol, count: lacking.length, from: startOf(hostId) });
    if (free.length < lacking.length) refuse([shortage(lacking.length, free.length)]);
    const row = { host_id: hostId, deployment_id: deploymentId, protocol, container_port: containerPort };
    const data = lacking.flatMap((ordinal, index) =>
      free.slice(index, index + 1).map((host_port) => ({ ...row, ordinal, host_port })),
    );
    await transaction.allocatedPort.createMany({ data });
  }
  const isWanted = (port: { protocol: string; container_port: number; ordinal: number }) =>
    port.ordinal < replicas &&
    portsOf(spec).some((each) => each.protocol === port.protocol && each.containerPort === port.container_port);
  await releasePorts(
    transaction,
    present.filter((port) => !isWanted(port)),
  );
}

const shortage = (needed: number, left: number) => ({
  code: 'no_placement' as const,
  path: 'target',
  message: `needs ${needed} more ports of its host, which has ${left} left to give`,
});

const releasePorts = (
  transaction: Transaction,
  ports: readonly { host_id: string; protocol: string; host_port: number }[],
) =>
  transaction.allocatedPort.deleteMany({
    where: { OR: ports.map(({ host_id, protocol, host_port }) => ({ host_id, protocol, host_port })) },
  });

/** Each host begins elsewhere: two fleets on one machine seldom want the same port. */
const startOf = (hostId: string): number => FIRST + (Number.parseInt(hostId.slice(-6), 16) % (LAST - FIRST + 1));

interface Free {
  readonly hostId: string;
  readonly protocol: string;
  readonly count: number;
  readonly from: number;
}

/** The next ports of a host that nobody has been given, from one on and around. */
async function freePorts(transaction: Transaction, { hostId, protocol, count, from }: Free): Promise<number[]> {
  if (count === 0) return [];
  const rows = await transaction.$queryRaw<{ port: number }[]>`
    SELECT port FROM generate_series(${FIRST}::int, ${LAST}::int) port
    WHERE NOT EXISTS (SELECT FROM allocated_ports
                      WHERE host_id = ${hostId}::uuid AND protocol = ${protocol} AND host_port = port)
    ORDER BY port < ${from}, port LIMIT ${count}`;
  return rows.map(({ port }) => port);
}

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
