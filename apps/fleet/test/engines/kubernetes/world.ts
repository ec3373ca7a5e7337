import { randomUUID } from 'node:crypto';
import type { WorkloadSpec } from '@svc/contract/fleet';
import {
  type ClusterAddress,
  connectKubernetes,
  type KubernetesClient,
  type KubernetesTimings,
} from '../../../src/engines/kubernetes/client.ts';
import type { DesiredObjects, RunningObjects } from '../../../src/engines/kubernetes/objects.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import type { Observation } from '../../../src/engines/observation.ts';
import { type KubernetesManifest, renderKubernetes } from '../../../src/render/kubernetes.ts';
import type { Cluster } from '../../../src/render/pod.ts';
import type { Rendering } from '../../../src/render/rendering.ts';
import { aCluster, aRendering, aSpec, aVolume } from '../../render/renderings.ts';
import { type ApiServer, type ApiServerOptions, addressOf, startApiServer } from './api-server.ts';

/** Functions that run after each test. */
export const ending: (() => Promise<void>)[] = [];

/** For afterEach: stops all servers and clients. */
export async function endAll(): Promise<void> {
  await Promise.all(ending.splice(0).map((end) => end()));
}

/** A fake API server with an empty cluster. */
export async function anApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = await startApiServer(options);
  ending.push(server.stop);
  return server;
}

/** A client with the timeouts of production, unless a test gives others. */
export function clientOf(
  server: ApiServer,
  given: Partial<ClusterAddress> = {},
  timing: Partial<KubernetesTimings> = {},
): KubernetesClient {
  const client = connectKubernetes(addressOf(server, given), { dryRun: 60_000, ...timing });
  ending.push(client.close);
  return client;
}

type Given = Partial<Omit<Rendering<'values'>, 'spec'>>;

/** A deployment with its own id. `manifest` renders it with changes. */
export function aDeployment(spec: Partial<WorkloadSpec> = {}, first: Given = {}, cluster: Partial<Cluster> = {}) {
  const id = randomUUID();
  const name = `web-${id.slice(-8)}`;
  const volumes = (spec.volume_mounts ?? []).map(({ name: mount }) =>
    aVolume({ mount, name: mount, id: randomUUID() }),
  );
  const manifest = (given: Given = {}, changed: Partial<WorkloadSpec> = {}): KubernetesManifest<'values'> =>
    renderKubernetes(
      aRendering(aSpec({ ...spec, ...changed }), { id, volumes, ...first, ...given }),
      aCluster(cluster),
    );
  const fence = (generation = 7) => ({ deploymentId: id, generation });
  return { id, name, manifest, fence, volumes: volumes.map((volume) => `${volume.name}-${volume.id.slice(-8)}`) };
}

/** The manifest with changes in the spec of its objects of a kind. */
export const altered = (
  manifest: KubernetesManifest<'values'>,
  kind: string,
  spec: object,
): KubernetesManifest<'values'> => ({
  ...manifest,
  objects: manifest.objects.map((object) =>
    object.kind === kind && 'spec' in object
      ? ({ ...object, spec: { ...object.spec, ...spec } } as typeof object)
      : object,
  ),
});

/** The desired state of a running deployment with the manifest. */
export const running = (
  manifest: KubernetesManifest<'values'>,
  more: Partial<RunningObjects> = {},
): RunningObjects => ({
  kind: 'running',
  manifest,
  ...more,
});

interface To {
  readonly wanted: DesiredObjects;
  readonly fence: Parameters<typeof reconcile>[2];
  readonly phase: Observation['phase'];
}

const MAX_RECONCILIATIONS = 12;

/**
 * Reconciles until the deployment is in a phase and nothing changes soon. @returns the last
 * observation, with the actions of all reconciliations
 */
export async function reconcileTo(client: KubernetesClient, { wanted, fence, phase }: To): Promise<Observation> {
  const actions: string[] = [];
  for (let left = MAX_RECONCILIATIONS; ; left -= 1) {
    const observed = await reconcile(client, wanted, fence);
    actions.push(...observed.actions);
    if (observed.phase === phase && observed.next !== 'soon') return { ...observed, actions };
    if (left === 0) throw new Error(`the expected state was not reached: ${JSON.stringify(observed)}`);
  }
}
