import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The networks to which limits per client apply: an IPv4 address itself, or the /64 and the /48 of
 * an IPv6 address, since a single client usually controls a whole /64. An IPv4-mapped IPv6 address
 * counts as the IPv4 address.
 */
export interface ClientNetworks {
  readonly network: string;
  /** The wider network of an IPv6 address. */
  readonly wider: string | undefined;
}

export function clientNetworks(given: string): ClientNetworks {
  const [address = ''] = given.split('%', 1); // the zone identifies an interface of this machine
  if (!isIPv6(address)) return { network: address, wider: undefined };
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return { network: parsed.toIPv4Address().toString(), wider: undefined };
  const prefix = (groups: number) =>
    `${parsed.parts
      .slice(0, groups)
      .map((group) => group.toString(16))
      .join(':')}::/${16 * groups}`;
  return { network: prefix(4), wider: prefix(3) };
}

/**
 * An address in its shortest form: without its zone, and as IPv4 if it is an IPv4-mapped IPv6
 * address. Undefined if the text is no address: a proxy can report any text.
 */
export function clientAddress(given = ''): string | undefined {
  const [address = ''] = given.split('%', 1);
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}
