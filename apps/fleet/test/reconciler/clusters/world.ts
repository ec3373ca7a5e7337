import { eventually } from '@svc/testing';
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../engines/kubernetes/api-server.ts';
import { startFakeHub } from '../../fake-hub.ts';
import { startWorld } from '../../world.ts';
import { type Body, deploymentHelpers } from '../deployment-helpers.ts';

/** A workload with a variable, a secret, a port and a volume. */
export const WEB = {
  registry_url: 'registry.example.test',
  image_name: 'team/web',
  image_tag: '1',
  env: [{ name: 'GREETING', value: 'hello' }],
  secret_refs: [{ name: 'pass', env: 'PASSWORD' }],
  ports: [{ containerPort: 8080, protocol: 'TCP' }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
};

/** A workload with only an image. */
export const PLAIN = { image_name: 'team/plain', image_tag: '1' };

/** A node as a cluster lists it. */
export const aNode = (name: string, { spec = {}, labels = {}, ready = 'True', ...given }: NodeGiven = {}) => ({
  metadata: { name, labels: { 'kubernetes.io/arch': 'amd64', ...labels } },
  spec,
  status: {
    capacity: { cpu: '8', memory: '32Gi', 'nvidia.com/gpu': '2', ...given.capacity },
    allocatable: { cpu: '7800m', memory: '30Gi', 'nvidia.com/gpu': '2', ...given.allocatable },
    conditions: [{ type: 'Ready', status: ready }],
    nodeInfo: { architecture: 'amd64', kubeletVersion: 'v1.31.2' },
  },
});

interface NodeGiven {
  readonly spec?: object;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ready?: 'True' | 'False';
  readonly capacity?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
}

/** A fleet that reconciles, a hub, and a fake API server with one node. */
async function startClusterWorld(options: ApiServerOptions = {}) {
  const server = await startApiServer(options);
  server.put('nodes', aNode('node-1'));
  const hub = await startFakeHub();
  const world = await startWorld({ hub, outboundAllow: new Set(['http', 'loopback']) });
  const { engineRuntime } = world.services;
  engineRuntime.start();
  const api = world.asAdmin;
  const words = deploymentHelpers(world);
  const { good } = words;
  const aCluster = async (given: Body = {}) => {
    const auth = { kind: 'token', token: server.token };
    const body = { name: 'lab', server: server.url, ca_certificate: server.ca, auth, ...given };
    return (await good(api.post('/api/v1/clusters', body))).cluster;
  };
  const cluster = async (id: string) => (await good(api.get(`/api/v1/clusters/${id}`))).cluster;
  const checked = async (id: string) => (await good(api.post(`/api/v1/clusters/${id}/check`))).cluster;
  const clusterIs = (id: string, reachability: string) =>
    eventually(`the cluster is ${reachability}`, async () => {
      const row = await world.database.client.cluster.findUniqueOrThrow({ where: { id } });
      return row.reachability === reachability && cluster(id);
    });
  return {
    ...world,
    ...words,
    hub,
    api,
    engineRuntime,
    server,
    aCluster,
    cluster,
    checked,
    clusterIs,
    /** Makes a deployment due. */
    reconcileNow: (id: string) =>
      world.database.client.deployment.update({ where: { id }, data: { due_at: new Date() } }),
    stop: async () => {
      await engineRuntime.stop();
      await world.stop();
      await hub.stop();
      await server.stop();
    },
  };
}

export type ClusterWorld = Awaited<ReturnType<typeof startClusterWorld>>;

/**
 * Starts a world before the tests of a describe block, with its cluster registered and online, and
 * stops it after them.
 */
export function aClusterWorld(): () => ClusterWorld & { readonly clusterId: string } {
  let world: ClusterWorld & { readonly clusterId: string };
  beforeAll(async () => {
    const started = await startClusterWorld();
    await started.good(started.api.post('/api/v1/secrets', { name: 'pass', values: { PASSWORD: 'geheim' } }));
    const { id } = await started.aCluster();
    await started.clusterIs(id, 'online');
    world = { ...started, clusterId: id };
  });
  afterAll(() => world?.stop());
  return () => world;
}

/** All objects of a server that belong to a deployment, as `kind/name`. */
export const ownedBy = (server: ApiServer, id: string): string[] =>
  ['deployments', 'replicasets', 'jobs', 'pods', 'services', 'secrets', 'persistentvolumeclaims']
    .flatMap((resource) =>
      server
        .objects(resource)
        .filter(({ metadata }) => metadata.labels?.['fleet/deployment'] === id)
        .map(({ metadata }) => `${resource}/${metadata.name}`),
    )
    .sort();
