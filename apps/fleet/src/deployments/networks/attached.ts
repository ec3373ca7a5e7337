import { z } from 'zod';
import { Prisma } from '../../generated/prisma/client.ts';
import type { HostNetwork } from '../../render/allocation.ts';
import { referencesOf, type StoredEnv } from '../../render/env.ts';
import { isAddress } from '../../render/references.ts';
import { storedNameInApplication } from './membership.ts';

const instanceAddress = z.object({ ordinal: z.int(), address: z.string() });
export type InstanceAddress = z.output<typeof instanceAddress>;

/** A network in which instances of a deployment have addresses. */
export const attachedNetwork = z.object({
  id: z.string(),
  application_id: z.string().nullable(),
  subnet: z.string(),
  losses: z.int(),
  /** What the engine states; null: it was not created there yet. */
  isolation: z.enum(['isolated', 'open']).nullable(),
  joined: z.boolean(),
  addresses: z.array(instanceAddress),
  names: z.array(z.object({ name: z.string(), address: z.string() })),
});
type AttachedNetwork = z.output<typeof attachedNetwork>;

/**
 * The names in a network `n` of an application, with the addresses of first instances. A name stays when its deployment is removed,
 * so that only an added one changes the hosts files of the others. `except`: the id of a deployment.
 */
export const namesInNetwork = (except: Prisma.Sql): Prisma.Sql => Prisma.sql`
  CASE WHEN n.application_id IS NULL THEN '[]' ELSE
    (SELECT coalesce(jsonb_agg(jsonb_build_object('name', e.key, 'address', e.value) ORDER BY e.key), '[]') FROM jsonb_each(n.former_names || (
       SELECT coalesce(jsonb_object_agg(${storedNameInApplication}, host(p.address)), '{}')
       FROM network_addresses p JOIN deployments d ON d.id = p.deployment_id
       WHERE p.network_id = n.id AND p.ordinal = 0 AND NOT p.joined AND d.id IS DISTINCT FROM ${except})) e) END`;

/** The networks of a deployment `r`, its own one first. */
export const attachedNetworks: Prisma.Sql = Prisma.sql`(
  SELECT coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'application_id', n.application_id, 'subnet', n.subnet::text,
      'losses', n.losses, 'isolation', n.isolation, 'joined', x.joined, 'addresses', x.addresses,
      'names', CASE WHEN x.joined THEN '[]' ELSE ${namesInNetwork(Prisma.sql`NULL::uuid`)} END) ORDER BY x.joined, n.id), '[]')
  FROM (SELECT a.network_id, a.joined, jsonb_agg(jsonb_build_object('ordinal', a.ordinal, 'address', host(a.address))) AS addresses
        FROM network_addresses a WHERE a.deployment_id = r.id GROUP BY a.network_id, a.joined) x
    JOIN networks n ON n.id = x.network_id)`;

/** The ids of the networks in which the variables of an environment have addresses. */
export const networksIn = (env: StoredEnv): string[] => [
  ...new Set(
    Object.values(env)
      .flatMap((value) => referencesOf(value))
      .flatMap(([, reference]) => (isAddress(reference) ? (reference.at?.network ?? []) : [])),
  ),
];

/** Addresses by ordinal. */
export function byOrdinal(addresses: readonly InstanceAddress[]): (string | undefined)[] {
  const found: (string | undefined)[] = [];
  for (const { ordinal, address } of addresses) found[ordinal] = address;
  return found;
}

/**
 * The networks in which a deployment with this environment runs: its own one, and those that it joins for an address.
 * It can have addresses in others until a rollout ends.
 */
export function hostNetworksOf(attached: readonly AttachedNetwork[], env: StoredEnv): HostNetwork[] {
  const needed = networksIn(env);
  return attached
    .filter(({ id, joined }) => !joined || needed.includes(id))
    .map(({ addresses, isolation: _, joined: _joined, ...network }) => ({
      ...network,
      addresses: byOrdinal(addresses),
    }));
}

/** The networks of a stored deployment. */
export async function readHostNetworks(
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { id, env }: { readonly id: string; readonly env: StoredEnv },
): Promise<HostNetwork[]> {
  const [row] = await reader.$queryRaw<{ networks: unknown }[]>`
    SELECT ${attachedNetworks} AS networks FROM deployments r WHERE r.id = ${id}::uuid`;
  return hostNetworksOf(z.array(attachedNetwork).parse(row?.networks ?? []), env);
}
