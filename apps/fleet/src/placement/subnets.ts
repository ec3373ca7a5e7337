/** An IPv4 network: its first address as a number, and the length of its prefix. */
export interface Subnet {
  readonly first: number;
  readonly prefix: number;
}

const BITS = 32;
const OCTET = 256;

const sizeOf = ({ prefix }: Subnet): number => 2 ** (BITS - prefix);

const endOf = (subnet: Subnet): number => subnet.first + sizeOf(subnet);

/** The number of an IPv4 address in decimal octets; undefined for another text. */
export function addressNumber(text: string): number | undefined {
  const octets = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) ? text.split('.').map(Number) : [];
  if (octets.length === 0 || octets.some((octet) => octet >= OCTET)) return undefined;
  return octets.reduce((number, octet) => number * OCTET + octet, 0);
}

/** The IPv4 address with a number. */
export const addressText = (number: number): string =>
  [3, 2, 1, 0].map((place) => Math.floor(number / OCTET ** place) % OCTET).join('.');

/** Reads a network such as `10.213.0.0/16`; undefined for another text, or with bits after the prefix. */
export function parseSubnet(text: string): Subnet | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  const first = addressNumber(address);
  const prefix = /^\d{1,2}$/.test(length) ? Number(length) : BITS + 1;
  if (first === undefined || prefix > BITS || rest.length > 0) return undefined;
  return first % sizeOf({ first, prefix }) === 0 ? { first, prefix } : undefined;
}

/** A subnet of the database. @throws Error for another text */
export function subnetOf(text: string): Subnet {
  const subnet = parseSubnet(text);
  if (!subnet) throw new Error(`"${text}" is not a subnet`);
  return subnet;
}

export const subnetText = ({ first, prefix }: Subnet): string => `${addressText(first)}/${prefix}`;

/** The first address, the gateway and the last address of a network belong to no instance. */
const RESERVED = 3;

/** The number of instances that a network has addresses for. */
export const capacityOf = (subnet: Subnet): number => Math.max(0, sizeOf(subnet) - RESERVED);

/** The MAC address of an instance. It does not change with the container, so that neighbours find a new one at once. */
export const macOf = (address: string): string =>
  ['02', '42', ...address.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'))].join(':');

/** The prefix of the network of all deployments without an application, which has 4,093 addresses. */
const COMMON_PREFIX = 20;
/** That of the network of an application, which has 61 addresses. */
const APPLICATION_PREFIX = 26;

/** The subnets from which networks of hosts are allocated, unless the setting names others. */
export const DEFAULT_NETWORK_POOL: Subnet = subnetOf('10.213.0.0/16');

/** A pool has the common network, and that of at least 64 applications. */
export const MAX_POOL_PREFIX = COMMON_PREFIX - 1;
export const MIN_POOL_PREFIX = 8;

const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'].map(subnetOf);

const contains = (outer: Subnet, inner: Subnet): boolean => inner.first >= outer.first && endOf(inner) <= endOf(outer);

/** Whether a network can be a pool: its addresses are private, and it has enough of them. */
export const isPool = (subnet: Subnet): boolean =>
  subnet.prefix >= MIN_POOL_PREFIX &&
  subnet.prefix <= MAX_POOL_PREFIX &&
  PRIVATE.some((range) => contains(range, subnet));

/** Who has a network: an application with a number of instances, or all deployments without one (null). */
interface Owner {
  readonly applicationId: string | null;
  readonly instances: number;
}

/** The length of the prefix of a new network. */
export function prefixFor({ applicationId, instances }: Owner): number {
  if (applicationId === null) return COMMON_PREFIX;
  return Math.min(APPLICATION_PREFIX, BITS - Math.ceil(Math.log2(instances + RESERVED)));
}

/**
 * The first free subnet of a pool with a length of the prefix; undefined if none is free. The first subnet
 * for the common network is free only for it. The time is linear in the number of taken subnets, apart from their order.
 */
export function freeSubnet(
  pool: Subnet,
  { applicationId, prefix }: Pick<Owner, 'applicationId'> & Pick<Subnet, 'prefix'>,
  taken: readonly Subnet[],
): Subnet | undefined {
  const size = sizeOf({ first: 0, prefix });
  const aligned = (number: number) => Math.ceil(number / size) * size;
  const common = endOf({ first: pool.first, prefix: COMMON_PREFIX });
  let first = aligned(applicationId === null ? pool.first : common);
  for (const each of taken.toSorted((one, other) => one.first - other.first)) {
    if (endOf(each) <= first) continue;
    if (each.first >= first + size) break;
    first = aligned(endOf(each));
  }
  return first + size <= endOf(pool) ? { first, prefix } : undefined;
}

/**
 * The next `count` free addresses of a network. `last` is the highest one that is taken, if any; `taken` reads all of
 * them, which is needed only if there are too few behind it. Addresses that were released are so used again as late
 * as possible. Returns fewer if no more are free.
 */
export async function freeAddresses(
  subnet: Subnet,
  count: number,
  { last, taken }: { readonly last: number | undefined; readonly taken: () => Promise<ReadonlySet<number>> },
): Promise<number[]> {
  const begin = subnet.first + 2;
  const end = endOf(subnet) - 1;
  const next = Math.max(begin, (last ?? 0) + 1);
  if (next + count <= end) return Array.from({ length: count }, (_, index) => next + index);
  const used = await taken();
  const free: number[] = [];
  for (let address = begin; address < end && free.length < count; address += 1) {
    if (!used.has(address)) free.push(address);
  }
  return free;
}

/** An address at the same place of another network of the same size. */
export const movedAddress = (address: string, from: Subnet, to: Subnet): string =>
  addressText((addressNumber(address) ?? from.first) - from.first + to.first);
