import type { OutboundAllowance } from '@svc/http';
import { z } from 'zod';
import { connectDocker, type DockerClient, type DockerTimings, type HostAddress } from '../engines/docker/client.ts';
import {
  type ClusterAddress,
  connectKubernetes,
  type KubernetesClient,
  type KubernetesTimings,
} from '../engines/kubernetes/client.ts';
import type { Cluster, Host } from '../generated/prisma/client.ts';
import { clusterCredentialsPlace } from '../resources/clusters.ts';
import { hostCredentialsPlace } from '../resources/hosts.ts';
import type { Sealer } from '../sealing.ts';

/** Clients for what deployments run on; kept from call to call, and for a while after the last. */
export interface Clients<Row, Client> {
  /** @throws where its credentials do not open */
  of(row: Row): Promise<Client>;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly sealer: Sealer;
  /** What addresses may be besides public: `OUTBOUND_ALLOW`. */
  readonly allowed: ReadonlySet<OutboundAllowance>;
}

/** What is there is asked far more often; what nobody asks any more was deleted. */
const IDLE_MS = 600_000;

interface Connecting<Row, Client> {
  /** All that a client is made of: one with another key is another client. */
  keyOf(row: Row): readonly unknown[];
  connect(row: Row): Promise<Client>;
}

interface Known<Client> {
  readonly key: string;
  readonly client: Client;
  readonly usedAt: number;
}

function keepClients<Row extends { readonly id: string }, Client extends { close(): Promise<void> }>({
  keyOf,
  connect,
}: Connecting<Row, Client>): Clients<Row, Client> {
  const known = new Map<string, Known<Client>>();
  const forget = async (id: string, { client }: Known<Client>) => {
    known.delete(id);
    await client.close();
  };
  return {
    of: async (row) => {
      const usedAt = Date.now();
      const key = JSON.stringify(keyOf(row));
      const present = known.get(row.id);
      const client = present?.key === key ? present.client : await connect(row);
      known.set(row.id, { key, client, usedAt });
      if (present && present.client !== client) await present.client.close();
      const idle = [...known].filter(([, other]) => usedAt - other.usedAt > IDLE_MS);
      await Promise.all(idle.map(([id, other]) => forget(id, other)));
      return client;
    },
    close: async () => {
      await Promise.all([...known.values()].map(({ client }) => client.close()));
    },
  };
}

/** What may be called for a row: what no admin registered is never on this machine. */
const allowanceFor = (
  { by_admin }: { readonly by_admin: boolean },
  allowed: ClientOptions['allowed'],
): ClientOptions['allowed'] =>
  by_admin ? allowed : new Set([...allowed].filter((each) => each !== 'unix' && each !== 'loopback'));

export type HostClients = Clients<Host, DockerClient>;

export const createHostClients = (options: ClientOptions, timing?: DockerTimings): HostClients =>
  keepClients({
    keyOf: ({ engine, endpoint, sealed, by_admin }) => [engine, endpoint, sealed, by_admin],
    connect: async (host) => connectDocker(await hostAddress(host, options), timing),
  });

const hostCredentials = z.object({
  address: z.string(),
  ca_certificate: z.string(),
  certificate: z.string(),
  key: z.string(),
});

/** What was sealed for an address goes to that address only. */
async function hostAddress(host: Host, { sealer, allowed }: ClientOptions): Promise<HostAddress> {
  const { engine, endpoint, id, sealed } = host;
  const restrictTo = allowanceFor(host, allowed);
  if (sealed === null) return { engine, endpoint, credentials: null, restrictTo };
  const opened = hostCredentials.parse(JSON.parse(await sealer.open(hostCredentialsPlace(id), sealed)));
  if (opened.address !== endpoint) throw new Error('the credentials of a host are for another endpoint');
  return { engine, endpoint, credentials: opened, restrictTo };
}

export type ClusterClients = Clients<Cluster, KubernetesClient>;

export const createClusterClients = (options: ClientOptions, timing?: KubernetesTimings): ClusterClients =>
  keepClients({
    keyOf: (row) => [row.server, row.ca_certificate, row.sealed, row.namespace, row.gpu_resource_name, row.by_admin],
    connect: async (cluster) => connectKubernetes(await clusterAddress(cluster, options), timing),
  });

const address = { address: z.string() };
const clusterCredentials = z.discriminatedUnion('kind', [
  z.object({ ...address, kind: z.literal('token'), token: z.string() }),
  z.object({ ...address, kind: z.literal('client_certificate'), certificate: z.string(), key: z.string() }),
]);

/** What was sealed for a server goes to that server only. */
async function clusterAddress(cluster: Cluster, { sealer, allowed }: ClientOptions): Promise<ClusterAddress> {
  const { id, server, ca_certificate, namespace, gpu_resource_name, sealed } = cluster;
  const auth = clusterCredentials.parse(JSON.parse(await sealer.open(clusterCredentialsPlace(id), sealed)));
  if (auth.address !== server) throw new Error('the credentials of a cluster are for another server');
  return { server, ca_certificate, namespace, gpu_resource_name, auth, restrictTo: allowanceFor(cluster, allowed) };
}
