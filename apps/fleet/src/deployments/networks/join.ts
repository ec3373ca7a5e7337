import type { Prisma } from '../../generated/prisma/client.ts';
import { CONTAINERS_ARE_ISOLATED } from '../../render/defaults.ts';
import type { StoredEnv } from '../../render/env.ts';
import { networksIn } from './attached.ts';
import { decideNetworks } from './decide.ts';
import { applicationOf } from './membership.ts';
import { storeNetworks } from './store.ts';

interface Joining {
  readonly id: string;
  readonly name: string;
  readonly host_id: string | null;
  readonly replicas: number;
  readonly extra_instances: number;
  readonly defaults_version: number;
  readonly application_id: string | null;
  readonly part: string | null;
}

/**
 * Allocates addresses to the instances of a stored deployment in the networks that an environment needs.
 * @returns whether all have one
 */
export async function joinNetworks(
  transaction: Prisma.TransactionClient,
  { id, name, host_id, replicas, extra_instances, defaults_version, ...membership }: Joining,
  env: StoredEnv,
): Promise<boolean> {
  if (host_id === null || defaults_version < CONTAINERS_ARE_ISOLATED) return true;
  const instances = replicas + extra_instances;
  const { networks, refusals } = await decideNetworks(transaction, {
    hostId: host_id,
    deployment: { id, name, application: applicationOf(membership) },
    instances,
    needed: networksIn(env),
    pool: null,
    pending: [],
  });
  if (refusals.length > 0) return false;
  await storeNetworks(transaction, { deploymentId: id, networks, instances, isRollout: true });
  return true;
}
