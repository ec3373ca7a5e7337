import { compareStrings } from './format.ts';

/**
 * The address to which ports bind if the host declares no address for the networks of the workload.
 */
export const LOOPBACK = '127.0.0.1';

/** The addresses of a host by network type. */
export type AddressesByType = Readonly<Record<string, string>>;

/** The network type of a workload that requires none. `public` must be required. */
const DEFAULT_TYPE = 'mesh';

/**
 * The network types to whose addresses the ports of a workload bind, as far as the host declares an
 * address for them.
 */
const selectedTypes = (required: readonly string[]): readonly string[] =>
  required.length > 0 ? required : [DEFAULT_TYPE];

/**
 * The addresses of a host to which the ports of a workload with these required network types bind.
 */
export function bindAddresses(required: readonly string[], addresses: AddressesByType): string[] {
  const declared = new Map(Object.entries(addresses));
  const selected = new Set(selectedTypes(required).flatMap((type) => declared.get(type) ?? []));
  return selected.size > 0 ? [...selected] : [LOOPBACK];
}

/**
 * The note that the ports of a workload can be reached only from the machine of the host; empty if
 * they bind elsewhere.
 */
export function loopbackNote(required: readonly string[], addresses: AddressesByType): string[] {
  const types = selectedTypes(required);
  if (types.some((type) => Object.hasOwn(addresses, type))) return [];
  return [`its ports bind to ${LOOPBACK}, because the host declares no address for ${types.join(', ')}`];
}

/**
 * The declared addresses of a host to which a port binds and that other machines can reach, `public` last. A port
 * without addresses binds to all interfaces.
 */
export const reachableAddresses = (
  declared: AddressesByType,
  bound: readonly string[],
): { readonly type: string; readonly address: string }[] =>
  Object.entries(declared)
    .filter(([, address]) => !isLoopback(address) && (bound.length === 0 || bound.includes(address)))
    .map(([type, address]) => ({ type, address }))
    .toSorted(
      (one, other) =>
        Number(one.type === 'public') - Number(other.type === 'public') || compareStrings(one.type, other.type),
    );

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

/** From where an address of a host can be reached: `loopback`, the network type, or `unknown`. */
export function scopeOf(address: string, addresses: AddressesByType): string {
  if (isLoopback(address)) return 'loopback';
  return Object.entries(addresses).find(([, declared]) => declared === address)?.[0] ?? 'unknown';
}

/** The network types whose address is not known to exist on the host. */
export const unverifiedTypes = (addresses: AddressesByType, verified: readonly string[]): string[] =>
  Object.entries(addresses)
    .filter(([, address]) => !isLoopback(address) && !verified.includes(address))
    .map(([type]) => type);
