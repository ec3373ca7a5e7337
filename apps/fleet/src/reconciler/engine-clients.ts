import type { Sealer } from '@svc/database';
import type { OutboundAllowance, TargetAllowance } from '@svc/http';
import { z } from 'zod';
import { connectDocker, type DockerClient, type DockerTimings, type HostAddress } from '../engines/docker/client.ts';
import {
  type ClusterAddress,
  connectKubernetes,
  type KubernetesClient,
  type KubernetesTimings,
} from '../engines/kubernetes/client.ts';
import type { Cluster, Host } from '../generated/prisma/client.ts';
import { clusterCredentialsLocation } from '../resources/clusters.ts';
import { hostCredentialsLocation } from '../resources/hosts.ts';

/**
 * Cached clients of hosts or clusters. A client is closed after it has not been used for `IDLE_MS`.
 */
export interface Clients<Row, Client> {
  /** @throws if the credentials cannot be decrypted or are for another address */
  of(row: Row): Promise<Client>;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly sealer: Sealer;
  /** Kinds of addresses that are allowed in addition to public ones: `OUTBOUND_ALLOW`. */
  readonly allowed: ReadonlySet<OutboundAllowance>;
}

/**
 * Checks use the client of each existing target more often than this, so a client that is idle for
 * longer belongs to a deleted target.
 */
const IDLE_MS = 600_000;
/** Time after which a replaced client is closed. A check that began with the earlier credentials can still use it. */
const REPLACED_MS = 30_000;
/** Wait between two searches for idle clients. */
const SEARCH_MS = 60_000;

interface ClientFactory<Row, Client> {
  /** All values that a client depends on. If the key of a row changes, its client is replaced. */
  keyOf(row: Row): readonly unknown[];
  connect(row: Row): Promise<Client>;
}

interface CachedClient<Client> {
  readonly key: string;
  readonly client: Client;
  readonly usedAt: number;
}

function cacheClients<Row extends { readonly id: string }, Client extends { close(): Promise<void> }>({
  keyOf,
  connect,
}: ClientFactory<Row, Client>): Clients<Row, Client> {
  const cached = new Map<string, CachedClient<Client>>();
  const replaced = new Map<Client, NodeJS.Timeout>();
  let searchedAt = 0;
  const retire = (client: Client) => {
    const close = () => {
      replaced.delete(client);
      void client.close();
    };
    replaced.set(client, setTimeout(close, REPLACED_MS).unref());
  };
  const evict = async (id: string, { client }: CachedClient<Client>) => {
    cached.delete(id);
    await client.close();
  };
  return {
    of: async (row) => {
      const usedAt = Date.now();
      const key = JSON.stringify(keyOf(row));
      const current = cached.get(row.id);
      const client = current?.key === key ? current.client : await connect(row);
      cached.set(row.id, { key, client, usedAt });
      if (current && current.client !== client) retire(current.client);
      if (usedAt - searchedAt > SEARCH_MS) {
        searchedAt = usedAt;
        const idle = [...cached].filter(([, other]) => usedAt - other.usedAt > IDLE_MS);
        await Promise.all(idle.map(([id, other]) => evict(id, other)));
      }
      return client;
    },
    close: async () => {
      for (const timer of replaced.values()) clearTimeout(timer);
      const clients = [...cached.values()].map(({ client }) => client);
      await Promise.all([...clients, ...replaced.keys()].map((client) => client.close()));
    },
  };
}

/**
 * The address kinds that are allowed for a row. A target that was not registered by an admin must
 * not be a local socket, a loopback address or another address of this machine.
 */
export const allowanceFor = (
  { by_admin }: { readonly by_admin: boolean },
  allowed: ClientOptions['allowed'],
): ReadonlySet<TargetAllowance> =>
  by_admin
    ? new Set([...allowed, 'own-address' as const])
    : new Set([...allowed].filter((allowance) => allowance !== 'unix' && allowance !== 'loopback'));

/** The columns of a host that its client depends on. */
type ConnectedHost = Pick<Host, 'id' | 'engine' | 'endpoint' | 'sealed' | 'by_admin'>;

export type HostClients = Clients<ConnectedHost, DockerClient>;

export const createHostClients = (options: ClientOptions, timing?: DockerTimings): HostClients =>
  cacheClients({
    keyOf: ({ engine, endpoint, sealed, by_admin }) => [engine, endpoint, sealed, by_admin],
    connect: async (host) => connectDocker(await hostAddress(host, options), timing),
  });

const hostCredentials = z.object({
  address: z.string(),
  ca_certificate: z.string(),
  certificate: z.string(),
  key: z.string(),
});

/**
 * The address of a host with its credentials. Credentials are sent only to the address that they
 * were sealed with.
 */
async function hostAddress(host: ConnectedHost, { sealer, allowed }: ClientOptions): Promise<HostAddress> {
  const { engine, endpoint, id, sealed } = host;
  const restrictTo = allowanceFor(host, allowed);
  if (sealed === null) return { engine, endpoint, credentials: null, restrictTo };
  const opened = hostCredentials.parse(JSON.parse(await sealer.open(hostCredentialsLocation(id), sealed)));
  if (opened.address !== endpoint) throw new Error('the credentials of the host are for another endpoint');
  return { engine, endpoint, credentials: opened, restrictTo };
}

/** The columns of a cluster that its client depends on. */
type ConnectedCluster = Pick<
  Cluster,
  | 'id'
  | 'server'
  | 'ca_certificate'
  | 'sealed'
  | 'namespace'
  | 'gpu_resource_name'
  | 'by_admin'
  | 'disruption_budgets'
  | 'network_policies'
>;

export type ClusterClients = Clients<ConnectedCluster, KubernetesClient>;

export const createClusterClients = (options: ClientOptions, timing?: KubernetesTimings): ClusterClients =>
  cacheClients({
    keyOf: (row) => [
      row.server,
      row.ca_certificate,
      row.sealed,
      row.namespace,
      row.gpu_resource_name,
      row.by_admin,
      row.disruption_budgets,
      row.network_policies,
    ],
    connect: async (cluster) => connectKubernetes(await clusterAddress(cluster, options), timing),
  });

const address = { address: z.string() };
const clusterCredentials = z.discriminatedUnion('kind', [
  z.object({ ...address, kind: z.literal('token'), token: z.string() }),
  z.object({ ...address, kind: z.literal('client_certificate'), certificate: z.string(), key: z.string() }),
]);

/**
 * The address of a cluster with its credentials. Credentials are sent only to the server that they
 * were sealed with.
 */
async function clusterAddress(cluster: ConnectedCluster, { sealer, allowed }: ClientOptions): Promise<ClusterAddress> {
  const { id, server, ca_certificate, namespace, gpu_resource_name, disruption_budgets, network_policies, sealed } =
    cluster;
  const auth = clusterCredentials.parse(JSON.parse(await sealer.open(clusterCredentialsLocation(id), sealed)));
  if (auth.address !== server) throw new Error('the credentials of the cluster are for another server');
  const has_disruption_budgets = disruption_budgets !== null;
  const restrictTo = allowanceFor(cluster, allowed);
  const has = { has_disruption_budgets, has_network_policies: network_policies };
  return { server, ca_certificate, namespace, gpu_resource_name, ...has, auth, restrictTo };
}
