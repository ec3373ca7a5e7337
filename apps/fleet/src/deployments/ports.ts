import type { WorkloadSpec } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import type { AddressesByType } from '../placement/addresses.ts';
import type { HostPort } from '../render/allocation.ts';
import { portsOf } from '../render/rendering.ts';
import { type HostOfPorts, refusalOfPort } from './host-ports/holders.ts';
import type { HostPorts } from './host-ports/stored.ts';
import type { Refusal } from './refusals.ts';

type Transaction = Prisma.TransactionClient;

interface Replicated {
  readonly id: string;
  readonly replicas: number;
}

/** The ids of the GPUs that are allocated to each replica of a deployment on its host. */
export async function allocatedGpus(transaction: Transaction, { id, replicas }: Replicated): Promise<string[][]> {
  const gpus = await transaction.allocatedGpu.findMany({ where: { deployment_id: id }, orderBy: { gpu_id: 'asc' } });
  return gpusByReplica(replicas, gpus);
}

interface AllocatedId {
  readonly ordinal: number;
  readonly gpu_id: string;
}

/** The ids of the GPUs of each replica. */
export const gpusByReplica = (replicas: number, gpus: readonly AllocatedId[]): string[][] =>
  groupByOrdinal(replicas, gpus, ({ gpu_id }) => gpu_id);

/** The host ports that are allocated to each replica of a deployment. */
export async function allocatedPorts(transaction: Transaction, { id, replicas }: Replicated): Promise<HostPort[][]> {
  const where = { deployment_id: id };
  const ports = await transaction.allocatedPort.findMany({ where, orderBy: { host_port: 'asc' } });
  return portsByReplica(replicas, ports);
}

/** The host ports of each replica. */
export const portsByReplica = (replicas: number, ports: readonly Port[]): HostPort[][] =>
  groupByOrdinal(replicas, ports, presentPort);

const presentPort = ({ container_port, host_port, protocol, addresses }: Port): HostPort => ({
  containerPort: container_port,
  hostPort: host_port,
  protocol: protocol as HostPort['protocol'], // `storePorts` writes only these values
  addresses,
});

function groupByOrdinal<T extends { ordinal: number }, R>(
  replicas: number,
  rows: readonly T[],
  present: (row: T) => R,
): R[][] {
  const groups: R[][] = Array.from({ length: replicas }, () => []);
  for (const row of rows) groups[row.ordinal]?.push(present(row));
  return groups;
}

/**
 * The range of host ports that the fleet allocates. It is below the ephemeral port range of Linux
 * (from 32768).
 */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

interface PortRequest {
  readonly hostId: string;
  readonly deploymentId: string;
  /** The deployment has no ports yet. */
  readonly isNew: boolean;
  /** Ports of the host that are not free, in addition to those in the database, as `<protocol>/<port>`. */
  readonly taken: readonly string[];
  readonly replicas: number;
  readonly spec: WorkloadSpec;
  /** The ports of the host that the deployment requests, and those that it requested before. */
  readonly requested: HostPorts;
  readonly requestedBefore: HostPorts;
  /** The port at which this process serves its API; undefined: not known. */
  readonly servicePort: number | undefined;
  /** The addresses to which new ports bind on a host with these addresses; empty: all interfaces. */
  readonly bindTo: (addresses: AddressesByType) => readonly string[];
  /**
   * Whether existing ports bind to these addresses as well, because the change replaces all
   * instances.
   */
  readonly rebinds: boolean;
}

export const allocatedPort = z.object({
  protocol: z.string(),
  container_port: z.int(),
  ordinal: z.int(),
  host_port: z.int(),
  addresses: z.array(z.string()),
});
type Port = z.output<typeof allocatedPort>;

/** The host ports that a deployment is to have. */
export interface PortDecision {
  /** The host ports of each replica. */
  readonly replicas: readonly (readonly HostPort[])[];
  readonly added: readonly Port[];
  /** The ports that others replace. */
  readonly replaced: readonly Port[];
  /** The addresses to which all ports are to bind; undefined: existing ones keep theirs. */
  readonly rebound: readonly string[] | undefined;
  readonly refusals: readonly Refusal[];
}

/**
 * Chooses a host port for each port of each replica: the requested one, otherwise a free one. Existing allocations stay unless another
 * port is requested. Refuses requested ports that are not open or not free, and if too few host ports are free.
 */
export async function decidePorts(transaction: Transaction, request: PortRequest): Promise<PortDecision> {
  const { hostId, deploymentId, isNew, taken, replicas, spec, bindTo, rebinds } = request;
  const onHost = spec.ports.length > 0 ? await readHostPorts(transaction, hostId) : NO_PORTS;
  const addresses = bindTo(onHost.addresses);
  const required = portsOf(spec).flatMap(({ containerPort, protocol }) =>
    Array.from({ length: replicas }, (_, ordinal) => ({ protocol, container_port: containerPort, ordinal })),
  );
  const existing = isNew ? [] : await transaction.allocatedPort.findMany({ where: { deployment_id: deploymentId } });
  const present = new Map(existing.filter((port) => isKept(port, request)).map((port) => [keyOf(port), port]));
  const missing = required.filter((port) => !present.has(keyOf(port)));
  const requested = await requestedPorts(transaction, missing, { ...request, host: onHost.host });
  const used = new Set([...onHost.used, ...taken, ...requested.ports.map(textOf)]);
  const others = missing.filter((port) => requestOf(port, request) === undefined);
  const chosen = chooseFree(others, { used, from: firstPortOf(hostId) });
  const added = [...requested.ports, ...chosen.ports].map((port) => ({ ...port, addresses: [...addresses] }));
  const kept = required
    .flatMap((port) => present.get(keyOf(port)) ?? [])
    .map((port) => (rebinds ? { ...port, addresses: [...addresses] } : port));
  const replaced = existing.filter((port) => missing.some((each) => keyOf(each) === keyOf(port)));
  const rebound = rebinds ? addresses : undefined;
  const refusals = [...requested.refusals, ...chosen.refusals];
  return { replicas: portsByReplica(replicas, [...kept, ...added]), added, replaced, rebound, refusals };
}

/** A port of a replica. */
type Required = Omit<Port, 'host_port' | 'addresses'>;
type Chosen = Omit<Port, 'addresses'>;

interface ChosenPorts {
  readonly ports: readonly Chosen[];
  readonly refusals: readonly Refusal[];
}

const keyOf = ({ protocol, container_port, ordinal }: Required) => `${protocol}/${container_port}/${ordinal}`;
const textOf = ({ protocol, host_port }: Pick<Port, 'protocol' | 'host_port'>) => `${protocol}/${host_port}`;

/** The key of a port of the container in a request for ports of the host, such as `53/udp`. */
const requestKeyOf = ({ container_port, protocol }: Required) => `${container_port}/${protocol.toLowerCase()}`;

/** The port of the host that is requested for a port of the only replica. */
const requestOf = (port: Required, { requested }: Pick<PortRequest, 'requested'>): number | undefined =>
  port.ordinal === 0 ? requested[requestKeyOf(port)] : undefined;

/** Whether the fleet could have chosen a port of a host. */
export const isAllocatable = (port: number): boolean => port >= FIRST_PORT && port < FIRST_PORT + PORTS;

/** Whether an allocation stays: it is the requested one, or none is requested and it is not a former request. */
function isKept(
  port: Port,
  { requested, requestedBefore }: Pick<PortRequest, 'requested' | 'requestedBefore'>,
): boolean {
  const wanted = requestOf(port, { requested });
  if (wanted !== undefined) return wanted === port.host_port;
  return requestOf(port, { requested: requestedBefore }) !== port.host_port || isAllocatable(port.host_port);
}

async function requestedPorts(
  transaction: Transaction,
  missing: readonly Required[],
  { requested, servicePort, taken, host }: PortRequest & { readonly host: HostOfPorts },
): Promise<ChosenPorts> {
  const ports: Chosen[] = [];
  const refusals: Refusal[] = [];
  const holders = new Map(taken.map((port) => [port, 'another deployment of the same plan']));
  for (const port of missing) {
    const host_port = requestOf(port, { requested });
    if (host_port === undefined) continue;
    const wanted = { key: requestKeyOf(port), protocol: port.protocol, host_port };
    const refusal = await refusalOfPort(transaction, wanted, { host, servicePort, holders });
    if (refusal) refusals.push(refusal);
    else ports.push({ ...port, host_port });
    holders.set(textOf(wanted), `the port ${wanted.key} of this deployment`);
  }
  return { ports, refusals };
}

/** The next free ports from a port on. */
function chooseFree(
  missing: readonly Required[],
  { used, from }: { readonly used: ReadonlySet<string>; readonly from: number },
): ChosenPorts {
  const ports: Chosen[] = [];
  const refusals: Refusal[] = [];
  for (const protocol of new Set(missing.map((port) => port.protocol))) {
    const ofProtocol = missing.filter((port) => port.protocol === protocol);
    const free = freePorts({ used }, { protocol, count: ofProtocol.length, from });
    if (free.length < ofProtocol.length) refusals.push(shortage(ofProtocol.length, free.length));
    ports.push(
      ...free.flatMap((host_port, index) => ofProtocol.slice(index, index + 1).map((port) => ({ ...port, host_port }))),
    );
  }
  return { ports, refusals };
}

const shortage = (needed: number, left: number): Refusal => ({
  code: 'no_placement',
  path: 'target',
  message: `needs ${needed} more host ports; the host has ${left} free`,
});

interface StoredPortRequest extends Pick<PortRequest, 'hostId' | 'deploymentId' | 'replicas' | 'spec'> {
  /** Whether instances that run are replaced. They publish ports that the new ones do not have, until the rollout ends. */
  readonly isRollout: boolean;
}

/**
 * Stores the host ports that were decided for an existing deployment, and releases those that are
 * no longer required.
 */
export async function storePorts(
  transaction: Transaction,
  request: StoredPortRequest,
  { added, replaced, rebound }: PortDecision,
): Promise<void> {
  await updatePorts(transaction, request, rebound);
  const where = replaced.map(({ protocol, host_port }) => ({ host_id: request.hostId, protocol, host_port }));
  if (where.length > 0) await transaction.allocatedPort.deleteMany({ where: { OR: where } });
  if (added.length > 0) await transaction.$executeRaw(portsInsertion([{ ...request, added }]));
}

/** A statement that stores host ports. Its size does not depend on their number, which can be thousands. */
export function portsInsertion(all: readonly AddedPorts[]): Prisma.Sql {
  const rows = all.flatMap(({ hostId, deploymentId, added }) =>
    added.map((port) => ({ ...port, host_id: hostId, deployment_id: deploymentId })),
  );
  return Prisma.sql`
    INSERT INTO allocated_ports (host_id, deployment_id, protocol, container_port, ordinal, host_port, addresses)
    SELECT host_id, deployment_id, protocol, container_port, ordinal, host_port, addresses
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS port (host_id uuid, deployment_id uuid, protocol text,
      container_port int, ordinal int, host_port int, addresses text[])`;
}

/** The ports of a deployment that a statement stores. */
type AddedPorts = Pick<PortRequest, 'hostId' | 'deploymentId'> & Pick<PortDecision, 'added'>;

/** A statement that releases the host ports of a deployment that its replicas do not have. */
export const portsRelease = ({
  deploymentId,
  replicas,
  spec,
}: Pick<PortRequest, 'deploymentId' | 'replicas'> & { readonly spec: Pick<WorkloadSpec, 'ports'> }): Prisma.Sql => {
  const declared = portsOf(spec).map(({ containerPort, protocol }) => ({ protocol, container_port: containerPort }));
  return Prisma.sql`
    DELETE FROM allocated_ports WHERE deployment_id = ${deploymentId}::uuid AND NOT (
      ordinal < ${replicas} AND (protocol, container_port) IN (
        SELECT protocol, container_port FROM jsonb_to_recordset(${JSON.stringify(declared)}::jsonb)
          AS port (protocol text, container_port int)))`;
};

/** Releases the host ports that are no longer required, and binds the others to `rebound`. */
async function updatePorts(
  transaction: Transaction,
  { deploymentId, replicas, spec, isRollout }: StoredPortRequest,
  rebound: PortDecision['rebound'],
): Promise<void> {
  await transaction.$executeRaw(
    isRollout
      ? Prisma.sql`DELETE FROM allocated_ports WHERE deployment_id = ${deploymentId}::uuid AND ordinal >= ${replicas}`
      : portsRelease({ deploymentId, replicas, spec }),
  );
  if (rebound) {
    await transaction.allocatedPort.updateMany({
      where: { deployment_id: deploymentId },
      data: { addresses: [...rebound] },
    });
  }
}

/**
 * The port at which the search starts. It depends on the host id, so that two fleets on one machine
 * rarely use the same port.
 */
const firstPortOf = (hostId: string): number => FIRST_PORT + (Number.parseInt(hostId.slice(-6), 16) % PORTS);

/** The ports of a host that are not free, as `<protocol>/<port>`, and its addresses. */
interface PortsOnHost {
  readonly host: HostOfPorts;
  readonly used: ReadonlySet<string>;
  readonly addresses: AddressesByType;
}

const NO_PORTS: PortsOnHost = {
  host: { id: '', name: '', endpoint: 'unix:', open_ports: [] },
  used: new Set(),
  addresses: {},
};

/** The ports of a host that are allocated or that an orphan publishes. */
export async function readHostPorts(transaction: Transaction, hostId: string): Promise<PortsOnHost> {
  const [row] = await transaction.$queryRaw<(HostOfPorts & { addresses: AddressesByType; used: string[] })[]>`
    SELECT h.id, h.name, h.endpoint, h.open_ports, h.addresses, ARRAY(
      SELECT protocol || '/' || host_port FROM allocated_ports WHERE host_id = h.id
      UNION ALL
      SELECT concat(p->>'protocol', '/', p->>'host_port')
      FROM orphans o, jsonb_array_elements(o.document->'ports') p WHERE o.host_id = h.id) AS used
    FROM hosts h WHERE h.id = ${hostId}::uuid`;
  if (!row) throw new Error(`the host ${hostId} does not exist`);
  const { addresses, used, ...host } = row;
  return { host, addresses, used: new Set(used) };
}

interface PortSearch {
  readonly protocol: string;
  readonly count: number;
  readonly from: number;
}

/** The next `count` free ports of a host, starting at `from` and wrapping around at the end of the range. */
export function freePorts({ used }: Pick<PortsOnHost, 'used'>, { protocol, count, from }: PortSearch): number[] {
  const free: number[] = [];
  for (let index = 0; index < PORTS && free.length < count; index += 1) {
    const port = FIRST_PORT + ((Math.max(from, FIRST_PORT) - FIRST_PORT + index) % PORTS);
    if (!used.has(`${protocol}/${port}`)) free.push(port);
  }
  return free;
}
