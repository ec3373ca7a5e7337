import { connectDocker, type HostAddress } from '../engines/docker/client.ts';
import { readIdentity as readHostIdentity } from '../engines/docker/identity.ts';
import { readIdentity as readClusterIdentity } from '../engines/kubernetes/check.ts';
import { type ClusterAddress, connectKubernetes } from '../engines/kubernetes/client.ts';
import { allowanceFor, type ClientOptions } from './engine-clients.ts';

/** The address of a target that is being registered, and whether an admin registers it. */
export type Unregistered<Address> = Omit<Address, 'restrictTo'> & { readonly by_admin: boolean };

/**
 * Longest wait for the identity of a target that is being registered. The check after the
 * registration waits longer.
 */
const PATIENCE_MS = 10_000;

/**
 * The identity of the engine at an address. Stores nothing on the engine. Null if it cannot be read
 * in time.
 */
export const identifyHost = ({ allowed }: ClientOptions, address: Unregistered<HostAddress>): Promise<string | null> =>
  identify(
    () => connectDocker({ ...address, restrictTo: allowanceFor(address, allowed) }),
    (client) => readHostIdentity(client, { store: false }),
  );

/** The identity of the cluster at an address. Null if it cannot be read in time. */
export const identifyCluster = (
  { allowed }: ClientOptions,
  address: Unregistered<ClusterAddress>,
): Promise<string | null> =>
  identify(() => connectKubernetes({ ...address, restrictTo: allowanceFor(address, allowed) }), readClusterIdentity);

interface Client<Self> {
  withSignal(signal: AbortSignal): Self;
  close(): Promise<void>;
}

async function identify<C extends Client<C>>(
  connect: () => C,
  read: (client: C) => Promise<string | null>,
): Promise<string | null> {
  const client = connect();
  try {
    return await read(client.withSignal(AbortSignal.timeout(PATIENCE_MS)));
  } catch {
    return null; // a check follows, and reports the reason
  } finally {
    await client.close();
  }
}
