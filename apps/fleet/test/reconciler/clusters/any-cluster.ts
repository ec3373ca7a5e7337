import { randomBytes } from 'node:crypto';
import type { Template } from '@svc/contract';
import {
  type ClusterAddress,
  connectKubernetes,
  type KubernetesClient,
} from '../../../src/engines/kubernetes/client.ts';
import { addressOf, startApiServer } from '../../engines/kubernetes/api-server.ts';
import { startFakeHub } from '../../fake-hub.ts';
import { startWorld } from '../../world.ts';
import { type Body, deploymentHelpers } from '../deployment-helpers.ts';

/** A cluster for tests that run against the simulated API server and against a real one. */
export interface AnyCluster {
  readonly address: ClusterAddress;
  /** With the permissions of an administrator. */
  readonly client: KubernetesClient;
  readonly stop: () => Promise<void>;
}

/** The simulated API server, with a scheduler. Its namespaces are created by the tests. */
export async function aSimulatedCluster(namespace: string): Promise<AnyCluster> {
  const server = await startApiServer({ namespaces: [] });
  server.controls.schedules = true;
  const address = addressOf(server, { namespace });
  const client = connectKubernetes(address);
  return {
    address,
    client,
    stop: async () => {
      await client.close();
      await server.stop();
    },
  };
}

/** The cluster of a kubeconfig. The namespace is deleted at the end. */
export function aRealCluster(
  { server, ca_certificate, auth }: Pick<ClusterAddress, 'server' | 'ca_certificate' | 'auth'>,
  namespace: string,
): AnyCluster {
  const address = { server, ca_certificate, auth, namespace, gpu_resource_name: 'nvidia.com/gpu' };
  const client = connectKubernetes(address);
  return {
    address,
    client,
    stop: async () => {
      const { core } = await client.apis();
      await core.deleteNamespace({ name: namespace });
      await client.close();
    },
  };
}

/** A namespace that no other test uses. */
export const aNamespace = (): string => `fleet-test-${randomBytes(4).toString('hex')}`;

/**
 * A fleet that reconciles, and a hub with the templates. The cluster is registered with the given
 * members, and checked.
 */
export async function startFleetOn(cluster: AnyCluster, templates: readonly Template[], given: Body = {}) {
  const hub = await startFakeHub();
  hub.changeOrganization({ tier: 'enterprise' });
  hub.publish(...templates);
  const world = await startWorld({ hub, outboundAllow: new Set(['http', 'loopback', 'private']) });
  await world.sync.run();
  const { engineRuntime } = world.services;
  engineRuntime.start();
  const helpers = deploymentHelpers(world);
  const { good } = helpers;
  const { server, ca_certificate, auth, namespace } = cluster.address;
  const body = { name: 'any', server, ca_certificate, auth, namespace, network_types: ['mesh', 'public'], ...given };
  const { id: clusterId } = (await good(world.asAdmin.post('/api/v1/clusters', body))).cluster;
  const checked = async () => (await good(world.asAdmin.post(`/api/v1/clusters/${clusterId}/check`))).cluster;
  await checked();
  return {
    ...world,
    ...helpers,
    api: world.asAdmin,
    clusterId,
    checked,
    plan: async (request: Body) => good(world.asAdmin.post('/api/v1/deployments/plan', request)),
    deploy: async (request: Body) => (await good(world.asAdmin.post('/api/v1/deployments', request))).deployment,
    stop: async () => {
      await engineRuntime.stop();
      await world.stop();
      await hub.stop();
    },
  };
}
