import { z } from 'zod';
import { record } from '../../shared/wire.ts';

const PROTOCOLS = '(?:tcp|udp|sctp)';
const MAX_PORT = 65_535;

/** Ports of a host that an admin opens: `53/udp`, `443` (TCP) or `8000-8999`. */
interface OpenPorts {
  readonly first: number;
  readonly last: number;
  /** In upper case. */
  readonly protocol: string;
}

/** The ports that a text names; undefined if it is not allowed. */
export function readOpenPorts(text: string): OpenPorts | undefined {
  const [, start, end, protocol = 'tcp'] = /^([1-9]\d{0,4})(?:-([1-9]\d{0,4}))?(?:\/(tcp|udp|sctp))?$/.exec(text) ?? [];
  const first = Number(start);
  const last = Number(end ?? start);
  return first <= last && last <= MAX_PORT ? { first, last, protocol: protocol.toUpperCase() } : undefined;
}

const openPort = z
  .string()
  .regex(new RegExp(`^[1-9]\\d{0,4}(?:-[1-9]\\d{0,4})?(?:\\/${PROTOCOLS})?$`), {
    error: 'must be a port or a range with an optional protocol, such as 53/udp, 443 or 8000-8999',
    abort: true,
  })
  .refine((text) => readOpenPorts(text) !== undefined, 'must have ports up to 65535, the lower one first');

/** The ports of a host that deployments can request. */
export const openPorts = z
  .array(openPort)
  .max(64, 'must have at most 64 entries')
  .meta({
    description:
      'The ports of the host that deployments can request in `host_ports`, as ports or ranges with a protocol (TCP by default). Only an admin sets them',
    examples: [['53/udp', '8000-8999']],
  });

const hostPort = z.int().min(1).max(MAX_PORT);

/** The ports of the host that a deployment requests, by the port of its container. */
export const hostPorts = record(
  z
    .string()
    .regex(
      new RegExp(`^[1-9]\\d{0,4}\\/${PROTOCOLS}$`),
      'must be a port of the workload with its protocol, such as 53/udp',
    ),
  hostPort,
  32,
).meta({
  description:
    'For ports of the workload, such as `53/udp`: the port of the host instead of an allocated one. The host must open it, and the deployment has one replica',
  examples: [{ '53/udp': 53 }],
});

/** As in responses. */
export const hostPortsReply = z.record(z.string(), z.int());

/** The ports of the host that a plan would give a deployment because it requests them. */
export const plannedHostPorts = z
  .array(
    z.object({
      container_port: z.int(),
      protocol: z.string(),
      host_port: z.int(),
      addresses: z.array(z.string()).meta({ description: 'The addresses of the host to which it binds' }),
    }),
  )
  .meta({ description: 'The ports of the host that the deployment requests, on the chosen host' });
