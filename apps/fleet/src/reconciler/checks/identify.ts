import { type ProposedAddress, proposeAddresses } from '../../engines/docker/addresses.ts';
import { check as checkHost, type HostFacts } from '../../engines/docker/check.ts';
import { connectDocker, type HostAddress } from '../../engines/docker/client.ts';
import { readIdentity as readHostIdentity } from '../../engines/docker/identity.ts';
import { EngineFailure, toUnreachable } from '../../engines/errors.ts';
import {
  type ClusterFacts,
  check as checkCluster,
  readIdentity as readClusterIdentity,
} from '../../engines/kubernetes/check/check.ts';
import { type ClusterAddress, connectKubernetes } from '../../engines/kubernetes/client.ts';
import { allowanceFor, type ClientOptions } from '../engine-clients.ts';

/** The address of a target that is being registered, and whether an admin registers it. */
export type Unregistered<Address> = Omit<Address, 'restrictTo'> & { readonly by_admin: boolean };

/**
 * Longest wait for the identity of a target that is being registered. The check after the
 * registration waits longer.
 */
const PATIENCE_MS = 10_000;
/** Longest wait for a check before the registration, which consists of up to 50 requests. */
const CHECK_PATIENCE_MS = 30_000;

/** What a target reports before it is registered, or why it does not, as text for operators. */
export type Examined<Facts> = { readonly facts: Facts } | { readonly failure: string };

export interface NewHostFacts extends HostFacts {
  readonly addresses: readonly ProposedAddress[];
}

/** Checks the engine at an address, without storing anything. */
export const examineHost = (
  options: ClientOptions,
  address: Unregistered<HostAddress>,
): Promise<Examined<NewHostFacts>> =>
  examine(
    toHost(options, address),
    async (client) => ({
      ...(await checkHost(client, undefined, { store: false })),
      addresses: await proposeAddresses(client),
    }),
    CHECK_PATIENCE_MS,
  );

/** Checks the cluster at an address, without storing anything. */
export const examineCluster = (
  options: ClientOptions,
  address: Unregistered<ClusterAddress>,
): Promise<Examined<ClusterFacts>> => examine(toCluster(options, address), checkCluster, CHECK_PATIENCE_MS);

/**
 * The identity of the engine at an address. Stores nothing on the engine. Null if it cannot be read
 * in time.
 */
export const identifyHost = (options: ClientOptions, address: Unregistered<HostAddress>): Promise<string | null> =>
  identityIn(examine(toHost(options, address), (client) => readHostIdentity(client, { store: false })));

/** The identity of the cluster at an address. Null if it cannot be read in time. */
export const identifyCluster = (
  options: ClientOptions,
  address: Unregistered<ClusterAddress>,
): Promise<string | null> => identityIn(examine(toCluster(options, address), readClusterIdentity));

const toHost =
  ({ allowed }: ClientOptions, address: Unregistered<HostAddress>) =>
  () =>
    connectDocker({ ...address, restrictTo: allowanceFor(address, allowed) });

const toCluster =
  ({ allowed }: ClientOptions, address: Unregistered<ClusterAddress>) =>
  () =>
    connectKubernetes({ ...address, restrictTo: allowanceFor(address, allowed) });

interface Client<Self> {
  withSignal(signal: AbortSignal): Self;
  close(): Promise<void>;
}

async function examine<C extends Client<C>, Facts>(
  connect: () => C,
  read: (client: C) => Promise<Facts>,
  patienceMs = PATIENCE_MS,
): Promise<Examined<Facts>> {
  const client = connect();
  try {
    return { facts: await read(client.withSignal(AbortSignal.timeout(patienceMs))) };
  } catch (error) {
    return { failure: (error instanceof EngineFailure ? error : toUnreachable(error)).message };
  } finally {
    await client.close();
  }
}

/** The check after the registration reports the failure. */
async function identityIn(examined: Promise<Examined<string | null>>): Promise<string | null> {
  const result = await examined;
  return 'facts' in result ? result.facts : null;
}
