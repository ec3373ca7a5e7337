import { gpuCountOf } from '../placement/candidates.ts';
import { type Protocol, portsOf, type Rendering } from './rendering.ts';

/** The key of a port in the Docker Engine API: `53/udp`. */
export const portKey = ({ containerPort, protocol }: { containerPort: number; protocol: Protocol }): string =>
  `${containerPort}/${protocol.toLowerCase()}`;

/** A host port that is allocated to a container port. */
export interface HostPort {
  readonly containerPort: number;
  readonly protocol: Protocol;
  readonly hostPort: number;
  /** The addresses of the host to which it binds; empty: all interfaces. */
  readonly addresses: readonly string[];
}

/** An isolated network of a host, with the instances of a deployment in it. */
export interface HostNetwork {
  readonly id: string;
  /** The application that it belongs to; null: it is that of all deployments without one. */
  readonly application_id: string | null;
  /** Such as `10.213.0.0/20`. */
  readonly subnet: string;
  /** How often it was found missing. */
  readonly losses: number;
  /** The addresses of the instances, by ordinal. */
  readonly addresses: readonly (string | undefined)[];
  /** The names in the network, with the address of the first instance of each. */
  readonly names: readonly { readonly name: string; readonly address: string }[];
}

/**
 * The inputs of a rendering for a host: its engine, and the GPUs, ports and addresses that are allocated to
 * each replica, by ordinal.
 */
export interface Host {
  readonly engine: 'docker' | 'podman';
  /** GPU ids as the engine names them: an index, a UUID or a CDI device. */
  readonly gpus: readonly (readonly string[])[];
  readonly ports: readonly (readonly HostPort[])[];
  /** Its own network, and those that it joins. Default: none, so that its containers are in the default network. */
  readonly networks?: readonly HostNetwork[];
  /** The number of containers beside the replicas, which a rollout adds. Default: 0. */
  readonly extra?: number;
}

/** The placeholder in a plan for a GPU or port that is not allocated yet. */
const UNALLOCATED = 'unallocated';

/**
 * The GPUs of a container, as many as its workload requests.
 *
 * @throws Error if a rendering with secret values, which goes to an engine, has another number of
 * allocated GPUs. A rendering with placeholders can be made before the allocation.
 */
export function gpusOf({ spec, secrets }: Rendering, { gpus }: Host, ordinal: number): readonly string[] {
  const allocated = gpus[ordinal] ?? [];
  if (secrets.secrecy === 'values' && allocated.length !== gpuCountOf(spec)) {
    throw new Error(`${allocated.length} GPUs are allocated to ordinal ${ordinal}`);
  }
  return Array.from({ length: gpuCountOf(spec) }, (_, index) => allocated[index] ?? UNALLOCATED);
}

/**
 * The address of an instance in a network.
 *
 * @throws Error if a rendering with secret values has none: the engine would choose one
 */
export function addressIn({ secrets }: Rendering, { addresses, subnet }: HostNetwork, ordinal: number): string {
  const address = addresses[ordinal];
  if (address === undefined && secrets.secrecy === 'values')
    throw new Error(`no address in ${subnet} is allocated to ordinal ${ordinal}`);
  return address ?? UNALLOCATED;
}

/** The binding of a container port to a port of the host. */
export interface Binding {
  readonly key: string;
  readonly hostPort: string;
  readonly addresses: readonly string[];
}

/**
 * The binding of each port of a container.
 *
 * @throws Error if a port of a rendering with secret values has no host port: the engine would
 * choose one
 */
export function bindingsOf({ spec, secrets }: Rendering, { ports }: Host, ordinal: number): Binding[] {
  const allocated = new Map<string, HostPort>((ports[ordinal] ?? []).map((port) => [portKey(port), port]));
  return portsOf(spec).map((port) => {
    const key = portKey(port);
    const found = allocated.get(key);
    if (!found && secrets.secrecy === 'values') throw new Error(`no host port is allocated to ${key}`);
    return { key, hostPort: String(found?.hostPort ?? UNALLOCATED), addresses: found?.addresses ?? [] };
  });
}
