import { z } from 'zod';
import { placeOfCredentials } from '../clusters/credentials.ts';
import type { ClusterAddress, Timing } from '../engines/kubernetes/address.ts';
import { connect } from '../engines/kubernetes/client.ts';
import type { Client } from '../engines/kubernetes/cluster-client.ts';
import type { Cluster } from '../generated/prisma/client.ts';
import { allowanceFor, type ClientOptions, type Clients, keepClients } from './clients.ts';

export type ClusterClients = Clients<Cluster, Client>;

export const createClusterClients = (options: ClientOptions, timing?: Timing): ClusterClients =>
  keepClients({
    keyOf: (row) => [row.server, row.ca_certificate, row.sealed, row.namespace, row.gpu_resource_name, row.by_admin],
    connect: async (cluster) => connect(await addressOf(cluster, options), timing),
  });

const address = { address: z.string() };
const sealedShape = z.discriminatedUnion('kind', [
  z.object({ ...address, kind: z.literal('token'), token: z.string() }),
  z.object({ ...address, kind: z.literal('client_certificate'), certificate: z.string(), key: z.string() }),
]);

/** What was sealed for a server goes to that server only. */
async function addressOf(cluster: Cluster, { sealer, allowed }: ClientOptions): Promise<ClusterAddress> {
  const { id, server, ca_certificate, namespace, gpu_resource_name, sealed } = cluster;
  const auth = sealedShape.parse(JSON.parse(await sealer.open(placeOfCredentials(id), sealed)));
  if (auth.address !== server) throw new Error('the credentials of a cluster are for another server');
  return { server, ca_certificate, namespace, gpu_resource_name, auth, restrictTo: allowanceFor(cluster, allowed) };
}
