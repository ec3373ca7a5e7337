import type { Log, PeriodicTask, WakeableTask } from '@svc/http';
import type { Database } from '../database/client.ts';
import { createCandidates } from '../deployments/candidates.ts';
import type { HostAddress } from '../engines/docker/client.ts';
import type { ClusterFacts } from '../engines/kubernetes/check/check.ts';
import type { ClusterAddress } from '../engines/kubernetes/client.ts';
import type { Cluster, Host } from '../generated/prisma/client.ts';
import type { Subnet } from '../placement/subnets.ts';
import type { DefaultLimits } from '../render/defaults.ts';
import type { Settings } from '../settings/settings.ts';
import { startApplications } from './applications.ts';
import { checkTarget, startChecks } from './checks/checks.ts';
import { type AfterFirstChecks, createFirstChecks } from './checks/first-checks.ts';
import {
  type Examined,
  examineCluster,
  examineHost,
  identifyCluster,
  identifyHost,
  type NewHostFacts,
  type Unregistered,
} from './checks/identify.ts';
import {
  type ClientOptions,
  type ClusterClients,
  createClusterClients,
  createHostClients,
  type HostClients,
} from './engine-clients.ts';
import { startReconciler } from './reconciler.ts';
import { DEFAULT_TIMINGS, type ReconcilerTimings } from './timings.ts';
import { startAutomaticUpdates } from './updates/automatic.ts';
import { startImageChecks } from './updates/image-checks.ts';
import { type AwaitImageCheck, createImageRequests } from './updates/image-requests.ts';
import { startUpdateRuns } from './updates/runs.ts';
import { startVolumeRemoval } from './volume-removal.ts';
import { startWatches } from './watches.ts';

/** The connections of the fleet to hosts and clusters, and the background work on them. */
export interface EngineRuntime {
  readonly hosts: HostClients;
  readonly clusters: ClusterClients;
  readonly timings: ReconcilerTimings;
  /** Checks a host now, and stores the result. */
  checkHost(host: Host): Promise<void>;
  /** Checks a cluster now, and stores the result. */
  checkCluster(cluster: Cluster): Promise<void>;
  /** Checks the engine at an address before it is registered. It waits at most 30 seconds. */
  examineHost(address: Unregistered<HostAddress>): Promise<Examined<NewHostFacts>>;
  /** Checks the cluster at an address before it is registered. It waits at most 30 seconds. */
  examineCluster(address: Unregistered<ClusterAddress>): Promise<Examined<ClusterFacts>>;
  /**
   * The identity of the engine at an address that is being registered; null if it cannot be read
   * within ten seconds.
   */
  identifyHost(address: Unregistered<HostAddress>): Promise<string | null>;
  /**
   * The identity of the cluster at an address that is being registered; null if it cannot be read
   * within ten seconds.
   */
  identifyCluster(address: Unregistered<ClusterAddress>): Promise<string | null>;
  /** Repeats an attempt after the first checks of the targets that it lacks. */
  readonly afterFirstChecks: AfterFirstChecks;
  /** Waits until a requested check of the tag of an image has ended, at most ten seconds. */
  readonly awaitImageCheck: AwaitImageCheck;
  /** Starts the checks, the reconciler, the removal of volumes, the watches, the updates, the observation of applications, and the checks of images. */
  start(): void;
  /** Stops all of them and closes the connections. */
  stop(): Promise<void>;
}

interface Options extends ClientOptions {
  readonly database: Database;
  readonly settings: Pick<Settings, 'oidc'>;
  readonly log: Log;
  readonly timings?: ReconcilerTimings | undefined;
  /** The limits of containers whose workload requests nothing. */
  readonly defaultLimits: DefaultLimits;
  /** Maximum number of deployments that this process reconciles concurrently. */
  readonly concurrency: number;
  /** The maximum number of automatic rollouts at the same time, of all replicas. */
  readonly updateConcurrency: number;
  /** The subnets from which networks of hosts are allocated. */
  readonly networkPool?: Subnet | undefined;
}

export function createEngineRuntime({ timings = DEFAULT_TIMINGS, ...options }: Options): EngineRuntime {
  const hosts = createHostClients(options, timings.docker);
  const clusters = createClusterClients(options, timings.kubernetes);
  const context = { ...options, timings, hosts, clusters, candidates: createCandidates(options.networkPool) };
  let rounds: readonly PeriodicTask[] = [];
  let imageChecks: WakeableTask | undefined;
  return {
    hosts,
    clusters,
    timings,
    afterFirstChecks: createFirstChecks(options.database, timings),
    awaitImageCheck: createImageRequests(options.database, timings, () => imageChecks?.wake()),
    checkHost: (row) => checkTarget(context, { kind: 'host', row }),
    checkCluster: (row) => checkTarget(context, { kind: 'cluster', row }),
    examineHost: (address) => examineHost(options, address),
    examineCluster: (address) => examineCluster(options, address),
    identifyHost: (address) => identifyHost(options, address),
    identifyCluster: (address) => identifyCluster(options, address),
    start: () => {
      imageChecks = startImageChecks(context);
      rounds = [
        imageChecks,
        startChecks(context),
        startReconciler(context),
        startVolumeRemoval(context),
        startWatches(context),
        startUpdateRuns(context),
        startApplications(context),
        startAutomaticUpdates(context),
      ];
    },
    stop: async () => {
      await Promise.all(rounds.map((each) => each.stop()));
      await Promise.all([hosts.close(), clusters.close()]);
    },
  };
}
