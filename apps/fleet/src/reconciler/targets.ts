import type { Log } from '@svc/http';
import { z } from 'zod';
import type { Database } from '../database/client.ts';
import type { DesiredContainers } from '../engines/docker/containers.ts';
import type { DesiredObjects } from '../engines/kubernetes/objects.ts';
import { type Cluster, type Host, Prisma } from '../generated/prisma/client.ts';
import { renderedCluster } from '../render/pod.ts';
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

/**
 * A host or cluster with its row. `observed` changes when a deployment on it is reconciled, created
 * or deleted. Undefined: not known.
 */
export type TargetRow =
  | { readonly kind: 'host'; readonly row: Host; readonly observed?: string }
  | { readonly kind: 'cluster'; readonly row: Cluster; readonly observed?: string };

/** The columns of a host that are required to reconcile its deployments. */
export const hostOfDeployment = z.object({
  id: z.string(),
  engine: z.enum(['docker', 'podman']),
  endpoint: z.string(),
  sealed: z.string().nullable(),
  by_admin: z.boolean(),
  addresses: z.record(z.string(), z.string()),
});

/** The columns of a cluster that are required to reconcile its deployments. */
export const clusterOfDeployment = renderedCluster.extend({
  id: z.string(),
  server: z.string(),
  ca_certificate: z.string().nullable(),
  sealed: z.string(),
  by_admin: z.boolean(),
});

/** The target of a deployment, with the columns of its row that are required to reconcile it. */
export type TargetOfDeployment =
  | { readonly kind: 'host'; readonly row: z.output<typeof hostOfDeployment> }
  | { readonly kind: 'cluster'; readonly row: z.output<typeof clusterOfDeployment> };

/** The target of a deployment with the desired state for its engine. */
export type DesiredOnTarget =
  | (Extract<TargetOfDeployment, { kind: 'host' }> & { readonly desired: DesiredContainers })
  | (Extract<TargetOfDeployment, { kind: 'cluster' }> & { readonly desired: DesiredObjects });

/**
 * For each kind of target: its table, the column of other tables that refers to it, the column with
 * its address, and its list in the API.
 */
export const TARGET_TABLES = {
  host: { table: Prisma.raw('hosts'), column: Prisma.raw('host_id'), address: Prisma.raw('endpoint'), list: 'hosts' },
  cluster: {
    table: Prisma.raw('clusters'),
    column: Prisma.raw('cluster_id'),
    address: Prisma.raw('server'),
    list: 'clusters',
  },
} as const;

/**
 * The condition that a target still has the address and the credentials of a row that was read before. The result of a check
 * with other ones is not stored.
 */
export const hasConnectionOf = ({ kind, row }: TargetRow): Prisma.Sql =>
  Prisma.sql`${TARGET_TABLES[kind].address} = ${kind === 'host' ? row.endpoint : row.server} AND sealed IS NOT DISTINCT FROM ${row.sealed}`;
