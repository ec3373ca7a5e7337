import { BlockList, isIP, isIPv6 } from 'node:net';
import os from 'node:os';
import ipaddr from 'ipaddr.js';

/**
 * The kind of an address. `never`: link-local addresses and metadata services. `private`: all other
 * addresses that are not public.
 */
export type Reach = 'public' | 'loopback' | 'private' | 'never';

/**
 * The kind of an address. An IPv4 address in an IPv6 address (mapped, compatible, NAT64, 6to4)
 * counts as this IPv4 address.
 * @returns undefined for a name
 */
export function reachOf(given: string): Reach | undefined {
  const [address = ''] = given.split('%', 1); // the zone selects an interface, not a destination
  if (isIP(address) === 0) return undefined;
  if (!isIPv6(address)) return reachOfIPv4(address);
  if (never.check(address, 'ipv6')) return 'never';
  if (loopback.check(address, 'ipv6')) return 'loopback';
  const groups = ipaddr.IPv6.parse(address).parts;
  const ipv4 = embeddedIPv4(groups);
  if (ipv4 !== undefined) return moreRestricted(reachOfIPv4(ipv4), isLocalNat64(groups) ? 'private' : 'public');
  return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6') ? 'public' : 'private';
}

/**
 * Whether an address belongs to a network interface of this machine. A connection to it reaches the
 * same sockets as one to a loopback address, if they listen on all interfaces.
 */
export function isOwnAddress(given: string): boolean {
  const address = destinationOf(given);
  const own = Object.values(os.networkInterfaces()).flatMap((addresses = []) => addresses);
  return address !== undefined && own.some((each) => destinationOf(each.address) === address);
}

/** The address to which packets are sent, in one form; undefined for a name. */
function destinationOf(given: string): string | undefined {
  const [address = ''] = given.split('%', 1);
  if (isIP(address) === 0) return undefined;
  if (!isIPv6(address)) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  return embeddedIPv4(parts) ?? parts.join(':');
}

function reachOfIPv4(address: string): Reach {
  if (never.check(address, 'ipv4')) return 'never';
  if (loopback.check(address, 'ipv4')) return 'loopback';
  return special.check(address, 'ipv4') ? 'private' : 'public';
}

const moreRestricted = (one: Reach, other: Reach): Reach => (one === 'public' ? other : one);

function listOf(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

const never = listOf(
  '169.254.0.0/16', // RFC 3927, and the metadata service of most clouds
  'fe80::/10', // RFC 4291
  '100.100.100.200/32', // metadata service of Alibaba
  '168.63.129.16/32', // of Azure
  '192.0.0.192/32', // of Oracle
  'fd00:ec2::254/128', // of AWS with IPv6
  'fd20:ce::254/128', // of Google with IPv6
);

/** Includes the unspecified addresses, which also connect to this machine. */
const loopback = listOf('127.0.0.0/8', '0.0.0.0/32', '::1/128', '::/128');

/** Special-purpose ranges (RFC 6890 and its registries) that no public host has. */
const special = listOf(
  // Private use, and carrier-grade NAT.
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  // Protocols, relays and benchmarks.
  '0.0.0.0/8',
  '192.0.0.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  // Documentation.
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '2001:db8::/32',
  '3fff::/20',
  // Multicast, reserved and broadcast.
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Protocols with IPv6, including Teredo.
  '2001::/23',
);

/**
 * Global unicast addresses (RFC 4291, section 2.4). fc00::/7, multicast and reserved addresses are
 * outside this range.
 */
const unicast = listOf('2000::/3');

/** The IPv4 address that is embedded in an IPv6 address. */
function embeddedIPv4(groups: readonly number[]): string | undefined {
  const starts = (...prefix: readonly number[]) => prefix.every((group, index) => groups[index] === group);
  if (starts(0x2002)) return dotted(groups.slice(1, 3)); // 6to4: RFC 3056
  const zeros = [0, 0, 0, 0];
  const isLast32Bits =
    starts(...zeros, 0, 0xffff) || // mapped: RFC 4291
    starts(...zeros, 0xffff, 0) || // translated: RFC 2765
    starts(...zeros, 0, 0) || // compatible: RFC 4291
    starts(0x64, 0xff9b, ...zeros) || // NAT64: RFC 6052
    isLocalNat64(groups);
  return isLast32Bits ? dotted(groups.slice(6)) : undefined;
}

/**
 * The prefix for local NAT64 translators (RFC 8215). These addresses are never public, whichever
 * IPv4 address they contain.
 */
const isLocalNat64 = (groups: readonly number[]) => groups[0] === 0x64 && groups[1] === 0xff9b && groups[2] === 1;

const dotted = (groups: readonly number[]) => groups.flatMap((group) => [group >> 8, group & 0xff]).join('.');
