import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import os from 'node:os';
import { isBindAddress, MAX_PROPOSED_ADDRESSES } from '@svc/contract/fleet';
import { reachOf } from '@svc/http';
import type { DockerClient } from './client.ts';
import { machine } from './schemas.ts';

/** An address that the machine of an engine probably has. */
export interface ProposedAddress {
  readonly address: string;
  readonly is_public: boolean;
}

/**
 * Addresses to which ports of a host could bind. Engines do not report the interfaces of their
 * machine, so these are: the address at which the fleet reaches the engine, its address in a swarm,
 * and for a local socket the addresses of this machine. The deployments verify an address when they
 * bind to it.
 *
 * @throws Unreachable
 */
export async function proposeAddresses(client: DockerClient): Promise<ProposedAddress[]> {
  const { body } = await client.read({ path: '/info' }, machine);
  const found = [body.Swarm.NodeAddr, ...(await reachedAt(client.address.endpoint, body.Name))];
  return [...new Set(found)]
    .filter((address) => isBindAddress(address) && reachOf(address) !== 'loopback')
    .slice(0, MAX_PROPOSED_ADDRESSES)
    .map((address) => ({ address, is_public: reachOf(address) === 'public' }));
}

/**
 * A container of the fleet can use a socket of its host. It then has another host name than the
 * engine, and its addresses are not those of the host.
 */
async function reachedAt(endpoint: string, machineName: string): Promise<string[]> {
  if (endpoint.startsWith('unix:')) return machineName === os.hostname() ? ownAddresses() : [];
  const host = new URL(endpoint.replace(/^tcp:/, 'http:')).hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) > 0) return [host];
  const resolved = await lookup(host, { all: true }).catch(() => []); // the connection did not need it
  return resolved.map(({ address }) => address);
}

/** Interfaces that engines create for the networks of their containers. */
const OF_CONTAINERS = /^(?:docker|br-|veth|podman|cni|virbr|lxc|flannel|cali)/;

const ownAddresses = (): string[] =>
  Object.entries(os.networkInterfaces())
    .filter(([name]) => !OF_CONTAINERS.test(name))
    .flatMap(([, addresses = []]) => addresses)
    .filter(({ internal }) => !internal)
    .map(({ address }) => address);
