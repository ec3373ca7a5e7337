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

/** The ids of the GPUs that are allocated to each replica of a deployment on its host. */
export async function allocatedGpus(transaction: Transaction, { id, replicas }: Replicated): Promise<string[][]> {
  const gpus = await transaction.allocatedGpu.findMany({ where: { deployment_id: id }, orderBy: { gpu_id: 'asc' } });
  return groupByOrdinal(replicas, gpus, ({ gpu_id }) => gpu_id);
}

/** The host ports that are allocated to each replica of a deployment. */
export async function allocatedPorts(transaction: Transaction, { id, replicas }: Replicated): Promise<HostPort[][]> {
  const where = { deployment_id: id };
  const ports = await transaction.allocatedPort.findMany({ where, orderBy: { host_port: 'asc' } });
  return groupByOrdinal(replicas, ports, ({ container_port, host_port, protocol }) => ({
    containerPort: container_port,
    hostPort: host_port,
    protocol: protocol as HostPort['protocol'], // `allocatePorts` writes only these values
  }));
}

const groupByOrdinal = <T extends { ordinal: number }, R>(
  replicas: number,
  rows: readonly T[],
  present: (row: T) => R,
): R[][] =>
  Array.from({ length: replicas }, (_, ordinal) => rows.filter((row) => row.ordinal === ordinal).map(present));

/** The range of host ports that the fleet allocates. It is below the ephemeral port range of Linux (from 32768). */
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;

interface PortRequest {
  readonly hostId: string;
  readonly deploymentId: string;
  readonly replicas: number;
  readonly spec: WorkloadSpec;
}

/**
 * Allocates a host port for each port of each replica. Existing allocations stay; those that are no longer needed are
 * released.
 * @throws 422 if too few host ports are free
 */
export async function allocatePorts(
  transaction: Transaction,
  { hostId, deploymentId, replicas, spec }: PortRequest,
): Promise<void> {
  const present = await transaction.allocatedPort.findMany({ where: { deployment_id: deploymentId } });
  for (const { containerPort, protocol } of portsOf(spec)) {
    const existing = present.filter((port) => port.protocol === protocol && port.container_port === containerPort);
    const missing = Array.from({ length: replicas }, (_, ordinal) => ordinal).filter(
      (ordinal) => !existing.some((port) => port.ordinal === ordinal),
    );
    const free = await freePorts(transaction, { hostId, protocol, count: missing.length, from: firstPortOf(hostId) });
    if (free.length < missing.length) refuse([shortage(missing.length, free.length)]);
    const row = { host_id: hostId, deployment_id: deploymentId, protocol, container_port: containerPort };
    const data = missing.flatMap((ordinal, index) =>
      free.slice(index, index + 1).map((host_port) => ({ ...row, ordinal, host_port })),
    );
    await transaction.allocatedPort.createMany({ data });
  }
  const isRequired = (port: { protocol: string; container_port: number; ordinal: number }) =>
    port.ordinal < replicas &&
    portsOf(spec).some((each) => each.protocol === port.protocol && each.containerPort === port.container_port);
  await releasePorts(
    transaction,
    present.filter((port) => !isRequired(port)),
  );
}

const shortage = (needed: number, left: number) => ({
  code: 'no_placement' as const,
  path: 'target',
  message: `needs ${needed} more host ports; the host has ${left} free`,
});

const releasePorts = (
  transaction: Transaction,
  ports: readonly { host_id: string; protocol: string; host_port: number }[],
) =>
  transaction.allocatedPort.deleteMany({
    where: { OR: ports.map(({ host_id, protocol, host_port }) => ({ host_id, protocol, host_port })) },
  });

/**
 * The port at which the search starts. It depends on the host id, so that two fleets on one machine rarely use the same
 * port.
 */
const firstPortOf = (hostId: string): number =>
  FIRST_PORT + (Number.parseInt(hostId.slice(-6), 16) % (LAST_PORT - FIRST_PORT + 1));

interface PortSearch {
  readonly hostId: string;
  readonly protocol: string;
  readonly count: number;
  readonly from: number;
}

/** The next `count` unallocated ports of a host, starting at `from` and wrapping around at the end of the range. */
export async function freePorts(
  transaction: Transaction,
  { hostId, protocol, count, from }: PortSearch,
): Promise<number[]> {
  if (count === 0) return [];
  const rows = await transaction.$queryRaw<{ port: number }[]>`
    SELECT port FROM generate_series(${FIRST_PORT}::int, ${LAST_PORT}::int) port
    WHERE NOT EXISTS (SELECT FROM allocated_ports
                      WHERE host_id = ${hostId}::uuid AND protocol = ${protocol} AND host_port = port)
    ORDER BY port < ${from}, port LIMIT ${count}`;
  return rows.map(({ port }) => port);
}
