import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Prisma } from '../generated/prisma/client.ts';
import type { HostPort } from '../render/allocation.ts';
import { portsOf } from '../render/rendering.ts';
import { refuse } from './refusals.ts';

type Transaction = Prisma.TransactionClient;

interface Replicated {
  readonly id: string;
  readonly replicas: number;
}

/** The GPUs of its host that a deployment was given, by name: of each replica its own. */
export async function allocatedGpus(transaction: Transaction, { id, replicas }: Replicated): Promise<string[][]> {
  const gpus = await transaction.allocatedGpu.findMany({ where: { deployment_id: id }, orderBy: { gpu_id: 'asc' } });
  return ofEach(replicas, gpus, ({ gpu_id }) => gpu_id);
}

/** The ports of its host that a deployment was given: of each replica its own. */
export async function allocatedPorts(transaction: Transaction, { id, replicas }: Replicated): Promise<HostPort[][]> {
  const where = { deployment_id: id };
  const ports = await transaction.allocatedPort.findMany({ where, orderBy: { host_port: 'asc' } });
  return ofEach(replicas, ports, ({ container_port, host_port, protocol }) => ({
    containerPort: container_port,
    hostPort: host_port,
    protocol: protocol as HostPort['protocol'], // as it was allocated
  }));
}

const ofEach = <T extends { ordinal: number }, R>(
  replicas: number,
  rows: readonly T[],
  present: (row: T) => R,
): R[][] =>
  Array.from({ length: replicas }, (_, ordinal) => rows.filter((row) => row.ordinal === ordinal).map(present));

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
export async function freePorts(transaction: Transaction, { hostId, protocol, count, from }: Free): Promise<number[]> {
  if (count === 0) return [];
  const rows = await transaction.$queryRaw<{ port: number }[]>`
    SELECT port FROM generate_series(${FIRST}::int, ${LAST}::int) port
    WHERE NOT EXISTS (SELECT FROM allocated_ports
                      WHERE host_id = ${hostId}::uuid AND protocol = ${protocol} AND host_port = port)
    ORDER BY port < ${from}, port LIMIT ${count}`;
  return rows.map(({ port }) => port);
}
