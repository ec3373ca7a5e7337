import type { Protocol } from './rendering.ts';

/** How an engine of a single machine writes a port: `53/udp`. */
export const portKey = ({ containerPort, protocol }: { containerPort: number; protocol: Protocol }): string =>
  `${containerPort}/${protocol.toLowerCase()}`;
