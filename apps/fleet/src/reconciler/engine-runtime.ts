import type { Log, Rounds } from '@svc/http';
import type { Database } from '../database/client.ts';
import type { Cluster, Host } from '../generated/prisma/client.ts';
import { checkPlace, keepChecking } from './checks.ts';
import {
  type ClientOptions,
  type ClusterClients,
  createClusterClients,
  createHostClients,
  type HostClients,
} from './engine-clients.ts';
import { keepReconciling } from './reconciler.ts';
import { DEFAULT_TIMINGS, type ReconcilerTimings } from './timings.ts';
import { keepRemoving } from './volume-removal.ts';
import { keepWatching } from './watches.ts';

/** The hosts and clusters of the fleet, and what runs on them. */
export interface Machines {
  readonly hosts: HostClients;
  readonly clusters: ClusterClients;
  readonly timings: ReconcilerTimings;
  /** Asks a host now, and keeps what it says. */
  checkHost(host: Host): Promise<void>;
  /** Asks a cluster now, and keeps what it says. */
  checkCluster(cluster: Cluster): Promise<void>;
  /** Keeps hosts and clusters checked and deployments as they are desired, until stopped. */
  start(): void;
  stop(): Promise<void>;
}

interface Options extends ClientOptions {
  readonly database: Database;
  readonly log: Log;
  readonly timings?: ReconcilerTimings | undefined;
}

export function createMachines({ timings = DEFAULT_TIMINGS, ...options }: Options): Machines {
  const hosts = createHostClients(options, timings.docker);
  const clusters = createClusterClients(options, timings.kubernetes);
  const all = { ...options, timings, hosts, clusters };
  let rounds: readonly Rounds[] = [];
  return {
    hosts,
    clusters,
    timings,
    checkHost: (row) => checkPlace(all, { kind: 'host', row }),
    checkCluster: (row) => checkPlace(all, { kind: 'cluster', row }),
    start: () => {
      rounds = [keepChecking(all), keepReconciling(all), keepRemoving(all), keepWatching(all)];
    },
    stop: async () => {
      await Promise.all(rounds.map((each) => each.stop()));
      await Promise.all([hosts.close(), clusters.close()]);
    },
  };
}
