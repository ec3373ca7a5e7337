import { HTTP_PORTS, readHttpPorts } from '@svc/contract';
import type { Target } from '@svc/contract/fleet';
import { Prisma } from '../../generated/prisma/client.ts';
import { type AddressesByType, LOOPBACK, reachableAddresses } from '../../placement/addresses.ts';
import type { ProvidedPort } from '../../placement/candidates.ts';
import type { HostPort } from '../../render/allocation.ts';
import { CONTAINERS_ARE_ISOLATED } from '../../render/defaults.ts';
import { objectName } from '../../render/labels.ts';
import { targetOf } from '../../resources/targets.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A deployment with ports, on its target. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly deleting: boolean;
  /** The ports of its container. */
  readonly ports: readonly number[];
  /** The value of the variable that names its ports with web pages. */
  readonly webPorts: string;
  readonly target: Target | null;
  /** The ports of its first instance that its host publishes. */
  readonly published: readonly HostPort[];
  /** The isolated network of its host to which it belongs, with the address of its first instance. Default: none. */
  readonly network?: { readonly id: string; readonly address: string } | null;
}

interface ProviderRow extends Omit<Provider, 'target'> {
  readonly host_id: string | null;
  readonly cluster_id: string | null;
}

/** The value that the workload of a deployment `r` has for a variable, or its default. */
const ofWorkload = (variable: string) => Prisma.sql`(
  SELECT e.value FROM workload_revisions v, LATERAL (
    SELECT x->>'name' AS name, x->>'value' AS value, 1 AS place FROM jsonb_array_elements(v.spec->'env') x
    UNION ALL
    SELECT x->>'name', x->>'default_value', 2 FROM jsonb_array_elements(v.spec->'env_schema') x) e
  WHERE v.workload_id = r.workload_id AND v.revision = r.revision AND e.name = ${variable} ORDER BY e.place LIMIT 1)`;

/** The deployments with these names, as they are stored. */
export async function readProviders(reader: Reader, names: readonly string[]): Promise<Provider[]> {
  if (names.length === 0) return [];
  const rows = await reader.$queryRaw<ProviderRow[]>`
    SELECT r.id, r.name, r.deleting, r.host_id, r.cluster_id, coalesce(r.env->${HTTP_PORTS}::text->>'value', r.env->>${HTTP_PORTS}::text, ${ofWorkload(HTTP_PORTS)}, '') AS "webPorts",
      (SELECT coalesce(jsonb_agg(p->'containerPort'), '[]') FROM workload_revisions v, jsonb_array_elements(v.spec->'ports') p
       WHERE v.workload_id = r.workload_id AND v.revision = r.revision) AS ports,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('containerPort', a.container_port, 'hostPort', a.host_port,
         'protocol', a.protocol, 'addresses', a.addresses)), '[]')
       FROM allocated_ports a WHERE a.deployment_id = r.id AND a.ordinal = 0) AS published,
      (SELECT jsonb_build_object('id', a.network_id, 'address', host(a.address)) FROM network_addresses a
       WHERE a.deployment_id = r.id AND a.ordinal = 0 AND NOT a.joined AND r.defaults_version >= ${CONTAINERS_ARE_ISOLATED}) AS network
    FROM deployments r WHERE r.name = ANY (${names}::text[])`;
  return rows.map(({ host_id, cluster_id, ...row }) => ({ ...row, target: targetOf({ host_id, cluster_id }) }));
}

interface Machine {
  readonly id: string;
  readonly name: string;
  readonly network_types: readonly string[];
  /** Of a host. */
  readonly addresses: AddressesByType;
  /** Of a cluster. */
  readonly namespace: string;
}

/** What is known about targets, by their ids. */
export async function readMachines(reader: Reader, targets: readonly (Target | null)[]): Promise<Map<string, Machine>> {
  const ids = [...new Set(targets.flatMap((target) => target?.id ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await reader.$queryRaw<Machine[]>`
    SELECT id, name, network_types, addresses, '' AS namespace FROM hosts WHERE id = ANY (${ids}::uuid[])
    UNION ALL
    SELECT id, name, network_types, '{}', namespace FROM clusters WHERE id = ANY (${ids}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * A port of a deployment on its target, or the reason why it has no address. A port that binds to all
 * interfaces has all addresses of its host.
 */
export function providedPort(
  { id, name, ports, target, published, network: own }: Provider,
  port: number,
  machines: ReadonlyMap<string, Machine>,
): ProvidedPort | string {
  const what = `names the port ${port} of the deployment ${name}`;
  if (!ports.includes(port))
    return `${what}, which has ${ports.length > 0 ? `the ports ${ports.join(', ')}` : 'no ports'}`;
  const machine = target && machines.get(target.id);
  if (!target || !machine) return `${what}, which has no address before its first start`;
  const place = { id: target.id, name: machine.name };
  if (target.kind === 'cluster')
    return { kind: 'cluster', ...place, port, service: `${objectName({ id, name })}.${machine.namespace}.svc` };
  const found = published.filter(({ containerPort }) => containerPort === port);
  const allocated = found.find(({ protocol }) => protocol === 'TCP') ?? found[0];
  const network = own ? { ...own, port } : undefined;
  if (!allocated && !network) return `${what}, which has no address before its first start`;
  const addresses = allocated ? reachableAddresses(machine.addresses, allocated.addresses) : [];
  if (addresses.length === 0 && !network)
    return `${what}, which only the machine of the host ${machine.name} reaches: declare an address of this host for a network of the deployment, and restart the deployment`;
  return { kind: 'host', ...place, port: allocated?.hostPort ?? port, addresses, network };
}

/**
 * A provider as a program sees it that was rendered with a version of the defaults: one that is not in isolated networks does not
 * use addresses in them.
 */
export const seenFrom = (provider: Provider, defaultsVersion: number): Provider =>
  defaultsVersion >= CONTAINERS_ARE_ISOLATED ? provider : { ...provider, network: null };

/**
 * The address of a port of a deployment for people and programs outside: one of the network type `public` if it has one, and the
 * loopback address if only its host reaches it; undefined before its start.
 */
export function ownAddress(
  provider: Provider,
  port: number,
  machines: ReadonlyMap<string, Machine>,
): { readonly host: string; readonly port: number } | undefined {
  const provided = providedPort(provider, port, machines);
  if (typeof provided === 'string') {
    const found = provider.published.find(({ containerPort }) => containerPort === port);
    return found && { host: LOOPBACK, port: found.hostPort };
  }
  if (provided.kind === 'cluster') return { host: provided.service, port: provided.port };
  return { host: provided.addresses.at(-1)?.address ?? LOOPBACK, port: provided.port };
}

/** Whether a port serves web pages over TLS. */
export const schemeOf = ({ webPorts }: Provider, port: number): 'http' | 'https' =>
  readHttpPorts(webPorts)?.find((each) => each.port === port)?.scheme ?? 'http';
