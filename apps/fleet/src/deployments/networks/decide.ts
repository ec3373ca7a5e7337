import { v7 as uuidv7 } from 'uuid';
import { Prisma } from '../../generated/prisma/client.ts';
import { compareStrings } from '../../placement/format.ts';
import {
  addressNumber,
  addressText,
  capacityOf,
  freeAddresses,
  freeSubnet,
  prefixFor,
  type Subnet,
  subnetOf,
  subnetText,
} from '../../placement/subnets.ts';
import type { HostNetwork } from '../../render/allocation.ts';
import type { Refusal } from '../refusals.ts';
import { byOrdinal, type InstanceAddress, namesInNetwork } from './attached.ts';
import { type Member, nameInApplication, networkOf } from './membership.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A network of a deployment as it was decided. */
export interface DecidedNetwork extends HostNetwork {
  readonly hostId: string;
  /** Whether the network is stored with the decision. */
  readonly isNew: boolean;
  /** Whether the deployment belongs to another network, and joins this one for an address. */
  readonly joined: boolean;
  /** The addresses that are allocated in addition. */
  readonly added: readonly InstanceAddress[];
}

/** The networks of a deployment, its own one first, and the reasons against it. */
export interface NetworkDecision {
  readonly networks: readonly DecidedNetwork[];
  readonly refusals: readonly Refusal[];
}

interface NetworkRequest {
  readonly hostId: string;
  readonly deployment: Member;
  /** The number of instances that need an address. */
  readonly instances: number;
  /** The ids of the networks in which it has addresses of others. */
  readonly needed: readonly string[];
  /** The subnets from which a new network is allocated; null: none is, because it has a network. */
  readonly pool: Subnet | null;
  /** What earlier changes of the same plan would allocate. */
  readonly pending: readonly DecidedNetwork[];
}

interface StoredNetwork extends Omit<HostNetwork, 'addresses'> {
  /** The highest address that is taken. */
  readonly last: string | null;
  /** The addresses of the deployment. */
  readonly own: readonly InstanceAddress[];
}

/**
 * Chooses the addresses of the instances of a deployment in its network and in those that it joins. Existing ones stay.
 * Refuses if a network has too few addresses, or the pool of networks has no free one.
 */
export async function decideNetworks(reader: Reader, request: NetworkRequest): Promise<NetworkDecision> {
  const { deployment, hostId, needed } = request;
  const applicationId = networkOf(deployment);
  const pending = request.pending.filter((each) => each.hostId === hostId);
  const stored = await readNetworks(reader, request, applicationId);
  const planned = pending.filter(({ isNew }) => isNew).map((network) => ({ ...network, last: null, own: [] }));
  const known: readonly StoredNetwork[] = [...stored, ...planned];
  const present = known.find((network) => network.application_id === applicationId);
  const own = present ?? (await newNetwork(reader, { ...request, pending }, applicationId));
  if (own === undefined) return { networks: [], refusals: [poolExhausted(request, applicationId)] };
  const networks: DecidedNetwork[] = [];
  const refusals: Refusal[] = [];
  for (const network of [own, ...known.filter(({ id }) => id !== own.id && needed.includes(id))]) {
    const isOwn = network === own;
    const { added, missing } = await addAddresses(reader, network, { ...request, pending });
    const addresses = byOrdinal([...network.own, ...added]);
    const names = isOwn ? namesAfter(network, { deployment, pending, address: addresses[0] }) : [];
    if (missing > 0) refusals.push(tooFew(network, missing, added.length));
    const { id, application_id, subnet, losses } = network;
    const shared = { id, application_id, subnet, losses, addresses, names, hostId };
    networks.push({ ...shared, isNew: isOwn && !present, joined: !isOwn, added });
  }
  return { networks, refusals };
}

const readNetworks = (
  reader: Reader,
  { hostId, deployment: { id }, needed }: NetworkRequest,
  applicationId: string | null,
): Promise<StoredNetwork[]> => reader.$queryRaw<StoredNetwork[]>`
  SELECT n.id, n.application_id, n.subnet::text AS subnet, n.losses,
    host(greatest((SELECT max(a.address) FROM network_addresses a WHERE a.network_id = n.id),
      (SELECT max(value::inet) FROM jsonb_each_text(n.former_names)))) AS last,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('ordinal', a.ordinal, 'address', host(a.address))), '[]')
     FROM network_addresses a WHERE a.network_id = n.id AND a.deployment_id = ${id}::uuid) AS own,
    ${namesInNetwork(Prisma.sql`${id}::uuid`)} AS names
  FROM networks n WHERE n.host_id = ${hostId}::uuid
    AND (n.application_id IS NOT DISTINCT FROM ${applicationId}::uuid OR n.id = ANY (${[...needed]}::uuid[]))`;

/** The subnets on a host that networks have, or that its engine refuses. */
export const readTakenSubnets = async (reader: Reader, hostId: string): Promise<Subnet[]> => {
  const rows = await reader.$queryRaw<{ subnet: string }[]>`
    SELECT subnet::text AS subnet FROM networks WHERE host_id = ${hostId}::uuid
    UNION ALL SELECT unnest(refused_subnets) FROM hosts WHERE id = ${hostId}::uuid`;
  return rows.map(({ subnet }) => subnetOf(subnet));
};

/** A network that does not exist yet; undefined if the pool has no free subnet. */
async function newNetwork(
  reader: Reader,
  { hostId, instances, pool, pending }: NetworkRequest,
  applicationId: string | null,
): Promise<StoredNetwork | undefined> {
  if (pool === null) return undefined;
  const taken = await readTakenSubnets(reader, hostId);
  const planned = pending.filter(({ isNew }) => isNew).map(({ subnet }) => subnetOf(subnet));
  const prefix = prefixFor({ applicationId, instances });
  const subnet = freeSubnet(pool, { applicationId, prefix }, [...taken, ...planned]);
  if (!subnet) return undefined;
  return {
    id: uuidv7(),
    application_id: applicationId,
    subnet: subnetText(subnet),
    losses: 0,
    last: null,
    own: [],
    names: [],
  };
}

/** The addresses for the instances that have none, and how many more are needed. */
async function addAddresses(
  reader: Reader,
  { id, subnet, last, own }: StoredNetwork,
  { instances, pending }: NetworkRequest,
): Promise<{ readonly added: readonly InstanceAddress[]; readonly missing: number }> {
  const having = new Set(own.map(({ ordinal }) => ordinal));
  const wanted = Array.from({ length: instances }, (_, ordinal) => ordinal).filter((ordinal) => !having.has(ordinal));
  if (wanted.length === 0) return { added: [], missing: 0 };
  const planned = pending.filter((network) => network.id === id).flatMap(({ added }) => numbersOf(added));
  const free = await freeAddresses(subnetOf(subnet), wanted.length, {
    last: Math.max(addressNumber(last ?? '') ?? 0, ...planned),
    taken: async () => new Set([...planned, ...numbersOf(await readAddresses(reader, id))]),
  });
  const added = free.flatMap((number, index) =>
    wanted.slice(index, index + 1).map((ordinal) => ({ ordinal, address: addressText(number) })),
  );
  return { added, missing: wanted.length - added.length };
}

const numbersOf = (addresses: readonly { readonly address: string }[]): number[] =>
  addresses.flatMap(({ address }) => addressNumber(address) ?? []);

/** All addresses that are taken in a network, also by former names: at most as many as it has. */
export const readAddresses = (reader: Reader, networkId: string) =>
  reader.$queryRaw<{ address: string }[]>`
    SELECT host(address) AS address FROM network_addresses WHERE network_id = ${networkId}::uuid
    UNION SELECT value FROM networks n, jsonb_each_text(n.former_names) WHERE n.id = ${networkId}::uuid`;

interface Named {
  readonly deployment: NetworkRequest['deployment'];
  readonly pending: readonly DecidedNetwork[];
  /** That of its first instance. */
  readonly address: string | undefined;
}

/** The names in the network of an application, with those that earlier changes of the same plan add. */
function namesAfter({ id, application_id, names }: StoredNetwork, { deployment, pending, address }: Named) {
  if (application_id === null || address === undefined) return [];
  const planned = pending.flatMap((network) => (network.id === id && !network.joined ? network.names : []));
  const all = new Map(
    [...names, ...planned, { name: nameInApplication(deployment), address }].map((each) => [each.name, each]),
  );
  return [...all.values()].toSorted((one, other) => compareStrings(one.name, other.name));
}

const tooFew = ({ subnet, application_id }: StoredNetwork, missing: number, left: number): Refusal => ({
  code: 'no_placement',
  path: 'target',
  message: `needs ${missing + left} more addresses in the network of ${application_id === null ? 'all deployments without an application' : 'its application'} on the host, which has ${left} of ${capacityOf(subnetOf(subnet))} free: run fewer instances there, or choose another host`,
});

function poolExhausted({ pool, instances }: NetworkRequest, applicationId: string | null): Refusal {
  const size = 2 ** (32 - prefixFor({ applicationId, instances }));
  return {
    code: 'no_placement',
    path: 'target',
    message: `needs a network with ${size} addresses on the host, and ${pool ? subnetText(pool) : 'the range for networks'} has none left there: choose another host, or let the operator of the fleet set a larger range for networks`,
  };
}
