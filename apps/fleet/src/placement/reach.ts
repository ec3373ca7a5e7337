import type { Obstacle } from '@svc/contract/fleet';
import type { Candidate, NeededPort, ProvidedPort } from './candidates.ts';
import { onRequest, onTarget } from './remedies.ts';

/** The target of the program. */
type From = Pick<Candidate, 'kind' | 'id' | 'network_types'>;

interface ReachedAddress {
  readonly host: string;
  readonly port: number;
  /** The isolated network in which it is. */
  readonly network?: string;
}

/**
 * The address at which programs on a target reach a port; undefined if there is none. On the same host, this is the
 * address in an isolated network, because such networks do not reach the published ports of each other. Without one,
 * containers reach each address of their own host. From elsewhere, both targets must have the network type.
 */
export function addressFrom(provided: ProvidedPort, from: From): ReachedAddress | undefined {
  const { port } = provided;
  const isSame = from.kind === provided.kind && from.id === provided.id;
  if (provided.kind === 'cluster') return isSame ? { host: provided.service, port } : undefined;
  const { network } = provided;
  if (isSame && network) return { host: network.address, port: network.port, network: network.id };
  const found = provided.addresses.find(({ type }) => isSame || from.network_types.includes(type));
  return found && { host: found.address, port };
}

/** Why programs on a target do not reach a port, as the end of a sentence. */
export function whyNotReached({ deployment, port, provided }: NeededPort, { network_types }: From): string {
  const what = `does not reach port ${port} of the deployment ${deployment}`;
  if (provided.kind === 'cluster') return `${what}, which has an address only inside the cluster ${provided.name}`;
  if (provided.addresses.length === 0) return `${what}, which has an address only on the host ${provided.name}`;
  const types = provided.addresses.map(({ type }) => type).join(', ');
  const has = network_types.length > 0 ? `has: ${network_types.join(', ')}` : 'has none';
  return `${what}, which has an address in the network type ${types} (${has})`;
}

/** The reasons why a program on a candidate does not reach what it needs. */
export const reachObstacles = (needed: readonly NeededPort[], candidate: Candidate): Obstacle[] =>
  needed
    .filter(({ provided }) => addressFrom(provided, candidate) === undefined)
    .map((each) => ({
      code: 'address_not_reached',
      message: whyNotReached(each, candidate),
      remedies: [
        each.provided.kind === 'cluster' || each.provided.addresses.length === 0
          ? onRequest('target', [each.provided.name])
          : onTarget(
              'network_types',
              each.provided.addresses.slice(0, 1).map(({ type }) => type),
            ),
      ],
    }));
