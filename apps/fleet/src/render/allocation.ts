import { gpuCountOf } from '../placement/demand.ts';
import type { Host, HostPort } from './host.ts';
import { portKey } from './port-key.ts';
import { portsOf, type Rendering } from './rendering.ts';

/** What people see in the place of a GPU or a port that is still to be allocated. */
export const UNALLOCATED = 'unallocated';

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
