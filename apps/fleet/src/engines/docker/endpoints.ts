import type { RenderedContainer } from '../../render/docker.ts';
import type { Endpoint } from '../observation.ts';

/** Where the ports of containers are reached: on their machine, at what is allocated to them. */
export function endpointsOf(containers: readonly RenderedContainer[], endpoint: string): Endpoint[] {
  const machine = new URL(endpoint).hostname || 'localhost'; // a socket of this machine has no host
  return containers.flatMap(({ body }) =>
    Object.entries(body.HostConfig.PortBindings).flatMap(([key, bindings]) => {
      const [port = '', protocol = ''] = key.split('/');
      return bindings.map(({ HostIp = '', HostPort }) => ({
        container_port: Number(port),
        protocol: protocol.toUpperCase(),
        address: `${hostOf(HostIp, machine)}:${HostPort}`,
      }));
    }),
  );
}

/** An address that means all of them is none to call. */
function hostOf(ip: string, machine: string): string {
  if (['', '0.0.0.0', '::'].includes(ip)) return machine;
  return ip.includes(':') ? `[${ip}]` : ip;
}
