import type { Prisma } from '../generated/prisma/client.ts';
import type { HostPort } from '../render/host.ts';

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
