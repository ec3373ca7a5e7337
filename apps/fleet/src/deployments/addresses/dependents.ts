import { isDeepStrictEqual } from 'node:util';
import type { Prisma } from '../../generated/prisma/client.ts';
import { addressFrom } from '../../placement/reach.ts';
import { storedEnv, withReferences } from '../../render/env.ts';
import { isAddress } from '../../render/references.ts';
import { targetOf } from '../../resources/targets.ts';
import { type Author, restartForSecret } from '../generations.ts';
import { joinNetworks } from '../networks/join.ts';
import { ownAddress, providedPort, readMachines, readProviders, schemeOf, seenFrom } from './provided.ts';

type Transaction = Prisma.TransactionClient;

/**
 * Stores the present addresses of a deployment in the given ones, which are bound to them. An address that its target no
 * longer reaches stays as it is, and so does one in a network that has no address for its instances.
 * @returns the ids of those with another address
 */
export async function storeAddresses(
  transaction: Transaction,
  name: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const [provider] = await readProviders(transaction, [name]);
  if (!provider) return [];
  const rows = await transaction.deployment.findMany({
    where: { id: { in: [...ids] } },
    select: {
      ...{ id: true, name: true, env: true, host_id: true, cluster_id: true },
      ...{ replicas: true, extra_instances: true, defaults_version: true, application_id: true, part: true },
    },
  });
  const machines = await readMachines(transaction, [provider.target, ...rows.map(targetOf)]);
  const changed: string[] = [];
  for (const row of rows) {
    const target = targetOf(row);
    const machine = target && machines.get(target.id);
    if (!target || !machine) continue;
    const before = storedEnv.parse(row.env);
    const env = withReferences(before, (reference) => {
      if (!isAddress(reference) || reference.deployment !== name || reference.at === undefined) return reference;
      const provided = providedPort(seenFrom(provider, row.defaults_version), reference.port, machines);
      const fromElsewhere =
        typeof provided === 'string'
          ? undefined
          : addressFrom(provided, { ...target, network_types: machine.network_types });
      const at = row.id === provider.id ? ownAddress(provider, reference.port, machines) : fromElsewhere;
      return at ? { ...reference, at: { ...at, scheme: schemeOf(provider, reference.port) } } : reference;
    });
    if (isDeepStrictEqual(env, before) || !(await joinNetworks(transaction, row, env))) continue;
    await transaction.deployment.update({ where: { id: row.id }, data: { env: { ...env } } });
    changed.push(row.id);
  }
  return changed;
}

/** Starts a new generation of the deployments that are bound to an address that has changed, also of itself. */
export async function restartForAddress(author: Author, { name }: { readonly name: string }): Promise<void> {
  const bound = await author.transaction.$queryRaw<{ id: string }[]>`
    SELECT d.id FROM deployments d WHERE d.bindings @> ARRAY['deployment/' || ${name}] AND NOT d.deleting`;
  const changed = await storeAddresses(
    author.transaction,
    name,
    bound.map((row) => row.id),
  );
  const message = `an address of the deployment ${name} changed`;
  for (const each of changed) await restartForSecret(author, { id: each, message });
}
