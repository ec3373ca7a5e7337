import type { StoredEnv } from '../../render/env.ts';
import type { BoundVolume } from '../../render/rendering.ts';
import type { Provider } from '../addresses/provided.ts';
import type { Allocation, Reallocation } from '../candidates.ts';
import type { DecidedNetwork } from '../networks/decide.ts';
import type { WorkloadRevision } from './revision.ts';

/** A deployment as an earlier change of the same plan would store it. */
export interface PendingDeployment extends Provider {
  /** Whether a workload with its name is created as well. */
  readonly createsWorkload: boolean;
  readonly env: StoredEnv;
  /** The revision of a workload that is stored with it. */
  readonly newRevision: WorkloadRevision | undefined;
  readonly volumes: readonly PendingVolume[];
  /** What the database allocates to it. It is released for what would be allocated instead. */
  readonly released: Allocation | undefined;
  readonly allocated: Allocation | undefined;
  /** The ports of its host that are allocated in addition, as `<protocol>/<port>`. */
  readonly addedPorts: readonly string[];
  /** Its networks on its host, its own one first. */
  readonly networks: readonly DecidedNetwork[];
}

/** A volume of a mount, with the labels that it would have. */
interface PendingVolume extends BoundVolume {
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * What earlier changes of a plan would store, in their order. A decision reads it beside the database. Each deployment is
 * changed at most once.
 */
export type Pending = readonly PendingDeployment[];

export const NOTHING_PENDING: Pending = [];

export const pendingRevisions = (pending: Pending): WorkloadRevision[] =>
  pending.flatMap(({ newRevision }) => newRevision ?? []);

/** The allocations that differ from the database, as if `own` were not allocated. */
export const reallocationOf = (pending: Pending, own: Allocation | undefined): Reallocation => ({
  released: [...pending.flatMap(({ released }) => released ?? []), ...(own ? [own] : [])],
  added: pending.flatMap(({ allocated }) => allocated ?? []),
});

/** The ports of a host that are allocated in addition. */
export const pendingPortsOn = (pending: Pending, hostId: string): string[] =>
  pending.flatMap(({ target, addedPorts }) => (target?.kind === 'host' && target.id === hostId ? addedPorts : []));

/** A volume with an id, and the first other deployment that would have it attached. */
export function pendingVolume(pending: Pending, { id, except }: { readonly id: string; readonly except: string }) {
  for (const deployment of pending) {
    const volume = deployment.id === except ? undefined : deployment.volumes.find((each) => each.id === id);
    if (volume) return { volume, deployment };
  }
  return undefined;
}

export const hasPendingVolume = (pending: Pending, name: string): boolean =>
  pending.some(({ volumes }) => volumes.some((volume) => volume.name === name));
