import { portKey } from '../../render/allocation.ts';
import { portsOf } from '../../render/rendering.ts';
import type { Draft } from '../draft.ts';
import type { Refusal } from '../refusals.ts';
import { countedReplicas } from '../scaling/scaling.ts';

type Requested = Pick<Draft, 'hostPorts' | 'workload' | 'target' | 'replicas' | 'autoscaling'>;

/**
 * Refuses requested ports of a host that no host could give: for ports that the workload does not have, for several replicas, and
 * without a host. Ports of a host are those of one host, so the request names it.
 */
export function refusalsOfHostPorts(draft: Requested): Refusal[] {
  const { hostPorts, workload, target } = draft;
  const requested = Object.keys(hostPorts);
  if (requested.length === 0) return [];
  const refusal = (path: string, message: string): Refusal => ({ code: 'deployment_refused', path, message });
  const declared = portsOf(workload.spec).map(portKey);
  const unknown = requested.filter((key) => !declared.includes(key));
  return [
    ...unknown.map((key) =>
      refusal(`host_ports.${key}`, `is not a port of this workload, which has ${declared.join(', ') || 'none'}`),
    ),
    ...(countedReplicas(draft) > 1
      ? [refusal('host_ports', 'needs one replica, because only one instance can have a port of the host')]
      : []),
    ...(target?.kind === 'host'
      ? []
      : [refusal('target', 'must be a host, because the deployment requests ports of one; clusters have none')]),
  ];
}

/** The first port that a deployment requests of its host, as `53/udp`; undefined if it requests none. */
export const firstHostPort = ({ hostPorts }: Pick<Draft, 'hostPorts'>): string | undefined =>
  Object.keys(hostPorts).sort()[0];
