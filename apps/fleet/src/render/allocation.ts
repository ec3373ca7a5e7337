import { gpuCountOf } from '../placement/requirements.ts';
import { type Protocol, portsOf, type Rendering } from './rendering.ts';

/** How an engine of a single machine writes a port: `53/udp`. */
export const portKey = ({ containerPort, protocol }: { containerPort: number; protocol: Protocol }): string =>
  `${containerPort}/${protocol.toLowerCase()}`;

/** A port of a host that is allocated to one of a container. */
export interface HostPort {
  readonly containerPort: number;
  readonly protocol: Protocol;
  readonly hostPort: number;
  readonly hostIp?: string;
}

/** What of a host shows in its containers: its engine, and what is allocated to each of them, by ordinal. */
export interface Host {
  readonly engine: 'docker' | 'podman';
  /** Ids of GPUs as the engine names them: an index, a UUID or a CDI device. */
  readonly gpus: readonly (readonly string[])[];
  readonly ports: readonly (readonly HostPort[])[];
}

/** What people see in the place of a GPU or a port that is still to be allocated. */
const UNALLOCATED = 'unallocated';

/**
 * The GPUs of a container, as many as it asks for.
 *
 * @throws Error for an engine, where others are allocated: a manifest for people may be looked at before
 */
export function gpusOf({ spec, secrets }: Rendering, { gpus }: Host, ordinal: number): readonly string[] {
  const allocated = gpus[ordinal] ?? [];
  if (secrets.secrecy === 'values' && allocated.length !== gpuCountOf(spec)) {
    throw new Error(`${allocated.length} GPUs are allocated to ordinal ${ordinal}`);
  }
  return Array.from({ length: gpuCountOf(spec) }, (_, index) => allocated[index] ?? UNALLOCATED);
}

/** Where a port of a container is reached on its host. */
export interface Binding {
  readonly key: string;
  readonly hostPort: string;
  readonly hostIp: string | undefined;
}

/** The host port of each port. @throws Error for an engine, where one has none: the engine would choose */
export function bindingsOf({ spec, secrets }: Rendering, { ports }: Host, ordinal: number): Binding[] {
  const allocated = new Map<string, HostPort>((ports[ordinal] ?? []).map((port) => [portKey(port), port]));
  return portsOf(spec).map((port) => {
    const key = portKey(port);
    const found = allocated.get(key);
    if (!found && secrets.secrecy === 'values') throw new Error(`no host port is allocated to ${key}`);
    return { key, hostPort: String(found?.hostPort ?? UNALLOCATED), hostIp: found?.hostIp };
  });
}
