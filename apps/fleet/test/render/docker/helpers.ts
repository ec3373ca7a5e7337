import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Host } from '../../../src/render/allocation.ts';
import { type ContainerBody, type DockerManifest, renderDocker } from '../../../src/render/docker.ts';
import type { Rendering } from '../../../src/render/rendering.ts';
import { aHost, aRendering, aSpec } from '../renderings.ts';

export interface Given extends Partial<Rendering<'values'>> {
  readonly host?: Partial<Host>;
}

/** The rendering of a workload for a host. Allocations that the test does not give are complete. */
export function render(spec: Partial<WorkloadSpec> = {}, { host, ...given }: Given = {}): DockerManifest<'values'> {
  const rendering = aRendering(aSpec(spec), given);
  return renderDocker(rendering, { ...aHost(rendering), ...host });
}

/** The first container of the rendering. */
export function bodyOf(spec: Partial<WorkloadSpec> = {}, given: Given = {}): ContainerBody {
  const body = render(spec, given).containers[0]?.body;
  if (!body) throw new Error('no container');
  return body;
}

/** A workload with a port. */
export const web = { ports: [{ containerPort: 80, protocol: 'TCP' }] };
