import type { Log } from '@svc/http';
import type { Database } from '../database/client.ts';
import type { DesiredContainers } from '../engines/docker/containers.ts';
import type { DesiredObjects } from '../engines/kubernetes/objects.ts';
import { type Cluster, type Host, Prisma } from '../generated/prisma/client.ts';
import type { ClusterClients, HostClients } from './engine-clients.ts';
import type { ReconcilerTimings } from './timings.ts';

/** The dependencies of the background work on hosts and clusters. */
export interface ReconcilerContext {
  readonly database: Database;
  readonly hosts: HostClients;
  readonly clusters: ClusterClients;
  readonly log: Log;
  readonly timings: ReconcilerTimings;
}

/** A host or cluster with its row. */
export type TargetRow =
  | { readonly kind: 'host'; readonly row: Host }
  | { readonly kind: 'cluster'; readonly row: Cluster };

/** The target of a deployment with the desired state for its engine. */
export type DesiredOnTarget =
  | (Extract<TargetRow, { kind: 'host' }> & { readonly desired: DesiredContainers })
  | (Extract<TargetRow, { kind: 'cluster' }> & { readonly desired: DesiredObjects });

/** For each kind of target: its table, the column of other tables that refers to it, and the column with its address. */
export const TARGET_TABLES = {
  host: { table: Prisma.raw('hosts'), column: Prisma.raw('host_id'), address: Prisma.raw('endpoint') },
  cluster: { table: Prisma.raw('clusters'), column: Prisma.raw('cluster_id'), address: Prisma.raw('server') },
} as const;

/** The address of the engine or API server of a target. */
export const addressOf = (target: TargetRow): string =>
  target.kind === 'host' ? target.row.endpoint : target.row.server;
