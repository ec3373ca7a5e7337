import type { NetworkBody } from '../../../render/docker.ts';
import { KEYS } from '../../../render/labels.ts';
import { EngineFailure, NetworkFailure, Transient, unlessNotFound } from '../../errors.ts';
import type { DockerClient } from '../client.ts';
import { dockerNetwork, podmanNetwork } from '../schemas.ts';

/** What an engine states about a network of the fleet. */
export interface FoundNetwork {
  readonly id: string;
  /** Whether containers of other networks do not reach its containers. */
  readonly isolated: boolean;
}

interface Inspected {
  readonly subnet: string;
  readonly owner: string | undefined;
  readonly isolated: boolean;
}

async function inspect(client: DockerClient, name: string): Promise<Inspected | undefined> {
  const path = `/networks/${name}`;
  if (client.address.engine === 'podman') {
    const read = await unlessNotFound(client.read({ path: `${path}/json`, isLibpod: true }, podmanNetwork));
    if (!read) return undefined;
    const { subnets, options, labels } = read.body;
    return {
      subnet: subnets[0]?.subnet ?? '',
      owner: labels[KEYS.network],
      // The API that is compatible with Docker creates networks without this option.
      isolated: ['true', 'strict'].includes(options.isolate ?? ''),
    };
  }
  const read = await unlessNotFound(client.read({ path }, dockerNetwork));
  if (!read) return undefined;
  const { Driver, IPAM, Labels } = read.body;
  // Docker isolates its bridge networks from each other.
  return { subnet: IPAM.Config[0]?.Subnet ?? '', owner: Labels[KEYS.network], isolated: Driver === 'bridge' };
}

/** The id of the row and the subnet of a network that a fleet has created; undefined for another one. */
export async function readNetwork(
  client: DockerClient,
  name: string,
): Promise<{ readonly id: string; readonly subnet: string } | undefined> {
  const found = await inspect(client, name);
  return found?.owner === undefined ? undefined : { id: found.owner, subnet: found.subnet };
}

function create(client: DockerClient, { Name, Subnet, Bridge, Labels }: NetworkBody) {
  if (client.address.engine === 'podman') {
    const body = {
      name: Name,
      driver: 'bridge',
      network_interface: Bridge,
      subnets: [{ subnet: Subnet }],
      // Names are in the hosts files of containers. The name servers of engines know a new container too late.
      dns_enabled: false,
      options: { isolate: 'true' },
      labels: Labels,
    };
    return client.request({ method: 'POST', path: '/networks/create', isLibpod: true, body });
  }
  const body = {
    Name,
    Driver: 'bridge',
    IPAM: { Config: [{ Subnet }] },
    Options: { 'com.docker.network.bridge.name': Bridge },
    Labels,
  };
  return client.request({ method: 'POST', path: '/networks/create', body });
}

/** Whether the engine has the addresses already, for another network or an interface of its machine. */
const isSubnetTaken = (engineMessage: string): boolean =>
  /pool overlaps|overlapping ipv4/i.test(engineMessage) ||
  (/subnet/i.test(engineMessage) && /already (?:being )?used/i.test(engineMessage));

/** Another worker has created the network at the same time. */
const NAME_TAKEN = /already (?:used|exists)/i;

/**
 * Creates a network if it does not exist. A network that existed before is not created again at once, because its
 * containers must be replaced.
 *
 * @returns what the engine states about it, and the actions taken
 * @throws NetworkFailure if the network is lost, its subnet is refused or another one; Transient if something else has its name
 */
export async function ensureNetwork(
  client: DockerClient,
  body: NetworkBody,
  existedBefore: boolean,
): Promise<{ readonly found: FoundNetwork; readonly actions: readonly string[] }> {
  const present = await inspect(client, body.Name);
  if (present) return { found: accepted(body, present), actions: [] };
  if (existedBefore) throw new NetworkFailure('lost', body, `The network ${body.Name} no longer exists on its host.`);
  try {
    await create(client, body);
  } catch (error) {
    if (!(error instanceof EngineFailure) || error.response === undefined) throw error;
    const { engineMessage } = error.response;
    if (isSubnetTaken(engineMessage))
      throw new NetworkFailure('subnet_refused', body, `The host already uses addresses of ${body.Subnet}.`);
    if (!NAME_TAKEN.test(engineMessage))
      throw new Transient('NetworkFailed', `The network ${body.Name} could not be created.`, error.response);
  }
  const created = await inspect(client, body.Name);
  if (!created) throw new Transient('NetworkFailed', `The network ${body.Name} could not be created.`);
  return { found: accepted(body, created), actions: [`created the network ${body.Name}`] };
}

/** @throws NetworkFailure if it has another subnet, and Transient if the fleet has not created it */
function accepted({ Name, Id, Subnet }: NetworkBody, { subnet, owner, isolated }: Inspected): FoundNetwork {
  if (owner === Id && subnet !== Subnet) {
    throw new NetworkFailure('subnet_differs', { Id, Subnet: subnet }, `The network ${Name} has the subnet ${subnet}.`);
  }
  if (owner !== Id) {
    const message = `A network named ${Name} exists that the fleet has not created, with the subnet ${subnet}. It was not changed. Remove it; the fleet then creates its own.`;
    throw new Transient('NetworkFailed', message);
  }
  return { id: Id, isolated };
}

/** Removes a network that no deployment uses. @returns whether it does not exist any more */
export async function removeNetwork(client: DockerClient, { Name, Id }: Pick<NetworkBody, 'Name' | 'Id'>) {
  const present = await inspect(client, Name);
  if (present?.owner !== Id) return true;
  const isLibpod = client.address.engine === 'podman';
  // Engines refuse it with one of these while a container is in the network.
  const { status } = await client.request({
    method: 'DELETE',
    path: `/networks/${Name}`,
    isLibpod,
    accept: [403, 404, 409, 500],
  });
  return status < 400 || status === 404;
}
