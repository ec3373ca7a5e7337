import type { Endpoint } from '../observation.ts';
import { nameOf } from './objects.ts';
import type { Running } from './wanted.ts';

/** Where the ports of a deployment are reached from inside of its cluster. */
export const endpointsOf = ({ manifest }: Running, namespace: string): Endpoint[] =>
  manifest.objects.flatMap((object) => {
    if (object.kind !== 'Service') return [];
    const host = `${nameOf(object)}.${namespace}.svc`;
    return (object.spec?.ports ?? []).map(({ port, protocol = 'TCP' }) => ({
      container_port: port,
      protocol,
      address: `${host}:${port}`,
    }));
  });
