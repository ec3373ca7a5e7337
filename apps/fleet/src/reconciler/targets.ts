import type { Log } from '@svc/http';
import type { Database } from '../database/client.ts';
import type { Wanted as WantedOfHost } from '../engines/docker/containers.ts';
import type { Wanted as WantedOfCluster } from '../engines/kubernetes/objects.ts';
import { type Cluster, type Host, Prisma } from '../generated/prisma/client.ts';
import type { ClusterClients, HostClients } from './engine-clients.ts';
import type { ReconcilerTimings } from './timings.ts';

/** What work on hosts and clusters is done with. */
export interface Tools {
  readonly database: Database;
  readonly hosts: HostClients;
  readonly clusters: ClusterClients;
  readonly log: Log;
  readonly timings: ReconcilerTimings;
}

/** Where deployments run. */
export type Place = { readonly kind: 'host'; readonly row: Host } | { readonly kind: 'cluster'; readonly row: Cluster };

/** What is to be of a deployment where it runs. */
export type Assignment =
  | (Extract<Place, { kind: 'host' }> & { readonly wanted: WantedOfHost })
  | (Extract<Place, { kind: 'cluster' }> & { readonly wanted: WantedOfCluster });

/** Tables of places; the column that names one elsewhere; the column with its address. */
export const SQL = {
  host: { table: Prisma.raw('hosts'), column: Prisma.raw('host_id'), address: Prisma.raw('endpoint') },
  cluster: { table: Prisma.raw('clusters'), column: Prisma.raw('cluster_id'), address: Prisma.raw('server') },
} as const;

/** Where a place is called. */
export const addressOf = (place: Place): string => (place.kind === 'host' ? place.row.endpoint : place.row.server);
