import { readOpenPorts } from '@svc/contract/fleet';
import { isLocalTarget } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Refusal } from '../refusals.ts';

type Transaction = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The facts of a host that decide who can have its ports. */
export interface HostOfPorts {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly open_ports: readonly string[];
}

/** A port of a host that a deployment requests. */
interface RequestedPort {
  /** The port of the container, as `53/udp`. */
  readonly key: string;
  readonly protocol: string;
  readonly host_port: number;
}

interface Holding {
  readonly host: HostOfPorts;
  /** The port at which this process serves the API of the fleet. */
  readonly servicePort: number | undefined;
  /** Who takes ports that the database does not show as taken, by `<protocol>/<port>`. */
  readonly holders: ReadonlyMap<string, string>;
}

/** Why a deployment cannot have a port of a host that it requests: it is not open, or something else has it. */
export async function refusalOfPort(
  transaction: Transaction,
  { key, protocol, host_port }: RequestedPort,
  { host, servicePort, holders }: Holding,
): Promise<Refusal | undefined> {
  const refusal = (message: string): Refusal => ({ code: 'deployment_refused', path: `host_ports.${key}`, message });
  const port = `${host_port}/${protocol.toLowerCase()}`;
  if (!isOpen(host.open_ports, { protocol, host_port })) {
    const opened = host.open_ports.join(', ') || 'none';
    return refusal(`must be an open port of host ${host.name}: an admin has opened ${opened}, and not ${port}`);
  }
  const holder =
    holderOnMachine(host, { protocol, host_port }, servicePort) ??
    holders.get(`${protocol}/${host_port}`) ??
    (await holderInFleet(transaction, host.id, { protocol, host_port }));
  return holder === undefined
    ? undefined
    : refusal(`must be a free port: ${holder} already uses ${port} of host ${host.name}`);
}

type PortOfHost = Pick<RequestedPort, 'protocol' | 'host_port'>;

const isOpen = (opened: readonly string[], { protocol, host_port }: PortOfHost): boolean =>
  opened.some((text) => {
    const range = readOpenPorts(text);
    return range?.protocol === protocol && range.first <= host_port && host_port <= range.last;
  });

/** The program of the machine that uses a port although the database does not know it. */
function holderOnMachine(
  { endpoint }: HostOfPorts,
  { protocol, host_port }: PortOfHost,
  servicePort: number | undefined,
): string | undefined {
  if (protocol !== 'TCP') return undefined;
  const url = new URL(endpoint.replace(/^tcp:/, 'http:'));
  if (url.protocol !== 'unix:' && Number(url.port || 80) === host_port) return 'the engine of the host';
  return host_port === servicePort && isLocalTarget(url) ? 'this fleet' : undefined;
}

/** The deployment or the orphan that has a port of a host, in words. */
async function holderInFleet(
  transaction: Transaction,
  hostId: string,
  { protocol, host_port }: PortOfHost,
): Promise<string | undefined> {
  const [row] = await transaction.$queryRaw<{ holder: string }[]>`
    SELECT 'the deployment ' || d.name AS holder FROM allocated_ports p JOIN deployments d ON d.id = p.deployment_id
    WHERE p.host_id = ${hostId}::uuid AND p.protocol = ${protocol} AND p.host_port = ${host_port}
    UNION ALL
    SELECT 'the orphan ' || (o.document->>'name')
    FROM orphans o, jsonb_array_elements(o.document->'ports') p
    WHERE o.host_id = ${hostId}::uuid AND p->>'protocol' = ${protocol} AND (p->>'host_port')::int = ${host_port}
    LIMIT 1`;
  return row?.holder;
}
