import { z } from 'zod';

/** The ports of its host that a deployment requests, by the port of its container, such as `53/udp`. */
export const storedHostPorts = z.record(z.string(), z.int());
export type HostPorts = Readonly<z.output<typeof storedHostPorts>>;
