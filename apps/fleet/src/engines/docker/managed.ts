import type { z } from 'zod';
import { isNetworkName, KEYS } from '../../render/labels.ts';
import { unlessNotFound } from '../errors.ts';
import {
  type ManagedObject,
  type NetworkedContainer,
  numberIn,
  objectText,
  originIn,
  type PublishedPort,
} from '../managed.ts';
import { MANAGED_FILTER } from './cleanup.ts';
import type { DockerClient } from './client.ts';
import { ownershipOf } from './containers.ts';
import { listed, listedVolumes, published } from './schemas.ts';

/** All containers and volumes with the labels of the fleet. */
export async function listManaged(client: DockerClient): Promise<ManagedObject[]> {
  const query = { all: 'true', filters: MANAGED_FILTER };
  const { body: containers } = await client.read({ path: '/containers/json', query }, listed);
  const { body } = await client.read({ path: '/volumes', query: { filters: MANAGED_FILTER } }, listedVolumes);
  return [
    ...containers.flatMap((container) => {
      const { Id, Labels, NetworkSettings } = container;
      const origin = originIn(Labels);
      if (!origin) return [];
      const name = objectText(nameOf(container));
      const replicas = numberIn(Labels, KEYS.ordinal) + 1;
      const instance = ownershipOf(Labels, origin.id) && { instance: `${name} ${stateOf(container)}` };
      const isOutside = !NetworkSettings.every(isNetworkName);
      return [
        {
          ...{ ...origin, object: `container ${name}`, containerId: Id, replicas },
          ...instance,
          ...(isOutside && { isOutside }),
        },
      ];
    }),
    ...body.Volumes.flatMap(({ Name, Labels }) => {
      const origin = originIn(Labels);
      return origin ? [{ ...origin, object: objectText(Name), containerId: '', replicas: 0 }] : [];
    }),
  ];
}

type Listed = z.output<typeof listed>[number];

/**
 * Docker also lists the names by which linked containers know a container; they contain a slash.
 */
export const nameOf = ({ Id, Names }: Listed): string =>
  Names?.map((name) => name.replace(/^\//, '')).find((name) => !name.includes('/')) ?? Id;

/**
 * The state of a container as far as a list shows it: that of an instance that runs or has
 * completed, or another one.
 */
function stateOf({ State, Status }: Listed): 'running' | 'completed' | 'other' {
  if (State === 'running') return Status.includes('(unhealthy)') ? 'other' : 'running';
  return State === 'exited' || State === 'stopped' ? 'completed' : 'other';
}

/** What a container occupies on its host, also while it is stopped. */
interface Occupied {
  readonly ports: readonly PublishedPort[];
  readonly addresses: readonly NetworkedContainer[];
}

/** The host ports and the addresses of a container; none if it does not exist. */
export async function readOccupied(client: DockerClient, id: string): Promise<Occupied> {
  const read = await unlessNotFound(client.read({ path: `/containers/${id}/json` }, published));
  if (!read) return { ports: [], addresses: [] };
  const { Config, HostConfig, NetworkSettings } = read.body;
  const ordinal = numberIn(Config.Labels, KEYS.ordinal);
  const ports = Object.entries(HostConfig.PortBindings ?? {}).flatMap(([key, bindings]) => {
    const [port = '', protocol = ''] = key.split('/');
    const allocated = bindings.filter(({ HostPort }) => Number(HostPort) > 0);
    return allocated.map(({ HostPort }) => ({
      ordinal,
      protocol: protocol.toUpperCase(),
      container_port: Number(port),
      host_port: Number(HostPort),
    }));
  });
  const addresses = Object.entries(NetworkSettings?.Networks ?? {}).flatMap(([network, { IPAMConfig, IPAddress }]) => {
    const address = IPAMConfig?.IPv4Address || IPAddress;
    return isNetworkName(network) && address !== '' ? [{ ordinal, address, network }] : [];
  });
  return { ports, addresses };
}
